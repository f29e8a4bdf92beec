"""What every fitted model promises: one class of tests, fed with each kind of model."""

import copy
import pickle
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone

import clearset as cs
from clearset.models import SemanticModel, SetModel

N = 120
RNG = np.random.default_rng(0)
SIZES = RNG.integers(0, 5, N)
SETS = pa.table(
    {
        "stars": [RNG.integers(1, 6, size).astype(float).tolist() for size in SIZES],
        "shop": [RNG.choice(["fair", "web"], size).tolist() for size in SIZES],
        "price": RNG.uniform(1, 20, N),
    }
)
ITEMS = np.array([f"item {letter}" for letter in "abcdefgh"])
BASKETS = [RNG.choice(ITEMS, size, replace=False).tolist() for size in SIZES]
NUMBERS = np.array([float(len(row)) for row in BASKETS]) + RNG.normal(0, 0.3, N)
TWO = np.where(NUMBERS > 2, "yes", "no")
THREE = np.array(["few", "many", "some"])[np.digitize(NUMBERS, [1.0, 3.0])]
QUICK: dict[str, Any] = {"epochs": 3, "random_state": 0, "n_jobs": 1}
FEATURES = ["stars", cs.Feature("shop", kind="categorical"), "price", cs.SIZE]
TOKENS: dict[str, Any] = {"tokens": cs.Subsets(2), "filters": [cs.MinCount(2)], "refine": True, **QUICK}


class Shared:
    """A fitted estimator, fitted once."""

    def __init__(self, estimator: Any, X: Any, y: Any, unseen: Any) -> None:
        self.estimator, self.X, self.y, self.unseen = estimator, X, y, unseen

    @cached_property
    def fitted(self) -> Any:
        return clone(self.estimator).fit(self.X, self.y)


def of_sets(estimator: Any, y: Any) -> Shared:
    return Shared(estimator, SETS, y, SETS[:40])


def of_items(estimator: Any, y: Any) -> Shared:
    return Shared(estimator, BASKETS, y, [*BASKETS[:40], [], ["unheard"], ["item a", "unheard"]])


