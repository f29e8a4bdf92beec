"""Saving and loading of semantic estimators: the same model to the last bit, and nothing else from the file."""

import copy
import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

import clearset as cs

N = 160
RNG = np.random.default_rng(7)
ITEMS = ["salt", "Crème brûlée", "塩", "two\nlines", "", "a;b", "l'ail", "𝄞", *map(str, range(6))]
X = [RNG.choice(ITEMS, RNG.integers(0, 6)).tolist() for _ in range(N)]
PAIRS = [(row, X[place - 1]) for place, row in enumerate(X)]
TEXTS = [" ".join(row) for row in X]
LABELS: dict[str, Any] = {
    "number": RNG.normal(size=N) + [3.0 * ("salt" in row) for row in X],
    "two": np.array(["no", "yes, naïve"])[RNG.integers(0, 2, N)],
    "bool": RNG.integers(0, 2, N).astype(bool),
    "int": RNG.integers(-1, 3, N).astype(np.int16),
    "texts": RNG.choice(["Ä", "b", "c\n"], N),
}


class Neighbours:
    """The items, and those that follow one another."""

    def __init__(self, glue: str = "+") -> None:
        self.glue = glue

    def tokens(self, example: list[str] | None) -> list[Any]:
        row = [item for item in example or () if item]
        return [*row, *pairwise(row)]


class Others(Neighbours):
    pass


def by_blanks(text: str) -> list[str]:
    return text.split(" ")


def frequent(statistics: Any) -> np.ndarray:
    return np.asarray(statistics.counts >= 3)


def engine(cls: type = cs.SemanticFeatureEngine, **options: Any) -> Any:
    return cls(**{"tokens": cs.Items(), "refine": True, "epochs": 2, "random_state": 0, "n_jobs": 1} | options)


def restored(path: Path, **options: Any) -> Any:
    """Load a model, as the estimator that fitted it."""
    return cs.as_estimator(cs.load(path, **options))


def assert_same(first: Any, second: Any, data: Any) -> None:
    """Compare all that a fitted estimator says of itself, and what it makes of data."""
    assert type(second) is type(first)
    for name in ("transform", "predict", "predict_proba", "decision_function"):
        if hasattr(first, name):
            mine, other = getattr(first, name)(data), getattr(second, name)(data)
            assert mine.dtype == other.dtype
            assert np.array_equal(mine, other), name
    assert hasattr(first, "classes_") == hasattr(second, "classes_")
    if hasattr(first, "classes_"):
        assert first.classes_.dtype == second.classes_.dtype
        assert first.classes_.tolist() == second.classes_.tolist()
    for name in ("setting_", "choices_", "history_", "features_", "trusts_", "certificate_", "loss_"):
        assert getattr(second, name) == getattr(first, name), name
    assert (second.best_epoch_, second.interrupted_) == (first.best_epoch_, first.interrupted_)
    assert second.verify() == first.verify()
    assert second.token_table_.to_arrow().equals(first.token_table_.to_arrow())
    assert second.token_table_.filters == first.token_table_.filters
    assert second.token_table_.examples is None
    mine, other = first.get_params(deep=False), second.get_params(deep=False)
    assert mine.keys() == other.keys()
    for name, value in mine.items():
        same = tuple(other[name]) == tuple(value) if isinstance(value, list | tuple) else other[name] == value
        assert same, name


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_every_kind(labels: str, refine: bool, tmp_path: Path) -> None:
    y = LABELS[labels]
    cls = cs.SemanticRegressor if labels == "number" else cs.SemanticClassifier
    for one in (cls, cs.SemanticFeatureEngine):
        model = engine(one, refine=refine, tokens=cs.Subsets(2), filters=[cs.MinCount(2)]).fit(X, y)
        assert (model.token_table_.corrections is not None) == refine
        model.save(tmp_path / "model")
        again = restored(tmp_path / "model")
        assert_same(model, again, X)
        again.save(str(tmp_path / "second"))
        assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize(
    ("tokens", "data"),
    [
        (cs.Items(), X),
        (cs.Subsets(), X),
        (cs.Subsets(3), pd.DataFrame({"items": X})),
        (cs.NGrams(2), TEXTS),
        (cs.NGrams(3), pa.table({"words": X})),
        (cs.Cross(), PAIRS),
        (cs.Cross("a", "b"), pa.table({"a": X, "b": X[::-1]})),
        (cs.Difference(), PAIRS),
        (cs.Difference(0, 1, max_size=None), PAIRS),
    ],
    ids=repr,
)
def test_tokenizers(tokens: Any, data: Any, tmp_path: Path) -> None:
    for cover in (True, False):
        model = engine(tokens=tokens, cover=cover, width=2).fit(data, LABELS["texts"])
        model.save(tmp_path / "model")
        again = restored(tmp_path / "model")
        assert_same(model, again, data)
        assert hasattr(again, "feature_names_in_") == hasattr(data, "columns")
    if hasattr(data, "columns"):
        names = data.column_names if isinstance(data, pa.Table) else list(data.columns)
        assert again.feature_names_in_.tolist() == names


