"""Headers in C: they compile without a warning, and score as Python does."""

import math
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.random_models import randomise, sets

import clearset as cs
from clearset.functions import Support

COMPILER = shutil.which("gcc") or shutil.which("clang")
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
HOSTILE = ["NAME", 'a "quote"', "back\\slash", "new\nline", "*/ ??/ //", "ünï 日本", "a1", ""]
STORE = cs.Feature("store", kind="categorical")
EVERY = ["stars", cs.Feature("words", lattice_size=4), STORE, "price", cs.SIZE]
PLACES = [cs.Feature(cs.PLACE, lattice_size=3), "stars", cs.PLACE_FROM_START]
RNG = np.random.default_rng(0)
TWO, THREE = RNG.choice(["n", "it's"], 60), RNG.choice(["a", "b", "c"], 60)
FORMS = {
    "number": (cs.SetRegressor, EVERY, 1, RNG.normal(size=60), {}),
    "counts": (cs.SetRegressor, [STORE, cs.SIZE], 1, RNG.poisson(3.0, 60), {"loss": "poisson"}),
    "places": (cs.SetRegressor, PLACES, 1, RNG.normal(size=60), {}),
    "two": (cs.SetClassifier, EVERY, 3, TWO, {}),
    "three": (cs.SetClassifier, EVERY, 2, THREE, {"lattices": "ensemble"}),
    "margins": (cs.SetClassifier, ["words", "price"], 1, THREE, {"loss": "hinge"}),
}
pytestmark = pytest.mark.skipif(COMPILER is None, reason="There is no C compiler on this machine.")


def literal(text):
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def run(model, X, folder, options=()):
    """Write a header, and a program that scores the sets with it; return what it prints."""
    model.to_c(folder / "model.h", "sales")
    features = [feature.name for feature in model.binning.features]
    lists = [name for name in features if name in X.column_names and pa.types.is_list(X[name].type)]
    plain = [name for name in features if name in X.column_names and name not in lists]

    def value(name, each):
        if each is None:
            return "NAN"
        return f"sales_category({features.index(name)}, {literal(each)})" if isinstance(each, str) else repr(each)

    calls = []
    for row in X.to_pylist():
        tokens = [value(name, row[name][t]) for t in range(len(row[lists[0]] if lists else [])) for name in lists]
        of_set = [value(name, row[name]) for name in plain]
        arrays = (f"double {name}[] = {{{', '.join(each) or '0'}}};" for name, each in (("x", tokens), ("s", of_set)))
        n = len(tokens) // max(len(lists), 1)
        calls.append(f"{{ {' '.join(arrays)} sales_score(x, {n}, s, out); show(out); }}")
    (folder / "main.c").write_text(
        '#include <stdio.h>\n#include "model.h"\n'
        "static void show(const double *out) {\n  int f;\n"
        '  for (f = 0; f < sales_OUTPUTS; ++f) printf("%.17g ", out[f]);\n  puts("");\n}\n'
        f"int main(void) {{\n  double out[sales_OUTPUTS];\n  {chr(10).join(calls)}\n  return 0;\n}}\n"
    )
    command = [COMPILER, *STRICT, *options, "main.c", "-o", "main", "-lm"]
    subprocess.run(command, check=True, cwd=folder)  # noqa: S603
    done = subprocess.run([folder / "main"], check=True, capture_output=True, text=True)  # noqa: S603
    return np.array([[float(each) for each in line.split()] for line in done.stdout.splitlines()])


def estimates(model, X):
    return model.link.estimates(model.read(X).outputs())


@pytest.mark.parametrize("form", FORMS)
def test_scores_are_those_of_python(form, tmp_path):
    kind, features, width, y, options = FORMS[form]
    rng = np.random.default_rng(1)
    fitted = kind(features, width, **options, **QUICK).fit(sets(rng, 60), y)
    randomise(fitted, rng)
    model = fitted.as_model()
    support = Support(rng.uniform(-0.3, 0.3, model.support.base.shape), 4, model.support.counts, 0.4)
    model = replace(model, function=replace(model.function, support=support))
    X = sets(rng, 200)
    sanitized = (
        ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        if form in ("two", "three", "places")
        else []
    )
    np.testing.assert_allclose(run(model, X, tmp_path, sanitized), estimates(model, X), rtol=1e-9, atol=1e-12)


def test_texts_are_only_read(tmp_path):
    rng = np.random.default_rng(2)
    X = pa.table({"*/ ??/ NAME": [rng.choice(HOSTILE, 2).tolist() for _ in range(40)]})
    declared = [cs.Feature("*/ ??/ NAME", kind="categorical")]
    model = cs.SetClassifier(declared, **QUICK).fit(X, rng.choice(HOSTILE[:3], 40))
    randomise(model, rng)
    model = model.as_model()
    asked = pa.table({"*/ ??/ NAME": [*([each] for each in HOSTILE), ["never seen", None], [], ["NAMES"]]})
    np.testing.assert_allclose(run(model, asked, tmp_path), estimates(model, asked), rtol=1e-9)


def test_numbers_as_categories_and_rows_of_a_plain_table(tmp_path):
    rng = np.random.default_rng(3)
    table = pa.table({"aisle": [[1], [2, 2], [5]] * 9, "price": [1.0, 2.0, math.nan] * 9})
    features = [cs.Feature("aisle", kind="categorical"), "price"]
    model = cs.SetRegressor(features, **QUICK).fit(table, rng.normal(size=27))
    randomise(model, rng)
    asked = pa.table({"aisle": [[1], [2, 7], [None], []], "price": [1.5, None, 9.0, 2.0]})
    model = model.as_model()
    np.testing.assert_allclose(run(model, asked, tmp_path), estimates(model, asked), rtol=1e-9)
    plain = cs.SetRegressor(["price"], **QUICK).fit(table.select(["price"]), rng.normal(size=27)).as_model()
    plain = replace(plain, link=replace(plain.link, nothing=np.array([7.0])))
    as_lists = pa.table({"price": [[1.5], [None]]})
    found = run(plain, as_lists, tmp_path)
    np.testing.assert_allclose(found, estimates(plain, pa.table({"price": [1.5, None]})), rtol=1e-9)
    assert found[1] == 7.0


@pytest.mark.parametrize("name", ["while", "1st", "a-b", "", 'x"'])
def test_names_that_are_none_in_c(name, tmp_path):
    model = cs.SetRegressor(["stars"], **QUICK).fit(pa.table({"stars": [[1.0], [2.0]] * 9}), np.arange(18.0))
    with pytest.raises(ValueError, match=re.escape(f"name={name!r}")):
        model.to_c(tmp_path / "model.h", name)
    assert not list(tmp_path.iterdir())


def test_models_over_strings_are_refused(tmp_path):
    model = cs.SemanticRegressor(tokens=cs.Items(), **QUICK).fit([["a"], ["b"]] * 10, [1.0, 2.0] * 10)
    with pytest.raises(ValueError, match="not written as C"):
        model.to_c(tmp_path / "model.h")