class ModelContract:
    """What holds for every model. A subclass names an estimator with its data, and what the model is like."""

    of: ClassVar[Shared]
    kind: ClassVar[type] = SetModel
    classes: ClassVar[list[str] | None] = None
    probabilities: ClassVar[bool] = False

    @property
    def estimator(self) -> Any:
        return self.of.fitted

    @property
    def model(self) -> Any:
        return self.of.fitted.as_model()

    @property
    def X(self) -> Any:  # noqa: N802
        return self.of.unseen

    def test_it_is_a_model(self) -> None:
        model = self.model
        assert type(model) is self.kind
        assert model.as_model() is model
        assert model.semantic == (self.kind is SemanticModel)
        assert model.predicts
        assert model.estimator == type(self.estimator).__name__
        assert hasattr(model, "classes_") == hasattr(self.estimator, "classes_") == (self.classes is not None)
        if self.classes is not None:
            assert model.classes_.tolist() == self.classes
        assert model.estimator in repr(model)

    def test_predictions_are_those_of_the_estimator(self) -> None:
        assert np.array_equal(self.model.predict(self.X), self.estimator.predict(self.X))

    def test_predictions_are_the_link_of_the_outputs(self) -> None:
        model = self.model
        outputs, found = model.read(self.X).outputs(), model.predict(self.X)
        if self.classes is None:
            expected = np.exp(outputs[:, 0]) if model.loss_ == "poisson" else outputs[:, 0]
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            return
        places = outputs.argmax(axis=1) if len(self.classes) > 2 else (outputs[:, 0] > 0).astype(int)
        assert found.tolist() == np.array(self.classes)[places].tolist()
        raw = model.decision_function(self.X)
        assert np.array_equal(raw, outputs if len(self.classes) > 2 else outputs[:, 0])
        assert model.predict_top(self.X, 1)[:, 0].tolist() == found.tolist()

    def test_probabilities(self) -> None:
        model = self.model
        assert hasattr(model, "predict_proba") == hasattr(self.estimator, "predict_proba") == self.probabilities
        assert hasattr(model, "decision_function") == (self.classes is not None)
        if not self.probabilities:
            with pytest.raises(AttributeError, match=r"numbers|hinge"):
                model.predict_proba(self.X)
            return
        shares, outputs = model.predict_proba(self.X), model.read(self.X).outputs()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
        expected = softmax(outputs, axis=1) if outputs.shape[1] > 1 else np.hstack([expit(-outputs), expit(outputs)])
        np.testing.assert_allclose(shares, expected, atol=1e-12)

    def test_rho_of_the_mean_of_phi_is_the_output(self) -> None:
        model = self.model
        scores, offsets = model.phi(self.X)
        sizes = np.diff(offsets)
        means = np.add.reduceat(scores.reshape(len(scores), -1), offsets[:-1], axis=0) / sizes[:, None]
        outputs, width = model.read(self.X).outputs(), model.set_function_.width
        found = model.rho(means.reshape(-1, model.set_function_.outputs * width)).reshape(outputs.shape)
        known = np.ones(len(outputs), dtype=bool)
        if model.semantic:
            known = model.read(self.X).found.counts > 0  # of the others nothing is known
        np.testing.assert_allclose(found[known], outputs[known], atol=1e-9, rtol=0)

    def test_explanations_add_up(self) -> None:
        model = self.model
        explanation = model.explain(self.X)
        sums = explanation.base.copy()
        for row in (*explanation.tokens.to_pylist(), *explanation.of_sets.to_pylist()):
            sums[row["set"]] += row["contribution"]
        np.testing.assert_allclose(sums, explanation.prediction, atol=1e-9, rtol=0)
        found, rows = explanation.prediction, np.arange(len(self.X))
        if self.classes is None:
            np.testing.assert_allclose(found, model.predict(self.X), rtol=1e-9)
        elif self.probabilities:
            places = np.searchsorted(self.classes, explanation.label)
            np.testing.assert_allclose(found, model.predict_proba(self.X)[rows, places], atol=1e-9)
        else:
            np.testing.assert_allclose(found, explanation.output)

    def test_reading_once_serves_all(self) -> None:
        model = self.model
        reading = model.read(self.X)
        assert len(reading) == len(self.X)
        assert np.array_equal(model.link.predictions(reading.outputs()), model.predict(self.X))
        scores, offsets = reading.scores()
        assert np.array_equal(scores.reshape(model.phi(self.X).scores.shape), model.phi(self.X).scores)
        assert len(offsets) == len(reading) + 1
        explanation = reading.explain(None, effects=False, frames="pyarrow")
        assert explanation.to_json() == model.explain(self.X).to_json()
        assert reading.n_tokens == len(explanation.tokens) - explanation.tokens["token"].null_count

    def test_it_keeps_its_promises(self) -> None:
        assert self.model.verify()
        assert self.model.certificate_ == self.model.certificate

    def test_a_file_gives_the_same_bits(self, tmp_path: Path) -> None:
        model = self.model
        model.save(tmp_path / "model")
        again = cs.load(tmp_path / "model")
        assert type(again) is self.kind
        assert_same(again, model, self.X)
        again.save(tmp_path / "again")
        self.estimator.save(tmp_path / "estimator")
        content = (tmp_path / "model").read_bytes()
        assert (tmp_path / "again").read_bytes() == (tmp_path / "estimator").read_bytes() == content

    @pytest.mark.parametrize("copied", ["pickle", "deepcopy"])
    @pytest.mark.parametrize("what", ["model", "estimator"])
    def test_copies(self, what: str, copied: str) -> None:
        first = getattr(self, what)
        again = pickle.loads(pickle.dumps(first)) if copied == "pickle" else copy.deepcopy(first)  # noqa: S301
        assert again is not first
        assert_same(again, first, self.X)

    def test_an_estimator_comes_back(self) -> None:
        again = cs.as_estimator(self.model)
        assert type(again) is type(self.estimator)
        assert_same(again, self.estimator, self.X)
        mine, other = self.estimator.get_params(), again.get_params()
        assert {name: repr(value) for name, value in mine.items()} == {n: repr(v) for n, v in other.items()}
        assert again.fit(self.of.X, self.of.y).predict(self.X).tolist() == self.model.predict(self.X).tolist()

    def test_a_clone_is_not_fitted(self) -> None:
        unfitted = clone(self.estimator)
        assert not hasattr(unfitted, "model_")
        assert not hasattr(unfitted, "set_function_")
        with pytest.raises(ValueError, match="not fitted"):
            unfitted.predict(self.X)

    def test_what_was_set_since_is_saved_as_well(self, tmp_path: Path) -> None:
        changed = copy.deepcopy(self.estimator).set_params(epochs=7, n_jobs=2)
        changed.save(tmp_path / "model")
        again = cs.as_estimator(cs.load(tmp_path / "model"))
        assert (again.epochs, again.n_jobs) == (7, 2)
        assert_same(again, self.estimator, self.X)