def test_chosen_settings(tmp_path: Path) -> None:
    many, y = X * 4, np.tile(LABELS["two"], 4)
    model = cs.SemanticClassifier(epochs=2, random_state=3, validation_fraction=0.2, n_jobs=1).fit(many, y)
    assert len(model.choices_) > 1
    model.save(tmp_path / "model")
    assert_same(model, restored(tmp_path / "model"), X)


def test_every_parameter(tmp_path: Path) -> None:
    frame = pa.table({"items": X, "grams": [[float(len(item)) for item in row] for row in X]})
    model = cs.SemanticRegressor(
        cs.Subsets(2),
        cs.MinCount(2) | (cs.MaxInterval(1.5, level=0.9) & cs.MaxSize(1)),
        cross_fit=None,
        width=np.int64(1),
        cover=np.False_,
        refine=2,
        features=["count", cs.Feature("mean_label", keypoints=5, bounds=(None, 4.0)), "lift", "grams", "whole"],
        details=["grams"],
        trusts=[cs.Trust("mean_label", by="count")],
        shrinkage=0.5,
        keypoints=6,
        rho_keypoints=7,
        loss="absolute_error",
        optimizer="adagrad",
        constraints="light_touch",
        smoothness=1.0,
        learning_rate=np.float32(0.03),
        epochs=2,
        batch_size=64,
        validation_fraction=0.4,
        patience=1,
        random_state=5,
        n_jobs=1,
    ).fit(frame, LABELS["number"])
    model.save(tmp_path / "model")
    again = restored(tmp_path / "model")
    assert_same(model, again, frame)
    assert again.filters == model.filters
    assert again.trusts_ == (cs.Trust("mean_label", by="count"),)


def test_a_loaded_model_goes_on(tmp_path: Path) -> None:
    y = LABELS["texts"]
    model = engine(cs.SemanticClassifier, tokens=cs.Subsets(2)).fit(X, y)
    model.save(tmp_path / "model")
    for step in ("refresh_table", "refit_set_function", "fit"):
        first, second = copy.deepcopy(model), restored(tmp_path / "model")
        for one in (first, second):
            getattr(one, step)(X[:90], y[:90])
        assert np.array_equal(first.predict_proba(X), second.predict_proba(X)), step
        second.save(tmp_path / "next")
        assert_same(second, restored(tmp_path / "next"), X)


def test_corrections_of_which_none_is_left(tmp_path: Path) -> None:
    for y in (LABELS["texts"], LABELS["number"]):
        model = engine().fit(X, y).refresh_table([["new"], ["other"]] * 10, y[:20])
        assert len(model.token_table_.corrections.tokens) == 0
        model.save(tmp_path / "model")
        assert_same(model, restored(tmp_path / "model"), [["new"], ["salt"], []])


def test_a_table_without_tokens(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="No token passed"):
        model = engine(filters=cs.MinCount(1000)).fit(X, LABELS["int"])
    assert len(model.token_table_) == 0
    model.save(tmp_path / "model")
    assert_same(model, restored(tmp_path / "model"), X)


def test_a_table_of_other_labels(tmp_path: Path) -> None:
    model = engine().fit(X, LABELS["two"], token_X=X[::2], token_y=LABELS["number"][::2])
    assert model.features_[0].name == "mean_label"
    model.save(tmp_path / "model")
    assert_same(model, restored(tmp_path / "model"), X)


