"""Semantic estimators that train and predict on an NVIDIA GPU, against the same on the CPU."""

import gc
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.engines import CROSSED_BLOCK_TOKENS, available_engines, engine
from clearset.estimators import _model_estimator
from clearset.training import _fitting

GPU = "cuda"
HAS_GPU = GPU in available_engines()
needs_a_gpu = pytest.mark.skipif(not HAS_GPU, reason="there is no NVIDIA GPU, or torch does not see it")
N, N_NEW = 4000, 2000


def table(n: int, seed: int) -> pa.Table:
    """Sets of items, some of them empty, with a number for each item; labels of three kinds, weights and groups."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 61)
    sizes, codes = rng.integers(0, 8, n), rng.choice(60, (n, 7), p=shares / shares.sum())
    rows = [np.unique(codes[i, : sizes[i]]) for i in range(n)]
    score = np.array([np.sin(row).sum() for row in rows])
    noisy = score + rng.normal(scale=0.5, size=n)
    items = [[f"item {code}" for code in row] for row in rows]
    return pa.table(
        {
            "items": items,
            "others": [[f"other {code % 5}" for code in row[:2]] for row in rows],
            "salary": [rng.exponential(size=len(row)).tolist() for row in rows],
            "text": [" ".join(row) for row in items],
            "number": noisy,
            "class": np.array(["low", "middle", "high"])[np.digitize(noisy, [-0.7, 0.7])],
            "sixth": np.digitize(noisy, [-1.5, -0.7, 0.0, 0.7, 1.5]),
            "two": noisy > 0,
            "weight": rng.uniform(0, 2, n).round() * rng.uniform(1, 2, n),
            "group": rng.integers(0, n // 10, n),
        }
    )


TRAINING, NEW = table(N, 0), table(N_NEW, 1)


class Case(NamedTuple):
    """What is fitted, on which columns."""

    kind: Any
    options: dict[str, Any]
    label: str
    columns: tuple[str, ...] = ("items",)
    beside: tuple[str, ...] = ()  # of weight and group

    def make(self, device: str, **changes: Any) -> Any:
        return self.kind(**{"epochs": 12, "random_state": 0, "device": device, **self.options, **changes})

    def fitted(self, device: str, **changes: Any) -> Any:
        given = {
            {"weight": "sample_weight", "group": "groups"}[name]: TRAINING[name].to_numpy() for name in self.beside
        }
        labels = TRAINING[self.label].to_numpy(zero_copy_only=False)
        return self.make(device, **changes).fit(TRAINING.select(self.columns), labels, **given)

    def outputs(self, model: Any) -> np.ndarray:
        """Numbers, or the probabilities of classes, of sets that are new."""
        new = NEW.select(self.columns)
        return model.predict_proba(new) if hasattr(model, "predict_proba") else model.predict(new)

    def loss(self, outputs: np.ndarray) -> float:
        labels = NEW[self.label].to_numpy(zero_copy_only=False)
        if outputs.ndim == 1:
            return float(((outputs - labels) ** 2).mean())
        classes = np.unique(TRAINING[self.label].to_numpy(zero_copy_only=False))
        return float(-np.log(outputs[np.arange(len(labels)), np.searchsorted(classes, labels)]).mean())


CLASSIFIER, REGRESSOR = cs.SemanticClassifier, cs.SemanticRegressor
CASES = {
    "two classes": Case(CLASSIFIER, {"tokens": cs.Items(), "refine": 0}, "two"),
    "two classes, corrections": Case(CLASSIFIER, {"tokens": cs.Items(), "refine": 1}, "two"),
    "three classes, corrections": Case(CLASSIFIER, {"tokens": cs.Items(), "refine": 1}, "class"),
    "six classes, pairs, corrections of pairs": Case(
        CLASSIFIER, {"tokens": cs.Subsets(2), "filters": [cs.MinCount(10)], "refine": 2}, "sixth"
    ),
    "width 2": Case(CLASSIFIER, {"tokens": cs.Items(), "width": 2, "refine": 1}, "class"),
    "width 5, without cover": Case(
        CLASSIFIER, {"tokens": cs.Subsets(2), "filters": [cs.MinCount(20)], "width": 5, "cover": False}, "two"
    ),
    "numbers": Case(REGRESSOR, {"tokens": cs.Items(), "refine": 0}, "number"),
    "numbers, width 2, corrections": Case(REGRESSOR, {"tokens": cs.Items(), "width": 2, "refine": 1}, "number"),
    "numbers, absolute errors": Case(
        REGRESSOR, {"tokens": cs.Items(), "loss": "absolute_error", "refine": 1}, "number", beside=("weight",)
    ),
    "weights, groups, balanced classes": Case(
        CLASSIFIER, {"tokens": cs.Items(), "class_weight": "balanced", "refine": 1}, "class", beside=("weight", "group")
    ),
    "each class on its own": Case(CLASSIFIER, {"tokens": cs.Items(), "loss": "binary_log_loss"}, "class"),
    "many features, a trust, details": Case(
        REGRESSOR,
        {
            "tokens": cs.Subsets(2),
            "features": ["mean_label", "count", "size", "interval", "lift", "items", "salary"],
            "details": ["salary"],
            "trusts": [cs.Trust("mean_label", by="count")],
        },
        "number",
        ("items", "salary"),
    ),
    "light touch, Adagrad": Case(
        CLASSIFIER,
        {"tokens": cs.Items(), "constraints": "light_touch", "optimizer": "adagrad", "learning_rate": 0.2},
        "two",
    ),
    "without validation and folds": Case(
        REGRESSOR, {"tokens": cs.Items(), "cross_fit": None, "early_stopping": False, "refine": 1}, "number"
    ),
    "n-grams of texts": Case(CLASSIFIER, {"tokens": cs.NGrams(2), "filters": [cs.MinCount(5)]}, "class", ("text",)),
    "pairs of columns": Case(REGRESSOR, {"tokens": cs.Cross("items", "others")}, "number", ("items", "others")),
    "all is chosen, classes": Case(CLASSIFIER, {}, "class"),
    "all is chosen, numbers": Case(REGRESSOR, {}, "number"),
}


def digest(model: Any) -> list[bytes]:
    """All that was learned, as bytes."""
    learned, support = model.token_table_, model.set_function_.support
    corrections = np.zeros(0) if learned.corrections is None else learned.corrections.amounts
    parts = [*model.set_function_.tables.values(), *model.binning_.keypoints, support.base, corrections]
    words = [str(model.setting_), str(model.choices_), str(model.history_)]
    return [np.ascontiguousarray(part).tobytes() for part in parts] + [text.encode() for text in words]


@needs_a_gpu
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_as_good_as_on_the_cpu(case: Case, tmp_path: Path) -> None:
    """The same quality on new sets, the same promises, the same bits again, saved and loaded as any."""
    ours, other = case.fitted(GPU), case.fitted("cpu")
    outputs, on_cpu = case.outputs(ours), case.outputs(other)
    assert np.isfinite(outputs).all()
    loss, constant = case.loss(outputs), case.loss(np.broadcast_to(on_cpu.mean(axis=0), on_cpu.shape))
    # Steps differ by rounding, which may end training an epoch earlier or choose another of two like settings.
    assert loss == pytest.approx(case.loss(on_cpu), rel=0.03)
    assert loss < 0.9 * constant
    assert np.abs(outputs - on_cpu).mean() < 0.2 * np.abs(on_cpu - on_cpu.mean(axis=0)).mean()
    if ours.constraints == "project":
        assert ours.verify()
    assert digest(case.fitted(GPU)) == digest(ours)
    ours.save(tmp_path / "model")
    np.testing.assert_array_equal(case.outputs(cs.load(tmp_path / "model")), outputs)
    # On the CPU the same model says the same.
    np.testing.assert_allclose(case.outputs(ours.set_params(device="cpu")), outputs, rtol=1e-6, atol=1e-9)


@needs_a_gpu
def test_what_each_token_adds_is_what_it_adds_on_the_cpu() -> None:
    case = CASES["three classes, corrections"]
    model, some = case.fitted(GPU), NEW.select(["items"])[:100]
    ours = model.explain(some).to_frame()
    expected = model.set_params(device="cpu").explain(some).to_frame()
    assert ours.column_names == expected.column_names
    for name in ours.column_names:
        if pa.types.is_floating(ours.schema.field(name).type):
            np.testing.assert_allclose(ours[name].to_numpy(), expected[name].to_numpy(), rtol=1e-6, atol=1e-9)
        else:
            assert ours[name].equals(expected[name])


def many(n: int, n_classes: int) -> tuple[list[list[str]], np.ndarray]:
    """More tokens than are placed at once."""
    rng = np.random.default_rng(0)
    rows, effects = rng.integers(0, 60, (n, 6)), rng.normal(size=(60, n_classes))
    labels = (effects[rows].sum(axis=1) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    return [[f"item {item}" for item in row] for row in rows.tolist()], labels


@needs_a_gpu
@pytest.mark.parametrize("refine", [0, 1])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_tokens_than_are_placed_at_once(n_classes: int, refine: int) -> None:
    """They are gone through in another order than on the CPU, where epochs go through blocks."""
    X, y = many(100_000, n_classes)
    new, labels = X[80_000:], y[80_000:]
    X, y = X[:80_000], y[:80_000]
    assert sum(map(len, map(set, X))) > CROSSED_BLOCK_TOKENS
    options = {"tokens": cs.Items(), "refine": refine, "epochs": 5, "random_state": 0}
    ours, other = (cs.SemanticClassifier(device=device, **options).fit(X, y) for device in (GPU, "cpu"))
    losses = [-np.log(model.predict_proba(new)[np.arange(len(new)), labels]).mean() for model in (ours, other)]
    assert losses[0] == pytest.approx(losses[1], rel=0.01)
    assert losses[0] < 0.9 * np.log(n_classes)
    assert ours.verify()
    assert digest(cs.SemanticClassifier(device=GPU, **options).fit(X, y)) == digest(ours)


@needs_a_gpu
def test_tables_and_set_functions_are_made_anew() -> None:
    case = CASES["three classes, corrections"]
    model, labels = case.fitted(GPU), NEW["class"].to_numpy()
    before = case.loss(case.outputs(model))
    model.refresh_table(NEW.select(["items"]), labels)
    model.refit_set_function(NEW.select(["items"]), labels)
    assert case.loss(case.outputs(model)) < 1.1 * before
    assert model.verify()


@needs_a_gpu
def test_files_that_fit_into_memory(tmp_path: Path) -> None:
    case = CASES["three classes, corrections"]
    pq.write_table(TRAINING.select(["items", "class"]), tmp_path / "part.parquet", row_group_size=170)
    assert digest(case.make(GPU).fit(tmp_path, "class")) == digest(case.fitted(GPU))


@needs_a_gpu
def test_features_for_other_models() -> None:
    engines = [
        cs.SemanticFeatureEngine(cs.Items(), epochs=12, random_state=0, device=device).fit(
            TRAINING.select(["items"]), TRAINING["number"].to_numpy()
        )
        for device in (GPU, "cpu")
    ]
    ours, other = (np.asarray(each.transform(NEW.select(["items"]))) for each in engines)
    assert ours.shape == other.shape
    assert np.abs(ours - other).mean() < 0.1 * np.abs(other - other.mean(axis=0)).mean()


@needs_a_gpu
def test_there_are_no_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"checkpoint is for fits on the CPU; device is 'cuda'"):
        CASES["numbers"].make("cuda").fit(TRAINING.select(["items"]), TRAINING["number"], checkpoint=tmp_path / "kept")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif("cuda" not in available_engines(), reason="there is no NVIDIA GPU, or torch does not see it")
def test_too_little_memory_is_told_and_given_back() -> None:
    """A fit that does not fit leaves the estimator and the device as they were; predictions go in smaller pieces."""
    import torch

    X, y = many(80_000, 2)
    options = {"tokens": cs.Items(), "refine": 1, "epochs": 2, "random_state": 0, "device": "cuda"}
    model = cs.SemanticClassifier(**options).fit(X, y)
    expected = model.predict_proba(X)
    gc.collect()
    torch.cuda.empty_cache()
    used, total = torch.cuda.memory_allocated(), torch.cuda.get_device_properties(0).total_memory
    assert used < 2**22  # nothing is left of the training
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 2**24) / total)
    try:
        with pytest.raises(MemoryError, match=r"The training sets do not fit into the memory of .*device='cpu'"):
            model.fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), expected)
        assert cs.SemanticClassifier(**options).fit(X[:2000], y[:2000]).verify()
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    np.testing.assert_array_equal(cs.SemanticClassifier(**options).fit(X, y).predict_proba(X), expected)


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_every_training_of_a_semantic_fit_is_on_the_device(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """Which engine is asked for; another one does its work where there is no GPU."""
    asked = []

    def recording(name: str | None = None) -> Any:
        asked.append(name)
        return engine()

    monkeypatch.setattr(_fitting, "engine", recording)
    monkeypatch.setattr(_model_estimator, "engine", recording)
    X, y = many(400, 2)
    model = cs.SemanticClassifier(cs.Items(), refine=1, epochs=2, random_state=0, device=device).fit(X, y)
    # Settings are tried without corrections and with, in the end on all examples.
    trainings = [None, None, None, None, None] if device == "auto" else ["cuda"] * 6
    assert asked[: len(trainings)] == trainings
    assert set(asked) == set(trainings)
    plain = cs.SemanticClassifier(cs.Items(), refine=1, epochs=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.set_params(device="cpu").predict_proba(X), plain.predict_proba(X))
