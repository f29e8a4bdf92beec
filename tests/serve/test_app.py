"""The JSON interface: it says what the model says, and errors in a sentence."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs
from clearset.serve import Limits, create_app, run

JSON = {"content-type": "application/json"}
HOSTILE = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>", "أحمر ‮evil", "a" * 10_000]


def of(*sets: str) -> str:
    """Return a body of sets that are written out, with null for the features that they lack."""
    names = ("stars", "store", "price")
    absent = [[f'"{name}": null' for name in names if f'"{name}":' not in one] for one in sets]
    filled = (", ".join([one[:-1], *more]) + "}" for one, more in zip(sets, absent, strict=True))
    return f'{{"sets": [{", ".join(filled)}]}}'


@pytest.fixture(scope="module")
def of_sets(regressor: Any, reviews: Any) -> Any:
    return create_app(regressor, *reviews)


@pytest.fixture(scope="module")
def of_items(cook: Any) -> Any:
    return create_app(cook)


def test_predictions_of_sets(client: Any, of_sets: Any, regressor: Any, reviews: Any) -> None:
    sets = reviews[0].to_pylist()
    answer = client(of_sets).post("/api/predict", json={"sets": sets})
    assert answer.status_code == 200
    assert answer.json() == {"predictions": regressor.predict(reviews[0]).tolist()}


def test_null_is_missing(client: Any, of_sets: Any, regressor: Any) -> None:
    nothing = {"stars": None, "store": None, "price": None}
    sets = [{**nothing, "stars": [5, None]}, {"stars": [4], "store": ["online"], "price": 3}, nothing]
    answer = client(of_sets).post("/api/predict", json={"sets": sets}).json()
    frame = pa.table(
        {
            "stars": pa.array([[5.0, None], [4.0], []], pa.list_(pa.float64())),
            "store": pa.array([[None, None], ["online"], []], pa.list_(pa.string())),
            "price": [None, 3.0, None],
        }
    )
    assert answer["predictions"] == regressor.predict(frame).tolist()


def test_what_is_left_out_is_refused_as_python_refuses_it(
    client: Any, of_sets: Any, regressor: Any, reviews: Any
) -> None:
    for names in (["stars"], ["stars", "store"], ["price"]):
        frame = reviews[0].select(names).slice(0, 2)
        with pytest.raises(ValueError, match="is unknown") as caught:
            regressor.predict(frame)
        sets = [reviews[0].slice(0, 1).to_pylist()[0], *frame.to_pylist()]
        for path in ("/api/predict", "/api/explain"):
            answer = client(of_sets).post(path, json={"sets": sets})
            assert answer.status_code == 400
            assert answer.json()["message"] == f"Set 1: {caught.value} Give null for what is missing."


def test_explanations_of_sets(client: Any, of_sets: Any, regressor: Any, reviews: Any) -> None:
    asked = {"sets": reviews[0].slice(0, 5).to_pylist(), "effects": True}
    answer = client(of_sets).post("/api/explain", json=asked).json()
    assert answer == json.loads(json.dumps(regressor.explain(reviews[0].slice(0, 5), effects=True).to_json()))


def test_predictions_and_explanations_of_items(client: Any, of_items: Any, cook: Any) -> None:
    sets = [["salt", "water", "sugar"], ["grapefruit juice"], [], ["never heard of"]]
    answer = client(of_items).post("/api/predict", json={"sets": sets}).json()
    assert answer["predictions"] == cook.predict(sets).tolist()
    assert answer["classes"] == ["mexican", "other"]
    np.testing.assert_array_equal(answer["probabilities"], cook.predict_proba(sets))
    answer = client(of_items).post("/api/explain", json={"sets": sets, "label": "other"}).json()
    assert answer == json.loads(json.dumps(cook.explain(sets, "other").to_json()))


@pytest.mark.parametrize("path", ["/api/predict", "/api/explain"])
def test_a_request_is_read_once(client: Any, path: str) -> None:
    split: list[str] = []

    class Letters:
        def tokens(self, example: str) -> list[str]:
            split.append(example)
            return list(example)

    options: dict[str, Any] = {"refine": False, "epochs": 1, "random_state": 0, "n_jobs": 1}
    model = cs.SemanticClassifier(Letters(), **options).fit(["ab", "b", "a", "c"] * 5, [1, 0, 1, 0] * 5)
    connected = client(create_app(model))
    split.clear()
    assert connected.post(path, json={"sets": ["ab", "c"]}).status_code == 200
    assert split == ["ab", "c"]


def test_texts_and_an_engine(client: Any) -> None:
    texts = ["ripe cherry", "thin and sour", "ripe plum", "sour finish"] * 10
    options: dict[str, Any] = {"refine": False, "epochs": 2, "random_state": 0, "n_jobs": 1}
    engine = cs.SemanticFeatureEngine(cs.NGrams(2), **options).fit(texts, [94.0, 82.0, 92.0, 84.0] * 10)
    answer = client(create_app(engine)).post("/api/predict", json={"sets": texts[:4]}).json()
    assert answer == {"estimates": engine.transform(texts[:4]).tolist()}


def test_pairs_and_frames(client: Any) -> None:
    pairs = [(["a"], ["x"]), (["b"], ["x", "y"]), (["a", "b"], ["y"]), (["b"], [])] * 10
    options: dict[str, Any] = {"cover": True, "refine": False, "epochs": 2, "random_state": 0, "n_jobs": 1}
    model = cs.SemanticRegressor(cs.Cross(), **options).fit(pairs, [1.0, 2.0, 3.0, 4.0] * 10)
    answer = client(create_app(model)).post("/api/predict", json={"sets": pairs[:4]}).json()
    assert answer == {"predictions": model.predict(pairs[:4]).tolist()}
    frame = pa.table({"cast": [["ann"], ["bob"], ["ann", "bob"]] * 10, "pay": [[1.0], [2.0], [3.0, 1.0]] * 10})
    details: dict[str, Any] = {"details": ["pay"], "features": ["mean_label", "pay"]}
    model = cs.SemanticRegressor(cs.Items(), **details, **options).fit(frame, [1.0, 2.0, 3.0] * 10)
    answer = client(create_app(model)).post("/api/predict", json={"sets": frame.to_pylist()}).json()
    assert answer == {"predictions": model.predict(frame).tolist()}


def test_what_the_model_is(client: Any, of_sets: Any, of_items: Any) -> None:
    about = client(of_sets).get("/api/model").json()
    assert (about["estimator"], about["semantic"], about["classes"]) == ("SetRegressor", False, None)
    assert [feature["name"] for feature in about["features"]] == ["stars", "store", "price"]
    assert about["features"][2]["scope"] == "set"
    assert about["certificate"]
    assert all(check["holds"] for check in about["certificate"])
    assert client(of_items).get("/api/model").json()["tokens"]["n_examples"] == 537
    assert client(of_items).get("/health").json() == {"status": "ok"}


def test_search(client: Any, of_items: Any, cook: Any) -> None:
    page = client(of_items).get("/api/tokens", params={"search": "FENNEL, sal", "by": "count"}).json()
    table = cook.token_table_.to_arrow().to_pylist()
    expected = [row for row in table if {"fennel bulb", "salt"} <= set(row["token"])]
    assert page["n"] == len(expected) == 2
    for row in page["tokens"]:
        same = next(each for each in expected if each["token"] == row["token"])
        for name in ("size", "count", "mean", "low", "high"):
            assert row[name] == pytest.approx(same[name])
    everything = client(of_items).get("/api/tokens?by=low&limit=1000").json()["tokens"]
    assert len(everything) == len(table)
    values = [row["value"] for row in everything]
    assert values == sorted(values)
    second = client(of_items).get("/api/tokens?by=low&limit=3&offset=3").json()["tokens"]
    assert second == everything[3:6]


def test_search_in_any_script(client: Any) -> None:
    items = ["ΟΔΟΣ ΑΘΗΝΑΣ", "İstanbul", "1,000 island", "أحمر غامق", "STRASSE", "οδός"]
    options: dict[str, Any] = {"refine": False, "epochs": 1, "random_state": 0, "n_jobs": 1}
    X = [[item] for item in items] * 3
    connected = client(create_app(cs.SemanticRegressor(cs.Items(), **options).fit(X, np.arange(18.0))))
    searches = {
        "ΟΔΟΣ": [items[0]],
        "οδος": [items[0]],
        "οδοσ αθηνας": [items[0]],
        "ΟΔΌΣ": [items[5]],
        "İSTANBUL": [items[1]],
        "istanbul": [items[1]],
        "1,000": [items[2]],
        "island,1,000": [items[2]],
        "غامق": [items[3]],
        "غامق أحمر": [items[3]],
        "strasse": [items[4]],
        "nothing": [],
    }
    for text, expected in searches.items():
        found = connected.get("/api/tokens", params={"search": text}).json()
        assert [row["token"] for row in found["tokens"]] == [[each] for each in expected], text
    assert connected.get("/api/tokens", params={"search": " , "}).json()["n"] == len(items)


def test_tokens_of_a_set_are_described_as_in_the_document(client: Any, of_items: Any, cook: Any) -> None:
    items = ["grapefruit juice", "salt", "water", "sugar", "no such thing"]
    known = client(of_items).post("/api/known", json={"items": items}).json()
    spelled = [sorted(known["vocabulary"][code] for code in row) for row in known["items"]]
    assert sorted(spelled) == sorted(cook.explain([items]).tokens["token"].to_pylist())
    assert sorted(known["counts"]) == [10, 510]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "not JSON"),
        ("[]", "must be a JSON object"),
        ("", "not JSON"),
        ("[" * 200_000, "deep"),
        ('{"sets": [{"stars": [NaN]}]}', "NaN is not JSON"),
        (of('{"stars": [1]}', '{"stars": [2, 1e400]}'), "Set 1 has a number in 'stars' that is beyond"),
        (of('{"stars": [' + "9" * 400 + "]}"), "beyond"),
        (of(f'{{"stars": [{int(Decimal("1.7976931348623157e308")) + 1}]}}'), "beyond"),
        (of(f'{{"stars": [{-int(Decimal("1.7976931348623157e308")) - 1}]}}'), "beyond"),
        (of('{"stars": [' + "9" * 5001 + "]}"), "too many digits"),
        (of('{"stars": [1], "store": [3]}'), "a number in 'store', which must hold texts"),
        ('{"sets": [], "sets": [{"stars": [1]}]}', "An object of the body has 'sets' more than once"),
        ('{"sets": [{"stars": [1], "stars": [2]}]}', "An object of the body has 'stars' more than once"),
        (of('{"stars": ["five"]}'), "in 'stars', which must hold numbers"),
        (of('{"stars": [[1]]}'), "in 'stars', which must hold numbers"),
        (of('{"stars": {"a": 1}}'), "an object as 'stars'"),
        ('{"sets": [{"moons": [1]}]}', "'moons', which the model does not know"),
        ('{"sets": [{"stars": [1], "price": 1}]}', "Set 0: Column 'store' is unknown."),
        ('{"sets": [{}]}', "Set 0: Column 'stars' is unknown. There are none."),
        ('{"sets": [[1, 2]]}', "an object of features"),
        ('{"sets": []}', "an empty list"),
        ('{"sets": {}}', "an object"),
        (of('{"stars": [1], "store": ["\\ud800"]}'), "Unicode"),
        ("{}", "'sets' must be a list"),
        ('{"sets": [{"stars": [1]}], "more": 1}', "does not know 'more'"),
        (b"\xff\xfe\x00", "Unicode"),
    ],
)
def test_wrong_bodies(client: Any, of_sets: Any, body: str | bytes, said: str) -> None:
    answer = client(of_sets).post("/api/predict", content=body, headers=JSON)
    assert (answer.status_code, list(answer.json())) == (400, ["code", "message", "request_id"])
    assert said in answer.json()["message"]
    assert "\n" not in answer.json()["message"]
    assert "sys." not in answer.json()["message"]


def test_the_largest_numbers(client: Any, of_sets: Any, regressor: Any) -> None:
    most = int(Decimal("1.7976931348623157e308"))
    sets = [{"stars": [most, -most], "store": None, "price": sys.float_info.max}]
    answer = client(of_sets).post("/api/predict", json={"sets": sets})
    frame = {"stars": [[float(most), -float(most)]], "store": [[None, None]], "price": [float(most)]}
    schema = {"stars": pa.list_(pa.float64()), "store": pa.list_(pa.string()), "price": pa.float64()}
    table = pa.table({name: pa.array(values, schema[name]) for name, values in frame.items()})
    assert answer.json()["predictions"] == regressor.predict(table).tolist()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (of('{"stars": 3}'), "Set 0 has no list"),
        (of('{"stars": [3]}', '{"price": 3}'), "Set 1 has no list"),
        (of('{"stars": [1], "store": ["a", "b"]}'), "differ in length"),
        (of('{"stars": [1]}', '{"stars": 2, "store": ["market"]}'), "'stars' is a single value in set 1"),
    ],
)
def test_parts_that_do_not_fit_each_other(client: Any, of_sets: Any, body: str, said: str) -> None:
    answer = client(of_sets).post("/api/predict", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "inconsistent")
    assert said in answer.json()["message"]


@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("/api/explain", {"sets": [["salt"]], "label": "klingon"}, 'no class "klingon"'),
        ("/api/explain", {"sets": [["salt"]], "effects": "yes"}, "'effects' must be"),
        ("/api/predict", {"sets": [["salt"], "salt"]}, "Set 1 is a text; the model reads lists"),
        ("/api/predict", {"sets": [3]}, "a number"),
        ("/api/predict", {"sets": [[{"a": 1}]]}, ""),
        ("/api/known", {"items": [1]}, "list of texts"),
    ],
)
def test_wrong_questions(client: Any, of_items: Any, path: str, asked: Any, said: str) -> None:
    answer = client(of_items).post(path, json=asked)
    assert answer.status_code == 400
    assert said in answer.json()["message"]


@pytest.mark.parametrize(
    ("query", "said"),
    [("by=beauty", "'by'"), ("by=", "'by' is ''; choose one of"),
     ("limit=0", "'limit'"), ("limit=5000", "'limit'"), ("offset=-1", "'offset'"),
     ("offset=" + "9" * 30, "'offset'"), ("limit=x", "'limit'"), ("where=1", "'where'"),
     ("limit=1&limit=2", "'limit' more than once")],
)  # fmt: skip
def test_wrong_searches(client: Any, of_items: Any, query: str, said: str) -> None:
    answer = client(of_items).get(f"/api/tokens?{query}")
    assert answer.status_code == 400
    assert said in answer.json()["message"]


def test_many_words(client: Any, of_items: Any) -> None:
    answer = client(of_items).get("/api/tokens?search=" + "+".join(map(str, range(60))))
    assert (answer.status_code, "60 words" in answer.json()["message"]) == (413, True)


def test_no_token_table(client: Any, of_sets: Any) -> None:
    assert "no token table" in client(of_sets).get("/api/tokens").json()["message"]


def test_large_bodies_are_refused(client: Any, of_sets: Any) -> None:
    answer = client(of_sets).post("/api/predict", content=b" " * (Limits.body + 1), headers=JSON)
    assert answer.status_code == 413
    assert "Send fewer" in answer.json()["message"]


@pytest.mark.parametrize("error", [KeyError, TimeoutError])
def test_a_failure_is_one_sentence(
    client: Any, cook: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: type[Exception]
) -> None:
    def fail(*_: Any) -> Any:
        raise error("secret")

    app = create_app(cook)
    monkeypatch.setattr(cs.SemanticModel, "read", fail)
    answer = client(app).post("/api/predict", json={"sets": [["salt"]]})
    assert (answer.status_code, list(answer.json())) == (500, ["code", "message", "request_id"])
    name = answer.headers["x-request-id"]
    assert answer.json() == {
        "code": "internal_error",
        "message": "Internal error; the server's log has it by the identifier of the request.",
        "request_id": name,
    }
    (logged,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert logged.request["id"] == name
    assert re.fullmatch(error.__name__ + r" at (\w+\.py:\d+ > )+test_app\.py:\d+", logged.request["failure"])
    assert "secret" not in caplog.text


def test_hostile_strings(client: Any) -> None:
    rng = np.random.default_rng(0)
    X = [rng.choice(HOSTILE, 2).tolist() for _ in range(60)]
    options: dict[str, Any] = {"refine": False, "epochs": 2, "random_state": 0, "n_jobs": 1}
    model = cs.SemanticClassifier(cs.Items(), **options).fit(X, [row[0] for row in X])
    connected = client(create_app(model, X))
    for item in HOSTILE:
        found = connected.get("/api/tokens", params={"search": item, "label": item, "limit": 1000}).json()
        assert [row["token"] for row in found["tokens"]] == [[item]]
        answer = connected.post("/api/predict", json={"sets": [[item]]}).json()
        assert answer["predictions"] == model.predict([[item]]).tolist()
    page = connected.get("/").text
    assert HOSTILE[0] not in page
    assert "<img" not in page


def test_a_model_of_a_named_column(client: Any) -> None:
    frame = pa.table({"items": [["beer", "crisps"], ["milk"], ["beer"], ["milk", "bread"]] * 10})
    options: dict[str, Any] = {"refine": False, "epochs": 2, "random_state": 0, "n_jobs": 1}
    model = cs.SemanticClassifier(cs.Items(), **options).fit(frame, [1, 0, 1, 0] * 10)
    connected = client(create_app(model, frame))
    for sets in ([["beer"], ["milk", "bread"]], [{"items": ["beer"]}, {"items": ["milk", "bread"]}]):
        answer = connected.post("/api/predict", json={"sets": sets})
        assert answer.json()["predictions"] == model.predict([["beer"], ["milk", "bread"]]).tolist()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; sys.modules['starlette'] = None; import clearset; import clearset.serve"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert "ImportError: The explorer needs starlette" in found.stderr.splitlines()[-1]
    assert "pip install 'clearset[serve]'" in found.stderr.splitlines()[-1]
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ImportError, match="needs uvicorn"):
        run(None, "127.0.0.1", 0, print)


def test_many_different_questions_at_once(client: Any, of_items: Any) -> None:
    sets = [["salt", "water", "sugar"], ["grapefruit juice", "salt"], ["fennel bulb"], []]
    with client(of_items) as connected:
        questions: list[tuple[str, str, Any]] = [
            (path, "post", {"sets": [one]}) for path in ("/api/predict", "/api/explain") for one in sets
        ]
        questions += [("/api/known", "post", {"items": one}) for one in sets]
        questions += [(f"/api/tokens?search={word}", "get", None) for word in ("salt", "water", "x")]
        questions += [("/api/model", "get", None), ("/health", "get", None), ("/", "get", None)]

        def ask(question: tuple[str, str, Any]) -> tuple[int, str]:
            path, method, body = question
            answer = connected.request(method, path, json=body)
            return answer.status_code, answer.text

        expected = {place: ask(question) for place, question in enumerate(questions)}
        assert {status for status, _ in expected.values()} == {200}
        order = np.random.default_rng(0).permutation(np.repeat(np.arange(len(questions)), 8)).tolist()
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda place: ask(questions[place]), order))
    assert found == [expected[place] for place in order]
