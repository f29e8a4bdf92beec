"""Queries of models over sets of strings: what databases find is what Python predicts."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.databases import SQLite
from tests.export.sql_scores import scored
from tests.random_models import examples, randomise

import clearset as cs
from clearset.functions import Support

QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
EVERY = ["log_odds", "count", "size", "interval", "entropy", "lift", "whole", "items", "tokens"]
FORMS = {
    "number": (cs.SemanticRegressor, "number", {"tokens": cs.Items(), "refine": True}),
    "counts": (cs.SemanticFeatureEngine, "counts", {"tokens": cs.Items(), "loss": "poisson", "refine": False}),
    "two": (cs.SemanticClassifier, "two", {"tokens": cs.Items(), "features": EVERY, "refine": False, "width": 2}),
    "three": (cs.SemanticClassifier, "three", {"tokens": cs.Items(), "features": ["log_odds"], "refine": True}),
    "shares": (cs.SemanticClassifier, "three", {"tokens": cs.Items(), "loss": "binary_log_loss", "refine": False}),
    "subsets": (cs.SemanticClassifier, "two", {"tokens": cs.Subsets(2), "cover": False, "features": EVERY}),
    "cover": (cs.SemanticClassifier, "three", {"tokens": cs.Subsets(3), "cover": True, "width": 2}),
}


@pytest.fixture(scope="module")
def models():
    rng, made = np.random.default_rng(0), {}
    X = examples(rng, 150)
    labels = {
        "number": rng.normal(size=150),
        "counts": rng.poisson(3.0, 150),
        "two": rng.choice(["no", "it's"], 150),
        "three": rng.choice(["a", "b", "c"], 150),
    }
    for name, (kind, y, options) in FORMS.items():
        model = kind(filters=[cs.MinCount(2)], **options, **QUICK).fit(X, labels[y])
        randomise(model, rng)
        fitted, support = model.as_model(), model.as_model().support
        moved = Support(rng.uniform(-0.3, 0.3, support.base.shape), 3, support.counts, 0.5)
        made[name] = replace(fitted, function=replace(fitted.function, support=moved))
    return made


def fill(database, X):
    database.script("DROP TABLE IF EXISTS clearset_scores; DROP TABLE IF EXISTS clearset_tokens;")
    rows = [(place, item) for place, row in enumerate(X) for item in row]
    keys, items = zip(*rows, strict=True) if rows else ([], [])
    database.fill("tokens", {"set": ("INTEGER", keys), "item": ("TEXT", items)})
    database.fill("sets", {"set": ("INTEGER", list(range(len(X))))})


@pytest.mark.parametrize("form", FORMS)
def test_estimates_are_those_of_python(database, models, form):
    model, rng = models[form], np.random.default_rng(1)
    X = [*examples(rng, 60), [], ["unknown"], ["item a", "item a"], ["item a"], ["item a", "unknown"]]
    fill(database, X)
    found = scored(database, model.to_sql(database.name, sets="sets"), model, len(X))
    expected = model.link.estimates(model.read(X).outputs())
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_items_are_only_read(database):
    rng = np.random.default_rng(2)
    items = [
        "it's",
        'a "quote"',
        "'; DROP TABLE tokens; --",
        "back\\slash \\'",
        "new\nline",
        "ünï 日本",
        "İ",
        "a",
        "A",
        " a",
    ]
    X = [rng.choice(items, 3, replace=False).tolist() for _ in range(60)]
    model = cs.SemanticRegressor(tokens=cs.Subsets(2), filters=[cs.MinCount(1)], **QUICK).fit(X, rng.normal(size=60))
    randomise(model, rng)
    database.script('DROP TABLE IF EXISTS "it""s scores"; DROP TABLE IF EXISTS "it""s tokens";')
    rows = [(place, item) for place, row in enumerate(X) for item in row]
    keys, words = zip(*rows, strict=True)
    database.fill('"to ""kens"', {"the 'key'": ("INTEGER", keys), 'a "word"': ("TEXT", words)})
    names = {"table": 'to "kens', "key": "the 'key'", "columns": {"item": 'a "word"'}, "prefix": 'it"s '}
    found = scored(database, model.to_sql(database.name, **names), model, 60)
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-9)


def test_letters_are_told_apart_whatever_the_collation(models):
    database = SQLite()
    fill(database, [])
    database.script('DROP TABLE tokens; CREATE TABLE tokens ("set" INTEGER, item TEXT COLLATE NOCASE);')
    database.script("INSERT INTO tokens VALUES (0, 'ITEM A'), (0, 'item b'), (0, 'Item b'), (1, 'item a'), (2, NULL)")
    model, X = models["two"], [["ITEM A", "item b", "Item b"], ["item a"], []]
    found = scored(database, model.to_sql("sqlite"), model, 3)
    np.testing.assert_allclose(found, model.link.estimates(model.read(X).outputs()), rtol=1e-9)


def test_edited_models(models):
    editor = models["number"].edit()
    editor.drop_token("item a")
    editor.pin_token("item b", 7.0)
    X = [["item a", "item b"], ["item a"], ["item b"], ["item c", "item b"]]
    database = SQLite()
    fill(database, X)
    found = scored(database, editor.model.to_sql("sqlite", sets="sets"), editor.model, 4)
    np.testing.assert_allclose(found[:, 0], editor.model.predict(X), rtol=1e-9)
    assert (editor.model.predict(X) != models["number"].predict(X)).all()


def test_a_model_without_tokens(database):
    model = cs.SemanticRegressor(tokens=cs.Items(), filters=[cs.MinCount(99)], **QUICK)
    with pytest.warns(UserWarning, match="No token passed"):
        model.fit([["a"], ["b"]] * 10, [1.0, 2.0] * 10)
    fill(database, [["a"], []])
    found = scored(database, model.to_sql(database.name, sets="sets"), model, 2)
    np.testing.assert_allclose(found[:, 0], model.predict([["a"], []]), rtol=1e-9)


def test_tables_are_made_once_and_never_replaced(database, models):
    fill(database, [["item a"]])
    sql = models["number"].to_sql(database.name)
    database.script(sql.setup)
    with pytest.raises(Exception, match="exist"):
        database.script(sql.setup)


def test_setup_and_query_are_two_files(tmp_path, models):
    files = models["number"].to_sql("sqlite").write(tmp_path / "model.sql")
    assert [file.name for file in files] == ["model.setup.sql", "model.sql"]
    database = SQLite()
    fill(database, [["item a"]])
    database.script(files[0].read_text())
    assert len(database.rows(files[1].read_text())) == 1


def test_what_is_refused():
    X, y = ["a b", "b c"] * 10, [1.0, 2.0] * 10
    model = cs.SemanticRegressor(tokens=cs.NGrams(2), **QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"NGrams.*Items\(\) or Subsets\(\)"):
        model.to_sql("duckdb")
    frame = pa.table({"cast": [["a"], ["b", "c"]] * 10, "pay": [[1.0], [2.0, 3.0]] * 10})
    options = {"details": ["pay"], "features": ["mean_label", "pay"]}
    model = cs.SemanticRegressor(tokens=cs.Items(), **options, refine=False, **QUICK).fit(frame, y)
    with pytest.raises(ValueError, match=r"'pay'.*without details"):
        model.to_sql("duckdb")
    model = cs.SemanticRegressor(tokens=cs.Items(), **QUICK).fit([["a"], ["b"]] * 10, y)
    with pytest.raises(ValueError, match="columns names 'word'"):
        model.to_sql("duckdb", columns={"word": "x"})
