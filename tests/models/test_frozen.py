import json
import subprocess
import sys
from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.artifact import ArtifactError

RNG = np.random.default_rng(1)
ITEMS = [*(f"i{k}" for k in range(11)), "ä\n'"]
SETS = [RNG.choice(ITEMS, RNG.integers(0, 6), replace=False).tolist() for _ in range(300)]
WORTH = dict(zip(ITEMS, RNG.normal(size=12), strict=True))
SUMS = np.array([sum(WORTH[item] for item in row) for row in SETS])
CUISINES = np.array(["greek", "irish", "thai"])[np.digitize(SUMS, [-0.7, 0.7])]
SEEN = [*SETS, [], ["unknown"], ["i3", "i3", "unknown"]]
QUICK = {"epochs": 3, "random_state": 0, "n_jobs": 1}


class Letters:
    """A tokenizer of one's own."""

    def tokens(self, example):
        return [(letter,) for letter in "".join(example)]


OWN = {"features": ["log_odds", "count", "size", "entropy", "lift", "interval"]}
MODELS = {
    "number": (cs.SemanticRegressor, SUMS, {"features": ["mean_label", "count"]}),
    "counts": (cs.SemanticRegressor, np.exp(SUMS), {"features": ["mean_label"], "loss": "poisson"}),
    "two classes": (cs.SemanticClassifier, SUMS > 0, {**OWN, "refine": True, "cover": False}),
    "three classes": (cs.SemanticClassifier, CUISINES, {**OWN, "refine": 2, "width": 2}),
    "each class": (cs.SemanticClassifier, CUISINES, {**OWN, "loss": "binary_log_loss", "width": 3}),
    "engine": (cs.SemanticFeatureEngine, CUISINES, OWN),
    "no folds": (cs.SemanticRegressor, SUMS, {"features": ["mean_label"], "cross_fit": None}),
    "no validation": (cs.SemanticClassifier, CUISINES, {**OWN, "early_stopping": False}),
}


@cache
def model_of(name):
    kind, y, options = MODELS[name]
    return kind(**{"tokens": cs.Subsets(2), "filters": [cs.MinCount(3)], **QUICK, **options}).fit(SETS, y)


