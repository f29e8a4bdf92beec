# make demo and make test set everything up themselves: a virtual environment in .venv with the versions of constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard native/*)

.PHONY: demo test lint types unit bench clean

demo: $(VENV)/.installed
	$(BIN)/clearset demo

test: lint types unit

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.installed-dev
	$(BIN)/mypy

unit: $(VENV)/.installed-dev
	@command -v chromium > /dev/null || echo 'There is no chromium on this machine: tests of the report in a browser are skipped.'
	$(BIN)/pytest -n 2

bench: $(VENV)/.installed-dev
	$(BIN)/pip install --quiet --editable '.[dev,bench]'
	for name in phi reading monotone aggregations seeds crossed table transform promises defaults explorer; do $(BIN)/python -m benchmarks.$$name || exit 1; done

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit("clearset needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.created $(SOURCES)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.created $(SOURCES)
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache
