"""Queries of models over numbers and categories: what databases find is what Python predicts."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.databases import SQLite
from tests.export.sql_scores import scored
from tests.random_models import randomise, sets

import clearset as cs
from clearset.functions import Support
from clearset.sets import PLACES

QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
TYPES = {"stars": "REAL", "words": "DOUBLE PRECISION", "price": "DOUBLE PRECISION"}
HOSTILE = [
    'a "quoted" name',
    "it's; DROP TABLE tokens; --",
    "back\\slash ' \\' E''",
    "line\nbreak */ -- /*",
    "ünï 日本",
]


@pytest.fixture(scope="module")
def models():
    rng, store = np.random.default_rng(0), cs.Feature("store", kind="categorical")
    training, every = sets(rng, 60), ["stars", cs.Feature("words", lattice_size=3), store, "price", cs.SIZE]
    two, three = rng.choice(["n", "y"], 60), rng.choice(["a", "b", "c"], 60)
    made = []
    for kind, features, width, y, options in (
        (cs.SetRegressor, every, 1, rng.normal(size=60), {}),
        (cs.SetRegressor, [store, cs.SIZE], 1, rng.poisson(3.0, 60), {"loss": "poisson"}),
        (
            cs.SetRegressor,
            ["stars", cs.Feature(cs.PLACE, lattice_size=3), cs.PLACE_FROM_START],
            1,
            rng.normal(size=60),
            {},
        ),
        (cs.SetClassifier, [cs.PLACE, store, "price"], 2, three, {}),
        (cs.SetClassifier, every, 3, two, {}),
        (cs.SetClassifier, ["stars"], 1, two, {"loss": "hinge"}),
        (cs.SetClassifier, every, 2, three, {"lattices": "ensemble"}),
        (cs.SetClassifier, ["words", "price"], 1, three, {"loss": "hinge"}),
    ):
        model = kind(features, width, **options, **QUICK).fit(training, y)
        randomise(model, rng)
        support = Support(rng.uniform(-0.3, 0.3, model.model_.support.base.shape), 4, model.model_.support.counts, 0.4)
        fitted = replace(model.model_, function=replace(model.model_.function, support=support))
        X = sets(rng, 40)
        made.append((fitted, X, fitted.link.estimates(fitted.read(X).outputs())))
    return made


def fill(database, table, key="set"):
    """Make a table of tokens, whose rows tell their order, and one of sets with the columns that are no lists."""
    lists = [name for name in table.column_names if pa.types.is_list(table[name].type)]
    first = table[lists[0]].to_pylist()
    rows = {key: ("INTEGER", [place for place, row in enumerate(first) for _ in row])}
    of_sets = {key: ("INTEGER", list(range(len(table))))}
    for name in table.column_names:
        values, kind = table[name].to_pylist(), TYPES.get(name, "TEXT")
        if name in lists:
            rows[name] = (kind, [value for row in values for value in row])
        else:
            of_sets[name] = (kind, values)
    days = [(-1.5) ** 3 + 2 * t for row in first for t in range(len(row))]
    mixed = np.random.default_rng(len(days)).permutation(len(days)).tolist()
    rows = {**rows, "day": ("DOUBLE PRECISION", days)}
    database.fill("tokens", {name: (kind, [values[n] for n in mixed]) for name, (kind, values) in rows.items()})
    database.fill("sets", of_sets)


def test_predictions_are_those_of_python(database, models):
    for model, X, expected in models:
        fill(database, X)
        ordered = any(feature.name in PLACES for feature in model.binning.features)
        sql = model.to_sql(database.name, sets="sets", order="day" if ordered else None)
        np.testing.assert_allclose(
            scored(database, sql, model, len(X)), expected, rtol=1e-9, atol=1e-9, err_msg=repr(model)
        )


def test_predicted_classes(database):
    rng = np.random.default_rng(1)
    X = sets(rng, 40)
    fill(database, X)
    for labels in (["no", "it's"] * 20, [3, 1, 2, 3] * 10, [True, False] * 20):
        model = cs.SetClassifier(["stars", "words"], **QUICK).fit(X, labels)
        randomise(model, rng)
        rows = database.rows(model.to_sql(database.name, sets="sets").query)
        several = len(set(labels)) > 2
        found = {int(row[0]): row[1] for row in rows if not several or row[-1] == 1}
        expected = dict(enumerate(model.predict(X).tolist()))
        truths = {"t": True, "f": False}
        assert {place: truths.get(label, label) for place, label in found.items()} == expected


def test_names_and_categories_are_only_read(database):
    rng = np.random.default_rng(2)
    key, *names = HOSTILE
    columns = {name: [[float(each) for each in rng.integers(0, 9, 2)] for _ in range(30)] for name in names[:3]}
    columns[names[3]] = [rng.choice(HOSTILE, 2).tolist() for _ in range(30)]
    X = pa.table(columns)
    declared = [*names[:3], cs.Feature(names[3], kind="categorical"), cs.SIZE]
    model = cs.SetClassifier(declared, **QUICK).fit(X, rng.choice(HOSTILE[:3], 30))
    randomise(model, rng)
    types = dict.fromkeys(names[:3], "REAL")
    rows = {name: (types.get(name, "TEXT"), [each for row in columns[name] for each in row]) for name in names}
    database.fill('"to ""kens"', {key: ("INTEGER", [place for place in range(30) for _ in range(2)]), **rows})
    found = scored(database, model.to_sql(database.name, table='to "kens', key=key), model, 30)
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-9)


def test_where_columns_stand(database):
    X = sets(np.random.default_rng(3), 50)
    model = cs.SetRegressor(["stars", "price", cs.SIZE], **QUICK).fit(X, np.arange(50.0))
    fill(database, X)
    expected = model.predict(X)[:, None]
    sql = model.to_sql(database.name, sets="sets", set_columns=["price"])
    np.testing.assert_allclose(scored(database, sql, model, 50), expected, rtol=1e-9)
    # With all columns in one table under other names; sets without tokens have no row, and rows without key no set.
    database.script("DROP TABLE IF EXISTS joined")
    database.script(
        'CREATE TABLE joined AS SELECT t."set" AS "number", t.stars AS "rating", s.price FROM tokens AS t '
        'JOIN sets AS s ON s."set" = t."set" UNION ALL SELECT NULL, 3, 4'
    )
    sql = model.to_sql(database.name, table="joined", key="number", columns={"stars": "rating"})
    found, empty = scored(database, sql, model, 50), np.array([not row for row in X["stars"].to_pylist()])
    assert np.isnan(found[empty]).all()
    np.testing.assert_allclose(found[~empty], expected[~empty], rtol=1e-9)


def test_not_a_number_is_missing(database):
    if database.name == "sqlite":
        pytest.skip("SQLite keeps NaN as NULL.")
    model = cs.SetRegressor(["stars"], **QUICK).fit(pa.table({"stars": [[1.0], [None], [3.0]] * 9}), np.arange(27.0))
    database.fill("tokens", {"set": ("INTEGER", [0, 1]), "stars": ("DOUBLE PRECISION", [math.nan, None])})
    found = scored(database, model.to_sql(database.name), model, 2)
    np.testing.assert_allclose(found[:, 0], model.predict(pa.table({"stars": [[None], [None]]})), rtol=1e-9)


def test_rows_of_a_plain_table_and_the_prior(database):
    rng = np.random.default_rng(4)
    table = {"age": [None, *rng.normal(40, 9, 60).tolist()], "job": [None, *rng.choice(["a", "b"], 60).tolist()]}
    declared = ["age", cs.Feature("job", kind="categorical")]
    model = cs.SetRegressor(declared, **QUICK).fit(pa.table(table), rng.normal(size=61)).as_model()
    model = replace(model, link=replace(model.link, nothing=np.array([7.0])))
    rows = {"age": ("DOUBLE PRECISION", table["age"]), "job": ("TEXT", table["job"])}
    database.fill("tokens", {"set": ("INTEGER", list(range(61))), **rows})
    found = scored(database, model.to_sql(database.name), model, 61)
    assert found[0] == 7.0
    np.testing.assert_allclose(found[:, 0], model.predict(pa.table(table)), rtol=1e-9)


def test_keypoints_at_the_ends_of_doubles():
    values = [[-1.7e308], [1.7e308], [0.0], [1e-308], [-1e-308], [3e-308]] * 5
    model = cs.SetRegressor([cs.Feature("x", keypoints=6)], **QUICK).fit(pa.table({"x": values}), np.arange(30.0))
    randomise(model, np.random.default_rng(5))
    database, asked = SQLite(), [-1.7e308, -1e308, -5e307, 0.0, 5e-309, 2e-308, 1e300, 1.2e308]
    database.fill("tokens", {"set": ("INTEGER", list(range(8))), "x": ("REAL", asked)})
    found = scored(database, model.to_sql("sqlite"), model, 8)
    np.testing.assert_allclose(found[:, 0], model.predict(pa.table({"x": [[each] for each in asked]})), rtol=1e-9)


def test_forbidden_features_need_no_column():
    X = sets(np.random.default_rng(6), 30)
    model = cs.SetRegressor(["stars", "words"], **QUICK).fit(X, np.arange(30.0))
    editor = model.edit()
    editor.forbid("words")
    database = SQLite()
    fill(database, X.select(["stars"]))
    found = scored(database, editor.model.to_sql("sqlite", sets="sets"), model, 30)
    np.testing.assert_allclose(found[:, 0], editor.model.predict(X), rtol=1e-9)


def test_files(tmp_path):
    model = cs.SetRegressor(["stars"], **QUICK).fit(pa.table({"stars": [[1.0], [2.0]] * 9}), np.arange(18.0))
    sql = model.to_sql("postgresql")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        sql.write(".")
    assert sql.write(tmp_path / "model.sql") == [tmp_path / "model.sql"]
    assert (tmp_path / "model.sql").read_text() == str(sql) == f"SET jit = off;\n{sql.query};\n"
    assert repr(sql).startswith("Sql('postgresql', ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dialect": "oracle"}, "one of 'duckdb', 'postgresql', 'sqlite'"),
        ({"columns": {"star": "x"}}, "columns names 'star'"),
        ({"sets": "s", "set_columns": ["nothing"]}, "set_columns names 'nothing'"),
        ({"set_columns": ["stars"]}, "Name it"),
        ({"set_columns": "stars"}, "give a list"),
        ({"table": ""}, "no name"),
        ({"key": "a\0b"}, "NUL"),
        ({"order": "day"}, "does not read the places of tokens"),
    ],
)
def test_what_is_refused(options, said):
    model = cs.SetRegressor(["stars"], **QUICK).fit(pa.table({"stars": [[1.0], [2.0]] * 9}), np.arange(18.0))
    with pytest.raises((TypeError, ValueError), match=said):
        model.to_sql(**{"dialect": "sqlite", **options})


def test_places_need_an_order_unless_they_are_forbidden():
    X = pa.table({"stars": [[1.0], [2.0, 3.0]] * 9})
    model = cs.SetRegressor(["stars", cs.PLACE], **QUICK).fit(X, np.arange(18.0))
    with pytest.raises(ValueError, match=r"rows of a table have no order\. .*order='day'"):
        model.to_sql("sqlite")
    editor = model.edit()
    editor.forbid(cs.PLACE)
    database = SQLite()
    fill(database, X)
    found = scored(database, editor.model.to_sql("sqlite"), model, 18)
    np.testing.assert_allclose(found[:, 0], editor.model.predict(X), rtol=1e-9)


def test_too_many_columns_and_large_categories_are_refused():
    X = pa.table({f"x{k}": [[1.0], [2.0]] * 250 for k in range(8)})
    model = cs.SetClassifier(list(X.column_names), **QUICK).fit(X, np.arange(500) % 202)
    with pytest.raises(ValueError, match="1,616 columns in one step"):
        model.to_sql("duckdb")
    large = pa.table({"id": [[2**53 + 1], [2**53]] * 5})
    model = cs.SetRegressor([cs.Feature("id", kind="categorical")], **QUICK).fit(large, np.arange(10.0))
    with pytest.raises(ValueError, match="Fit on strings"):
        model.to_sql("duckdb")