def assert_same(found: Any, expected: Any, X: Any) -> None:
    """Compare all that a model says of sets, bit by bit."""
    for name in ("predict", "predict_proba", "decision_function"):
        assert hasattr(found, name) == hasattr(expected, name)
        if hasattr(expected, name):
            assert np.array_equal(getattr(found, name)(X), getattr(expected, name)(X)), name
    for mine, other in zip(found.phi(X), expected.phi(X), strict=True):
        assert np.array_equal(mine, other)
    assert found.explain(X).to_json() == expected.explain(X).to_json()
    assert found.verify() == expected.verify()
    assert found.history_ == expected.history_


class TestNumber(ModelContract):
    of = of_sets(cs.SetRegressor([cs.Feature("stars", monotonic="increasing"), *FEATURES[1:]], **QUICK), NUMBERS)


class TestCounts(ModelContract):
    of = of_sets(cs.SetRegressor(FEATURES, width=2, loss="poisson", **QUICK), np.abs(NUMBERS))


class TestTwoClasses(ModelContract):
    of = of_sets(cs.SetClassifier(FEATURES, **QUICK), TWO)
    classes: ClassVar = ["no", "yes"]
    probabilities = True


class TestThreeClasses(ModelContract):
    of = of_sets(cs.SetClassifier(FEATURES, width=2, **QUICK), THREE)
    classes: ClassVar = ["few", "many", "some"]
    probabilities = True


class TestHinge(ModelContract):
    of = of_sets(cs.SetClassifier(FEATURES, loss="hinge", **QUICK), TWO)
    classes: ClassVar = ["no", "yes"]


class SemanticContract(ModelContract):
    """What holds for models over strings, too."""

    kind = SemanticModel
    frozen: ClassVar[Shared]

    def test_a_frozen_model_predicts_the_same(self, tmp_path: Path) -> None:
        model = self.frozen.fitted.as_model()
        frozen = model.freeze()
        np.testing.assert_allclose(frozen.outputs(self.X), model.read(self.X).outputs(), atol=1e-9)
        np.testing.assert_allclose(frozen.transform(self.X), model.transform(self.X), atol=1e-9)
        assert hasattr(frozen, "predict_proba") == self.probabilities
        assert hasattr(frozen, "classes_") == (self.classes is not None)
        if self.classes is None:
            np.testing.assert_allclose(frozen.predict(self.X), model.predict(self.X), rtol=1e-9)
        else:
            assert frozen.predict(self.X).tolist() == model.predict(self.X).tolist()
            np.testing.assert_allclose(frozen.predict_proba(self.X).sum(axis=1), 1.0)
        frozen.save(tmp_path / "model.parquet")
        again = cs.FrozenModel.load(tmp_path / "model.parquet")
        for copied in (again, pickle.loads(pickle.dumps(frozen)), copy.deepcopy(frozen)):  # noqa: S301
            assert np.array_equal(copied.outputs(self.X), frozen.outputs(self.X))


class TestSemanticNumber(SemanticContract):
    of = of_items(cs.SemanticRegressor(**TOKENS), NUMBERS)
    frozen = of_items(cs.SemanticRegressor(features=["mean_label", "count"], **TOKENS), NUMBERS)


class TestSemanticTwoClasses(SemanticContract):
    of = of_items(cs.SemanticClassifier(**TOKENS), TWO)
    frozen = of_items(cs.SemanticClassifier(features=["log_odds", "count"], **TOKENS), TWO)
    classes: ClassVar = ["no", "yes"]
    probabilities = True


class TestSemanticThreeClasses(SemanticContract):
    of = of_items(cs.SemanticClassifier(width=2, **TOKENS), THREE)
    frozen = of_items(cs.SemanticClassifier(features=["log_odds", "size"], width=2, **TOKENS), THREE)
    classes: ClassVar = ["few", "many", "some"]
    probabilities = True
