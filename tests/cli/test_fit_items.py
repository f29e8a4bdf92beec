"""``clearset fit``, ``predict`` and ``verify`` for columns of items and of texts."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main
from clearset.estimators import _semantic_files

N = 700
RNG = np.random.default_rng(11)
SPICES = ["salt", "lime", "feta", "chili", "soy sauce", "brûlée", "rice"]
LISTS = [RNG.choice(SPICES, RNG.integers(1, 4), replace=False).tolist() for _ in range(N)]
CUISINES = [
    "thai" if "lime" in row else "greek" if "feta" in row else "chinese" if "soy sauce" in row else "other"
    for row in LISTS
]
POINTS = [80 + 3.5 * ("rice" in row) - 2.25 * len(row) for row in LISTS]
TEXTS = [
    f"A dish of {' and '.join(row)}; nice." if place % 5 == 0 else f"{' with '.join(row)} in it"
    for place, row in enumerate(LISTS)
]
SPICY = ["chili" in row for row in LISTS]


@pytest.fixture(scope="module")
def food(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the same recipes as list columns, as texts with separators, and as one row an item."""
    folder = tmp_path_factory.mktemp("food")
    table = pa.table(
        {"id": range(N), "items": LISTS, "text": TEXTS, "cuisine": CUISINES, "points": POINTS, "spicy": SPICY}
    )
    pa.parquet.write_table(table, folder / "food.parquet")
    joined = table.set_column(1, "items", pa.array([" ; ".join(row) for row in LISTS]))
    pa.csv.write_csv(joined, folder / "food.csv")
    sizes = [len(row) for row in LISTS]
    long = {name: np.repeat(table[name].to_numpy(), sizes) for name in ("id", "cuisine", "points")}
    long["items"] = [item for row in LISTS for item in row]
    pa.csv.write_csv(pa.table(long), folder / "long.csv")
    return folder


def fit(folder: Path, data: str, *options: str, column: str = "items") -> int:
    common = ["--column", column, "-o", str(folder / "model"), "--epochs", "2", "--seed", "0", "--jobs", "1"]
    return main(["fit", str(folder / data), *common, *options])


def read(text: str, folder: Path) -> pa.Table:
    (folder / "printed.csv").write_text(text)
    return pa.csv.read_csv(folder / "printed.csv")


@pytest.mark.parametrize("data", ["food.parquet", "food.csv", "long.csv"])
def test_the_command_does_what_the_python_api_does(food: Path, data: str) -> None:
    by = ["--by", "id", "--set-columns", "points"] if data == "long.csv" else []
    of_tokens = ["--tokens", "subsets:2", "--min-count", "5", "--max-interval", "0.9", "--all"]
    options = [*of_tokens, "--width", "2", "--no-refine"]
    assert fit(food, data, "--label", "cuisine", "--quiet", *options, *by) == 0
    filters = [cs.MinCount(5), cs.MaxInterval(0.9)]
    model = cs.SemanticClassifier(
        cs.Subsets(2), filters, width=2, cover=False, refine=False, epochs=2, random_state=0, n_jobs=1
    ).fit(LISTS, CUISINES)
    again = cs.load(food / "model")
    assert again.setting_ == model.setting_
    np.testing.assert_array_equal(again.predict_proba(LISTS), model.predict_proba(LISTS))