def same_predictions(frozen, model, X=SEEN):
    """See that a frozen model predicts what the model does."""
    np.testing.assert_allclose(frozen.outputs(X), model.as_model().read(X).outputs(), atol=1e-6, rtol=0)
    if hasattr(model, "transform"):
        np.testing.assert_allclose(frozen.transform(X), model.transform(X), atol=1e-6, rtol=0)
        return
    predicted = model.predict(X)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(frozen.predict_proba(X), model.predict_proba(X), atol=1e-6, rtol=0)
        assert (frozen.predict(X) == predicted).all()
        assert frozen.predict(X).dtype == predicted.dtype
    else:
        np.testing.assert_allclose(frozen.predict(X), predicted, atol=1e-6, rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_predicts_what_the_model_does_before_and_after_a_file(name, tmp_path):
    model = model_of(name)
    frozen = model.freeze()
    same_predictions(frozen, model)
    frozen.save(tmp_path / "model.parquet")
    again = cs.FrozenModel.load(tmp_path / "model.parquet")
    np.testing.assert_array_equal(again.outputs(SEEN), frozen.outputs(SEEN))
    same_predictions(again, model)
    assert repr(again) == repr(frozen)


def test_scores_are_phi_of_every_token():
    model = model_of("three classes")
    frozen = model.freeze()
    alone = [list(model.token_table_.spell(number)) for number in range(len(model.token_table_))]
    scores, offsets = model.phi([*alone, []])
    assert (np.diff(offsets) == 1).all()
    np.testing.assert_allclose(frozen.scores, scores[:-1], atol=1e-15)
    np.testing.assert_allclose(frozen.missing, scores[-1], atol=1e-15)


def test_of_a_set_without_known_tokens_the_usual_is_said():
    model = model_of("two classes")
    outputs = model.freeze().outputs([[], ["unknown", "unheard"]])
    np.testing.assert_array_equal(outputs, np.tile(model.as_model().link.nothing, (2, 1)))


def test_a_table_without_tokens(tmp_path):
    model = cs.SemanticRegressor(tokens=cs.Items(), filters=[cs.MinCount(10_000)], **QUICK)
    with pytest.warns(UserWarning, match="No token passed"):
        frozen = model.set_params(features=["mean_label", "count"]).fit(SETS, SUMS).freeze()
    same_predictions(frozen, model)
    frozen.save(tmp_path / "model.parquet")
    same_predictions(cs.FrozenModel.load(tmp_path / "model.parquet"), model)


def test_repeated_words_count_as_often_as_they_stand_there():
    texts = [" ".join(row) for row in SETS]
    options = {"features": ["mean_label", "size"], "tokens": cs.NGrams(2)}
    model = cs.SemanticRegressor(**options, **QUICK).fit(texts, SUMS)
    same_predictions(model.freeze(), model, ["i1 i1 i1 i2", "i2 i1", "", "i4"])


def test_columns_of_frames():
    frame = pl.DataFrame({"left": SETS, "right": SETS[::-1]})
    options = {"features": ["mean_label", "size"], "tokens": cs.Cross("left", "right")}
    model = cs.SemanticRegressor(**options, **QUICK).fit(frame, SUMS)
    same_predictions(model.freeze(), model, frame[:50])


def test_ones_own_tokenizer_is_given_again_on_loading(tmp_path):
    model = cs.SemanticRegressor(tokens=Letters(), features=["mean_label"], **QUICK).fit(SETS, SUMS)
    frozen = model.freeze()
    frozen.save(tmp_path / "model.parquet")
    same_predictions(cs.FrozenModel.load(tmp_path / "model.parquet", tokens=Letters()), model)
    with pytest.raises(ValueError, match="token"):
        cs.FrozenModel.load(tmp_path / "model.parquet")


def test_no_torch_is_needed(tmp_path):
    model = model_of("three classes")
    model.freeze().save(tmp_path / "model.parquet")
    code = (
        "import sys, clearset as cs; "
        f"frozen = cs.FrozenModel.load({str(tmp_path / 'model.parquet')!r}); "
        f"print(frozen.predict({SETS[:40]!r}).tolist(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == f"{model.predict(SETS[:40]).tolist()} False"


def test_features_of_the_set_prevent_it():
    options = {"features": ["mean_label", "tokens", "count", "whole"], "tokens": cs.Items()}
    model = cs.SemanticRegressor(**options, **QUICK).fit(SETS, SUMS)
    with pytest.raises(ValueError, match=r"'tokens', 'whole'.*features=\['mean_label', 'count'\]"):
        model.freeze()


def test_details_prevent_it():
    frame = pl.DataFrame({"items": SETS, "price": [[1.0] * len(row) for row in SETS]})
    options = {"features": ["mean_label", "price"], "details": ["price"], "tokens": cs.Items()}
    model = cs.SemanticRegressor(**options, **QUICK).fit(frame, SUMS)
    with pytest.raises(ValueError, match="'price'"):
        model.freeze()


def test_numbers_have_no_probabilities():
    frozen = model_of("number").freeze()
    assert not hasattr(frozen, "predict_proba")


def test_says_its_size():
    frozen = model_of("three classes").freeze()
    assert frozen.nbytes > frozen.scores.nbytes + len(frozen.scores) * 3 * 4
    assert f"{len(frozen.scores)} tokens, 3 classes, width 2" in repr(frozen)


def test_files_that_are_no_frozen_model(tmp_path):
    path = tmp_path / "file.parquet"
    with pytest.raises(FileNotFoundError, match="no such file"):
        cs.FrozenModel.load(path)
    path.write_bytes(b"PAR1 and more")
    with pytest.raises(ValueError, match="damaged or was edited"):
        cs.FrozenModel.load(path)
    path.write_bytes(b"token,score")
    with pytest.raises(ValueError, match="no frozen model: it is no Parquet file"):
        cs.FrozenModel.load(path)
    model_of("number").token_table_.save(path)
    with pytest.raises(ValueError, match="no frozen model"):
        cs.FrozenModel.load(path)
    with pytest.raises(OSError, match="Cannot save"):
        model_of("number").freeze().save(tmp_path)


def test_the_file_is_a_token_table_as_well(tmp_path):
    model = model_of("number")
    model.freeze().save(tmp_path / "model.parquet")
    table = cs.TokenTable.load(tmp_path / "model.parquet")
    assert table.lookup(["i1"]) == model.token_table_.lookup(["i1"])
    assert table.examples is None


def test_damaged_files_are_refused(tmp_path):
    path, rng = tmp_path / "frozen.parquet", np.random.default_rng(5)
    model_of("three classes").freeze().save(path)
    content = path.read_bytes()
    bits = rng.choice(8 * len(content), 400, replace=False)
    flipped = [content[: b // 8] + bytes([content[b // 8] ^ 1 << b % 8]) + content[b // 8 + 1 :] for b in bits.tolist()]
    for damaged in flipped + [content[:n] for n in rng.choice(len(content), 100, replace=False)]:
        path.write_bytes(damaged)
        with pytest.raises(ArtifactError, match=r"frozen\.parquet.* (damaged|Give a file that FrozenModel.save wrote)"):
            cs.FrozenModel.load(path)


def without_checksum(path, **changes):
    """Write a frozen model as the first version did, with changes of what it says of itself."""
    rows = pa.parquet.read_table(path)
    described = {key: {**json.loads(text), "version": 1} for key, text in rows.schema.metadata.items()}
    described[b"clearset_frozen_model"] |= changes
    rows = rows.replace_schema_metadata({key: json.dumps(document) for key, document in described.items()})
    pa.parquet.write_table(rows, path)


def test_files_of_the_first_version(tmp_path):
    frozen = model_of("three classes").freeze()
    frozen.save(tmp_path / "frozen.parquet")
    without_checksum(tmp_path / "frozen.parquet")
    again = cs.FrozenModel.load(tmp_path / "frozen.parquet")
    np.testing.assert_array_equal(again.outputs(SEEN), frozen.outputs(SEEN))


@pytest.mark.parametrize(
    "changes",
    [
        {"rho": []},
        {"rho": [[1], [2]]},
        {"classes": 3},
        {"class_type": "odd"},
        {"missing": "none"},
        {"missing": [[0.0]]},
        {"support": []},
        {"version": 2},
        {"version": None},
    ],
    ids=str,
)
def test_files_that_describe_no_model(changes, tmp_path):
    path = tmp_path / "frozen.parquet"
    model_of("three classes").freeze().save(path)
    without_checksum(path, **changes)
    with pytest.raises(ArtifactError, match=r"frozen\.parquet.* damaged or was edited"):
        cs.FrozenModel.load(path)