# Code of one's own


@pytest.mark.parametrize(
    ("tokens", "other", "data"),
    [
        (Neighbours("-"), Others(), X),
        (cs.NGrams(2, split=by_blanks), cs.NGrams(2), TEXTS),
        (cs.NGrams(1, split=by_blanks), cs.NGrams(2, split=by_blanks), TEXTS),
    ],
    ids=["own", "split", "another order"],
)
def test_own_tokenizers_are_passed_again(tokens: Any, other: Any, data: Any, tmp_path: Path) -> None:
    path = tmp_path / "model"
    model = engine(cs.SemanticClassifier, tokens=tokens).fit(data, LABELS["texts"])
    model.save(path)
    again = restored(path, tokens=tokens)
    assert again.tokens is tokens
    assert_same(model, again, data)
    again.refresh_table(data, LABELS["texts"])
    with pytest.raises(cs.ArtifactError, match=r"Cannot load .*files hold no code. Pass it: load\(path, tokens="):
        cs.load(path)
    with pytest.raises(cs.ArtifactError, match=r"was made with the tokenizer .* but tokens="):
        cs.load(path, tokens=other)


def test_tokens_that_are_not_needed(tmp_path: Path) -> None:
    engine(tokens=cs.Subsets(2)).fit(X, LABELS["two"]).save(tmp_path / "model")
    assert cs.load(tmp_path / "model", tokens=cs.Subsets(2)).setting_.tokens == cs.Subsets(2)
    with pytest.raises(cs.ArtifactError, match="was made with the tokenizer"):
        cs.load(tmp_path / "model", tokens=cs.Subsets(3))
    cs.SetRegressor(epochs=1).fit([[0.0], [1.0]], [0.0, 1.0]).save(tmp_path / "plain")
    with pytest.raises(ValueError, match="without a token table"):
        cs.load(tmp_path / "plain", tokens=cs.Items())


@pytest.mark.parametrize(
    "filters", [frequent, [cs.MinCount(2), frequent], cs.MinCount(9) | frequent], ids=["own", "both", "either"]
)
def test_own_filters(filters: Any, tmp_path: Path) -> None:
    model = engine(filters=filters).fit(X, LABELS["two"])
    model.save(tmp_path / "model")
    blind = restored(tmp_path / "model")
    assert np.array_equal(blind.transform(X), model.transform(X))
    with pytest.raises(ValueError, match=r"'frequent', and files hold no code.*filters=\[...\]"):
        blind.refresh_table(X, LABELS["two"])
    blind.save(tmp_path / "again")  # a blind copy knows what it does not have
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    seeing = restored(tmp_path / "model", filters=filters)
    assert_same(model, seeing, X)
    seeing.refresh_table(X, LABELS["two"])
    with pytest.raises(cs.ArtifactError, match=r"It was made with the filters .* but filters="):
        cs.load(tmp_path / "model", filters=[cs.MinCount(77)])


# What the file holds


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model"
    engine(cs.SemanticClassifier, tokens=cs.Subsets(2)).fit(X, LABELS["texts"]).save(path)
    return path


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_file_holds_neither_code_nor_examples(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = members(saved)
    assert sorted(content) == ["arrays.safetensors", "manifest.json", "model.json", "tokens.parquet"]
    assert not any(part.startswith(b"\x80") for part in content.values())
    table = pa.parquet.read_table(io.BytesIO(content["tokens.parquet"]))
    assert max(map(len, table["token"].to_pylist())) == 2
    assert max(map(len, X)) == 5
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, lambda *_, **__: pytest.fail("something was unpickled"))
    cs.load(saved)