@pytest.fixture
def parts(food: Path, tmp_path: Path) -> Path:
    """Make a folder of the recipes in two files, as texts with separators as well."""
    joined = [" | ".join(row) for row in LISTS]
    table = pa.parquet.read_table(food / "food.parquet").append_column("joined", pa.array(joined))
    weighted = table.append_column("weight", pa.array(np.arange(N) % 3 + 1.0))
    (tmp_path / "parts").mkdir()
    for number in range(2):
        part = weighted.slice(N // 2 * number, N // 2)
        pa.parquet.write_table(part, tmp_path / "parts" / f"{number}.parquet", row_group_size=100)
    pa.parquet.write_table(weighted, tmp_path / "whole.parquet")
    return tmp_path / "parts"


@pytest.mark.parametrize(
    ("column", "label", "options"),
    [
        ("items", "cuisine", ["--weight", "weight"]),
        ("items", "points", ["--tokens", "subsets:2", "--max-memory", "64MB"]),
        ("joined", "spicy", ["--separator", "|", "--no-refine"]),
        ("text", "cuisine", ["--tokens", "ngrams:2", "--validation", "{}"]),
    ],
)
def test_a_folder_gives_the_model_of_its_rows(parts: Path, column: str, label: str, options: list[str]) -> None:
    found = []
    for data in ("parts", "whole.parquet"):
        given = [option.format(parts.parent / data) for option in options]
        if data == "whole.parquet" and "--max-memory" in given:
            given = given[:-2]
        assert fit(parts.parent, data, "--label", label, "--quiet", *given, column=column) == 0
        model = cs.load(parts.parent / "model")
        found.append(b"".join(np.asarray(table).tobytes() for table in model.function.tables.values()))
        assert model.feature_names_in_.tolist() == [column]
    assert found[0] == found[1]


@pytest.mark.parametrize("tokens", [["--tokens", "subsets:2"], []])
def test_texts_of_files_beyond_memory_are_separated(
    parts: Path, tokens: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--label", "spicy", "--quiet", "--no-refine", *tokens]
    found = []
    for column, others in (("items", []), ("joined", ["--separator", "|"])):
        for copies in (1, 10**9):  # as if all rows fitted into memory, and as if none did
            monkeypatch.setattr(_semantic_files, "_COPIES", copies)
            assert fit(parts.parent, "parts", *options, *others, column=column) == 0
            model = cs.load(parts.parent / "model")
            assert model.token_table_.vocabulary.to_pylist()
            found.append(b"".join(np.asarray(table).tobytes() for table in model.function.tables.values()))
    assert len(set(found)) == 1


_WORDS = "--separator divides texts into items, but NGrams(max_order=2) reads words. Leave it out."
_NUMBERS = "'numbers' holds list<element: int64>. Leave it out."


@pytest.mark.parametrize(
    ("data", "column", "tokens", "message"),
    [
        ("parts", "text", "ngrams:2", _WORDS),
        ("whole.parquet", "text", "ngrams:2", _WORDS),
        ("food.csv", "text", "ngrams:2", _WORDS),
        ("parts", "numbers", "items", _NUMBERS),
        ("whole.parquet", "numbers", "items", _NUMBERS),
    ],
)
def test_separators_that_do_nothing_are_refused(
    parts: Path, food: Path, data: str, column: str, tokens: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(food / "food.csv", parts.parent)
    for path in [parts.parent / "whole.parquet", *parts.iterdir()]:
        table = pa.parquet.read_table(path)
        pa.parquet.write_table(table.append_column("numbers", pa.array([[1, 2]] * len(table))), path)
    given = ["--label", "spicy", "--quiet", "--tokens", tokens, "--separator", "|"]
    assert fit(parts.parent, data, *given, column=column) != 0
    assert message in capsys.readouterr().err


def test_one_process_of_torchrun_predicts(
    parts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit(parts.parent, "parts", "--label", "points", "--quiet", "--tokens", "items") == 0
    capsys.readouterr()
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    monkeypatch.setenv("WORLD_SIZE", "2")
    lines = []
    for rank in "01":
        monkeypatch.setenv("RANK", rank)
        assert main(["predict", str(parts.parent / "model"), str(parts), "--quiet"]) == 0
        lines.append(capsys.readouterr().out.splitlines())
    assert len(lines[0]) == N + 1
    assert not lines[1]


def test_summary(food: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validation = ["--validation", str(food / "food.csv")]
    assert fit(food, "food.parquet", "--label", "cuisine", "--refine", *validation) == 0
    captured = capsys.readouterr()
    out = captured.out
    assert f"Classification of 'cuisine', because the label is no number: {N} examples." in out
    model = cs.load(food / "model")
    assert f"Chose {model.setting_} (of {len(model.choices_)} settings tried)." in out
    shares = np.unique(CUISINES, return_counts=True)[1] / N
    entropy = -(shares * np.log(shares)).sum()
    best = min(epoch["validation_loss"] for epoch in model.history_)
    assert f"2 epochs, best validation loss {best:.4g} (a constant: {entropy:.4g})." in out
    right = (model.predict(LISTS) == np.array(CUISINES)).mean()
    assert f"On validation data: accuracy {right:.4f}." in out
    refined = " +refined" if model.setting_.refine else ""
    assert re.search(rf"Tokens that say most:\n +count +class +95% interval{refined} +token\n", out)
    assert re.search(r"thai 1 .* lime$", out, re.MULTILINE)
    assert "log_odds increasing" in out
    assert "epochs" in captured.err  # the progress bar


def test_numbers(food: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(food, "food.csv", "--label", "points", "--tokens", "items", "--refine") == 0
    out = capsys.readouterr().out
    assert "Regression of 'points', because the label is a number" in out
    assert f"(a constant: {np.var(POINTS):.4g})." in out
    model = cs.load(food / "model")
    assert model.estimator == "SemanticRegressor"
    chosen = [model.parameters[name] for name in ("tokens", "refine", "filters")]
    assert chosen == [cs.Items(), True, "auto"]


def test_two_classes(food: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(food, "food.parquet", "--label", "spicy", "--tokens", "items", "--cover") == 0
    out = capsys.readouterr().out
    assert "Tokens that say most (mean: the share of True):" in out
    assert re.search(r"^ +\d+ +1 +0\.9.* chili$", out, re.MULTILINE)


def has_item(table: cs.TokenTable, item: str) -> bool:
    """Return whether an item is a token; where its words are tokens too, it says of which kind it is."""
    return any(table.lookup(name) is not None for name in (item, f"items={item}"))


@pytest.mark.parametrize("data", ["food.parquet", "food.csv"])
def test_texts_are_told_from_lists(food: Path, data: str) -> None:
    options = ["--label", "cuisine", "--width", "1", "--quiet"]
    assert fit(food, data, *options, column="text") == 0
    model = cs.load(food / "model")
    assert isinstance(model.setting_.tokens, cs.NGrams)
    assert model.token_table_.lookup("nice").count == N // 5  # words, not what stands between semicolons
    assert fit(food, data, *options, column="items") == 0
    assert not isinstance(cs.load(food / "model").setting_.tokens, cs.NGrams)
    assert has_item(cs.load(food / "model").token_table_, "soy sauce")
    assert fit(food, data, *options, "--separator", " with ", column="text") == 0
    assert has_item(cs.load(food / "model").token_table_, "soy sauce")


def test_a_file_of_features_and_options(food: Path, tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(
        "features: [log_odds, {name: count, monotonic: increasing}]\n"
        "trusts: [{feature: log_odds, by: count}]\n"
        "model: {cross_fit: 3, shrinkage: 2.0}\n"
    )
    options = ["--label", "cuisine", "--tokens", "items", "--quiet", "--features", str(path)]
    assert fit(food, "food.parquet", *options) == 0
    model = cs.load(food / "model")
    assert (model.parameters["cross_fit"], model.parameters["shrinkage"]) == (3, 2.0)
    assert [feature.name for feature in model.features_] == ["log_odds", "count"]
    assert model.trusts_ == (cs.Trust("log_odds", by="count"),)


def test_pairs_of_columns(tmp_path: Path) -> None:
    right = [LISTS[i - 1] for i in range(N)]
    y = [len({*a} & {*b}) > 0 for a, b in zip(LISTS, right, strict=True)]
    table = pa.table({"a": [";".join(r) for r in LISTS], "b": [";".join(r) for r in right], "same": y})
    pa.csv.write_csv(table, tmp_path / "pairs.csv")
    options = ["--column", "b", "--label", "same", "--tokens", "cross", "--quiet"]
    assert fit(tmp_path, "pairs.csv", *options, column="a") == 0
    model = cs.load(tmp_path / "model")
    assert model.parameters["tokens"] == cs.Cross("a", "b")
    arguments = ["predict", str(tmp_path / "model"), str(tmp_path / "pairs.csv")]
    assert main([*arguments, "-o", str(tmp_path / "out.csv")]) == 0
    expected = model.predict(pa.table({"a": LISTS, "b": right}))
    assert pa.csv.read_csv(tmp_path / "out.csv")["prediction"].to_pylist() == expected.tolist()


@pytest.fixture(scope="module")
def models(food: Path) -> Path:
    for name, label in (("classes", "cuisine"), ("number", "points")):
        model = food / f"{name}.clearset"
        assert fit(food, "food.csv", "--label", label, "--tokens", "subsets:2", "--quiet", "-o", str(model)) == 0
    return food


@pytest.mark.parametrize("data", ["food.parquet", "food.csv", "long.csv"])
def test_predictions_of_classes(models: Path, data: str, tmp_path: Path, capsys: Any) -> None:
    by = ["--by", "id"] if data != "food.csv" else []
    arguments = ["predict", str(models / "classes.clearset"), str(models / data), *by]
    assert main(arguments) == 0
    printed = read(capsys.readouterr().out, tmp_path)
    model = cs.load(models / "classes.clearset")
    names = ["chinese", "greek", "other", "thai"]
    assert printed.column_names == [*(["id"] if by else []), "prediction", *(f"proba_{name}" for name in names)]
    shares = np.column_stack([printed[f"proba_{name}"].to_numpy() for name in names])
    np.testing.assert_allclose(shares, model.predict_proba(LISTS), rtol=1e-9)
    assert printed["prediction"].to_pylist() == model.predict(LISTS).tolist()
    assert main([*arguments, "--top", "3"]) == 0
    printed = read(capsys.readouterr().out, tmp_path)
    top = np.column_stack([printed[f"prediction{n}"].to_pylist() for n in ("", "_2", "_3")])
    assert (top == model.predict_top(LISTS, 3)).all()
    best = np.column_stack([printed[f"proba{n}"].to_numpy() for n in ("", "_2", "_3")])
    np.testing.assert_allclose(best, -np.sort(-shares, axis=1)[:, :3], rtol=1e-9)


def test_predictions_of_numbers_and_renamed_columns(models: Path, tmp_path: Path, capsys: Any) -> None:
    expected = cs.load(models / "number.clearset").predict(LISTS)
    pa.parquet.write_table(pa.table({"other": LISTS}), tmp_path / "other.parquet")
    model, data = str(models / "number.clearset"), str(tmp_path / "other.parquet")
    assert main(["predict", model, data]) == 1
    assert "has no column 'items'" in capsys.readouterr().err
    assert main(["predict", model, data, "--column", "other"]) == 0
    printed = read(capsys.readouterr().out, tmp_path)
    assert printed.column_names == ["prediction"]
    np.testing.assert_allclose(printed["prediction"].to_numpy(), expected, rtol=1e-9)


def test_verify(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(models / "classes.clearset")]) == 0
    assert "log_odds increasing" in capsys.readouterr().out
    assert main(["verify", str(models / "classes.clearset"), str(models / "food.csv")]) == 1
    assert "Leave DATA out" in capsys.readouterr().err


class Whole:
    def tokens(self, example: list[str]) -> list[str]:
        return list(example)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "food.parquet", "--label", "cuisine", "--tokens", "items"], "--tokens is for a column of items"),
        (["fit", "food.parquet", "--label", "points", "--all"], "--cover is for a column of items or texts"),
        (["fit", "food.parquet", "--label", "cuisine", "--column", "itmes"], "'itmes'. Did you mean 'items'"),
        (["fit", "food.parquet", "--label", "cuisine", "--column", "points"], "numbers with fractions"),
        (["fit", "food.parquet", "--label", "items", "--column", "items"], "holds lists"),
        (["fit", "food.parquet", "--label", "cuisine", "--column", "items", "--tokens", "pairs"], "choose items"),
        (["fit", "food.parquet", "--label", "cuisine", "--column", "items", "--tokens", "cross"], "needs 2 --column"),
        (
            ["fit", "food.parquet", "--label", "cuisine", "--column", "items", "--column", "text", "--tokens", "items"],
            "needs 1 --column, but 2 were given",
        ),
        (["fit", "food.parquet", "--label", "cuisine", "--column", "items", "--min-count", "0"], "MinCount is 0"),
        (["fit", "food.parquet", "--label", "cuisine", "--column", "items", "--task", "regression"], ""),
        (["predict", "number.clearset", "food.csv", "--top", "2"], "predicts a number"),
        (["predict", "classes.clearset", "food.csv", "--top", "9"], "knows 4 classes"),
        (["predict", "classes.clearset", "food.csv", "--column", "a", "--column", "b"], "trained on 1 columns"),
        (["predict", "own.clearset", "food.csv"], "files hold no code"),
        (["predict", "engine.clearset", "food.csv"], "does not predict"),
        (["predict", "nameless.clearset", "food.csv"], "Name that of the data with --column"),
        (["predict", "sets.clearset", "food.csv", "--column", "items"], "this is none"),
    ],
)
def test_errors_are_one_line(models: Path, arguments: list[str], message: str, capsys: Any) -> None:
    few = {"epochs": 1, "random_state": 0, "refine": False, "n_jobs": 1}
    X, y = LISTS[:40], POINTS[:40]
    cs.SemanticRegressor(Whole(), **few).fit(X, y).save(models / "own.clearset")
    cs.SemanticRegressor(cs.Items(), **few).fit(X, y).save(models / "nameless.clearset")
    cs.SemanticFeatureEngine(cs.Items(), **few).fit(X, y).save(models / "engine.clearset")
    cs.SetRegressor(epochs=1).fit([[0.0], [1.0]], [0.0, 1.0]).save(models / "sets.clearset")
    known = [str(models / part) if (models / part).is_file() else part for part in arguments]
    output = ["-o", str(models / "never")] if arguments[0] == "fit" else []
    assert main([*known, *output]) == 1
    err = capsys.readouterr().err
    assert err.startswith("clearset: ")
    assert err.count("\n") == 1
    assert message in err
    assert not (models / "never").exists()


def test_codes_with_leading_zeros_are_items_as_written(tmp_path: Path) -> None:
    codes = ["03", "3", "NA", "True"] * 100
    rows = "".join(f"{code},{int(code in ('03', 'NA'))}\n" for code in codes)
    (tmp_path / "codes.csv").write_text("code,y\n" + rows)
    model, output = tmp_path / "m.clearset", tmp_path / "out.csv"
    common = ["--label", "y", "--column", "code", "--tokens", "items", "-o", str(model), "--quiet"]
    assert main(["fit", str(tmp_path / "codes.csv"), *common]) == 0
    assert main(["predict", str(model), str(tmp_path / "codes.csv"), "-o", str(output)]) == 0
    assert pa.csv.read_csv(output)["prediction"].to_pylist()[:4] == [1, 0, 1, 0]


def test_several_kinds_of_tokens(food: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(food, "food.csv", "--label", "cuisine", "--tokens", "subsets:2+words", "--min-count", "3") == 0
    model = cs.load(food / "model")
    assert model.setting_.tokens == cs.Union(cs.Subsets(2), cs.Words())
    assert model.token_table_.lookup("words=soy").count == sum("soy sauce" in row for row in LISTS)
    for tokens, message in (
        ("items+ngrams:2", "NGrams"),
        ("items+letters", "choose items"),
        ("words:2", "choose items"),
    ):
        assert fit(food, "food.csv", "--label", "cuisine", "--tokens", tokens) != 0
        assert message in capsys.readouterr().err
