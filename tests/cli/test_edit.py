"""The command that edits saved models."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main
from clearset.cli._edit_texts import edits_of
from clearset.models.edits import Cap, DropToken, Edit, Flatten, Forbid, PinToken

RNG = np.random.default_rng(0)
ITEMS = ["salt", "lime", "feta", "a;b", "left=x"]
X = [RNG.choice(ITEMS, RNG.integers(1, 4), replace=False).tolist() for _ in range(120)]
Y = ["thai" if "lime" in row else "greek" if "feta" in row else "other" for row in X]


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recipes")
    frame = pa.table({"items": X, "cuisine": Y})
    pa.parquet.write_table(frame, folder / "recipes.parquet")
    model = cs.SemanticClassifier(cs.Subsets(2), epochs=5, random_state=0, n_jobs=1)
    model.fit(frame.select(["items"]), Y).save(folder / "model")
    return folder


def test_features_are_edited(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, data = tmp_path / "new", folder / "sets.parquet"
    given = ["--cap", "price=:20", "--flatten", "cs.SIZE", "--forbid", "num_helpful"]
    assert (
        main(["edit", str(folder / "regressor"), *given, "-o", str(new), "--data", str(data), "--label", "sales"]) == 0
    )
    printed = capsys.readouterr().out
    for words in ("'price' capped above 20", "'cs.SIZE' flattened", "'num_helpful' forbidden", "R²:", "all hold"):
        assert words in printed
    model, frame = cs.load(new), pa.parquet.read_table(data)
    assert [type(logged.edit) for logged in model.edits] == [Flatten, Cap, Forbid]
    by_hand = cs.load(folder / "regressor").edit().flatten("cs.SIZE").cap("price", high=20).forbid("num_helpful").model
    assert np.array_equal(model.predict(frame), by_hand.predict(frame))
    assert cs.load(folder / "regressor").edits == ()


def test_tokens_are_edited_and_edits_undone(recipes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, first, second = recipes / "model", tmp_path / "first", tmp_path / "second"
    given = ["--drop-token", "lime; salt", "--pin-token", "feta=0.2:greek", "--data", str(recipes / "recipes.parquet")]
    assert main(["edit", str(model), *given, "--label", "cuisine", "-o", str(first)]) == 0
    assert "accuracy:" in capsys.readouterr().out
    assert cs.load(first).table.lookup(["salt", "lime"]) is None
    assert main(["edit", str(first), "--undo", "--undo", "-o", str(second)]) == 0
    assert cs.load(second).edits == ()
    outputs = [cs.load(path).decision_function(X) for path in (model, first, second)]
    assert outputs[0].tobytes() == outputs[2].tobytes() != outputs[1].tobytes()


def test_without_an_output_nothing_is_saved(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "regressor").read_bytes()
    assert main(["edit", str(folder / "regressor"), "--cap", "price=5:20"]) == 0
    assert "capped below 5 and above 20" in capsys.readouterr().out
    assert (folder / "regressor").read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--cap", "price"], "--cap is 'price'; write FEATURE=LOW:HIGH"),
        (["--cap", "price=cheap:"], "write FEATURE=LOW:HIGH"),
        (["--pin-token", "salt"], "write TOKEN=VALUE"),
        (["--forbid", "prices"], "Did you mean 'price'?"),
        (["--drop-token", "salt"], "no token table"),
        (["--undo"], "no edit to undo"),
        (["--label", "sales"], "no --data was given"),
    ],
)
def test_wrong_calls(folder: Path, given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["edit", str(folder / "regressor"), *given]) == 1
    assert message in capsys.readouterr().err


def test_the_model_is_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(folder / "regressor")
    assert main(["edit", path, "--forbid", "price", "-o", path]) == 1
    assert "it is what is read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "text", "edit"),
    [
        ("drop", "salt", DropToken("salt")),
        ("drop", "a;b", DropToken("a;b")),
        ("drop", "salt; feta", DropToken(["salt", "feta"])),
        ("pin", "left=x=-2.5e-1", PinToken("left=x", -0.25)),
        ("pin", "a;b=.5:thai", PinToken("a;b", 0.5, "thai")),
        ("flatten", "count", Flatten("count")),
        ("flatten", "count=1:", Flatten("count", low=1.0)),
        ("flatten", "count=a; b", Flatten("count", categories=("a", "b"))),
        ("cap", "count=-1:2.5", Cap("count", -1.0, 2.5)),
        ("forbid", "count", Forbid("count")),
    ],
)
def test_texts(recipes: Path, kind: str, text: str, edit: Edit) -> None:
    texts: dict[str, Any] = {"drop": [], "pin": [], "flatten": [], "cap": [], "forbid": []}
    assert list(edits_of(cs.load(recipes / "model"), texts | {kind: [text]})) == [edit]