def test_nothing_fitted_nothing_saved(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not fitted"):
        engine().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


Parts = tuple[dict[str, Any], dict[str, np.ndarray], dict[str, Any]]
Change = Callable[[Parts], Any]


def forged(path: Path, target: Path, change: Change) -> Path:
    """Change a file's content and put right checksums on it, as a forger would."""
    content = members(path)
    table = pa.parquet.read_table(io.BytesIO(content["tokens.parquet"]))
    about = json.loads(table.schema.metadata[b"clearset_token_table"])
    about["version"] = 1  # without a checksum of its own
    parts = {"table": table, "about": about, "bytes": None}
    document, arrays = json.loads(content["model.json"]), dict(read_tensors(content["arrays.safetensors"]))
    change((document, arrays, parts))
    buffer = io.BytesIO()
    described = parts["table"].replace_schema_metadata({"clearset_token_table": json.dumps(parts["about"])})
    pa.parquet.write_table(described, buffer)
    content["model.json"] = json.dumps(document).encode()
    content["arrays.safetensors"] = write_tensors(arrays)
    content["tokens.parquet"] = buffer.getvalue() if parts["bytes"] is None else parts["bytes"]
    manifest = json.loads(content["manifest.json"])
    manifest["sha256"] = {name: hashlib.sha256(content[name]).hexdigest() for name in manifest["sha256"]}
    content["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, part in content.items():
            archive.writestr(name, part)
    return target


def setting(*keys: Any, to: Any) -> Change:
    """Give a change of one entry of the document."""

    def change(parts: Parts) -> None:
        place: Any = parts[0]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to

    return change


def about(key: str, to: Any) -> Change:
    """Give a change of what the table says of itself."""
    return lambda parts: parts[2]["about"].update({key: to})


def column(name: str, change: Callable[[pa.ChunkedArray], Any]) -> Change:
    """Give a change of a column of the table."""

    def apply(parts: Parts) -> None:
        table = parts[2]["table"]
        parts[2]["table"] = table.set_column(table.column_names.index(name), name, change(table[name]))

    return apply


def raw(content: bytes) -> Change:
    return lambda parts: parts[2].update({"bytes": content})


def numbers(column: pa.ChunkedArray, change: Callable[[np.ndarray], Any]) -> pa.Array:
    flat = column.combine_chunks().flatten().to_numpy().astype(np.float64)
    return pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(change(flat))), 3)


FORGERIES: dict[str, Change] = {
    "unknown estimator": setting("estimator", to="os.system"),
    "an estimator of sets": setting("estimator", to="SetClassifier"),
    "a regressor": setting("estimator", to="SemanticRegressor"),
    "estimator a list": setting("estimator", to=[]),
    "parameters a list": setting("parameters", to=[]),
    "tokens a string": setting("parameters", "tokens", to="os"),
    "tokens of an unknown kind": setting("parameters", "tokens", to={"kind": "builtins.eval"}),
    "tokens with more": setting("parameters", "tokens", to={"kind": "items", "more": 1}),
    "own tokens": setting("setting", "tokens", to={"kind": "own", "class": "os.system"}),
    "other tokens": setting("setting", "tokens", to={"kind": "items"}),
    "filters of an unknown kind": setting("setting", "filters", to=[{"kind": "eval"}]),
    "filters a number": setting("setting", "filters", to=3),
    "deep filters": setting("setting", "filters", to=[json.loads('{"kind":"all_of","filters":[' * 400 + "]}" * 400)]),
    "width of another setting": setting("setting", "width", to=2),
    "cover a string": setting("setting", "cover", to="yes"),
    "refine a float": setting("setting", "refine", to=1.0),
    "no setting": lambda parts: parts[0].pop("setting"),
    "a setting with more": setting("setting", "more", to=1),
    "classes of other labels": setting("classes", "labels", to=["a", "b", "c"]),
    "classes in disorder": setting("classes", "labels", to=["b", "Ä", "c\n"]),
    "two classes": setting("classes", to={"labels": ["Ä", "b"], "dtype": "<U2"}),
    "no classes": setting("classes", to=None),
    "loss of a number": setting("loss", to="squared_error"),
    "features without a value": setting("binning", "features", 0, "name", to="size"),
    "an unknown feature": setting("binning", "features", 1, "name", to="colour"),
    "two values": setting("binning", "features", 1, "name", to="mean_label"),
    "another value than that of the corrections": setting("binning", "features", 0, "name", to="mean_label"),
    "keypoints that fall": setting("binning", "keypoints", 0, to=[2.0, 1.0]),
    "another layout": setting("layout", "sizes", to=[3] * 6),
    "outputs": setting("outputs", to=3),
    "NaN in an array": lambda parts: parts[1].update({"phi.vertices": parts[1]["phi.vertices"] * np.nan}),
    "another shape": lambda parts: parts[1].update({"rho.output": parts[1]["rho.output"][:, :-1].copy()}),
    "an array less": lambda parts: parts[1].pop("rho.vertices"),
    "certificate a number": setting("certificate", to=1),
    "history a string": setting("history", to="losses"),
    "history of numbers": setting("history", to=[1]),
    "choices a string": setting("choices", to="settings"),
    "choices of numbers": setting("choices", to=[1]),
    "best epoch a string": setting("best_epoch", to="first"),
    "names a number": setting("feature_names_in", to=5),
    "trust on an unknown feature": setting("trusts", to=[{"feature": "a", "by": "b", "shape": "edgeworth"}]),
    "no table": raw(b""),
    "a pickle for a table": raw(pickle.dumps([1, 2])),
    "half a table": raw(b"PAR1\0\0\0\0PAR1"),
    "a table of other things": raw(
        (lambda file: (pa.parquet.write_table(pa.table({"a": [1]}), file), file.getvalue())[1])(io.BytesIO())
    ),
    "a table of a newer version": about("version", 99),
    "a table of a number": about("task", "number"),
    "a table of other classes": about("classes", ["a", "b", "c"]),
    "a table of fewer classes": about("classes", ["Ä", "b"]),
    "a prior that is none": about("prior", [float("nan")] * 3),
    "a prior of strings": about("prior", ["a", "b", "c"]),
    "what a table says is a list": lambda parts: parts[2].update({"about": []}),
    "corrections of another value": about("corrections", ["mean_label", 1.0]),
    "corrections a number": about("corrections", 5),
    "a column less": lambda parts: parts[2].update({"table": parts[2]["table"].drop_columns(["codes"])}),
    "tokens that are numbers": column("token", lambda c: pa.array(range(len(c)))),
    "tokens without items": column("codes", lambda c: pa.array([[]] * len(c), pa.large_list(pa.int32()))),
    "tokens twice": column("codes", lambda c: pa.array([[0]] * len(c), pa.large_list(pa.int32()))),
    "codes beyond the items": column("token", lambda c: pa.array([[]] * len(c), pa.large_list(pa.large_string()))),
    "counts of strings": column("count", lambda c: pa.array(["a"] * len(c))),
    "sums of infinity": column("sums", lambda c: numbers(c, lambda flat: flat + np.inf)),
    "sums of fewer classes": column("sums", lambda c: pa.FixedSizeListArray.from_arrays(pa.array(np.ones(len(c))), 1)),
    "corrections of infinity": column("correction", lambda c: numbers(c, lambda _: np.full(3 * len(c), np.inf))),
    "corrections of one class": column("correction", lambda c: pa.array(np.ones(len(c)))),
    "corrections of strings": column("correction", lambda c: pa.array(["a"] * len(c))),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_files_are_refused(saved: Path, tmp_path: Path, what: str) -> None:
    with pytest.raises(cs.ArtifactError, match="forged"):
        cs.load(forged(saved, tmp_path / "forged", FORGERIES[what]))


@pytest.mark.parametrize(("name", "value"), [("nonsense", 1), ("width", "2"), ("epochs", 0)])
def test_an_estimator_has_no_forged_parameters(saved: Path, tmp_path: Path, name: str, value: Any) -> None:
    loaded = cs.load(forged(saved, tmp_path / "forged", setting("parameters", name, to=value)))
    with pytest.raises(ValueError, match=name):
        cs.as_estimator(loaded)


def test_a_file_changed_in_nothing_is_read(saved: Path, tmp_path: Path) -> None:
    again = cs.load(forged(saved, tmp_path / "forged", lambda _: None))
    assert np.array_equal(again.predict_proba(X), cs.load(saved).predict_proba(X))


def test_damage_is_noticed(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    expected = cs.load(saved).predict_proba(X)
    for place in np.random.default_rng(0).integers(len(whole), size=200).tolist():
        path = tmp_path / "damaged"
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            again = cs.load(path)
        except cs.ArtifactError:
            continue
        assert np.array_equal(again.predict_proba(X), expected)
