"""What cannot be fitted is refused before training, in words that help."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import clearset as cs
from clearset.baselines import DeepSetsClassifier, DeepSetsRegressor, SupportDistributionRegressor

N = 12
SIZES = [1 + i % 3 for i in range(N)]
X = pl.DataFrame({"stars": [[1.0, 2.0, 3.0][:size] for size in SIZES], "shop": [["a"] * size for size in SIZES]})
Y = np.linspace(0.0, 1.0, N)


@pytest.fixture(autouse=True)
def _no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def reached(*_: Any, **__: Any) -> None:
        pytest.fail("training was reached")

    monkeypatch.setattr("torch.optim.AdamW", reached)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width must be a whole number at least 1; received 0"),
        ({"hidden_layers": 1.5}, "hidden_layers must be a whole number"),
        ({"loss": "log_loss"}, "loss must be one of 'squared_error', 'absolute_error', or 'auto'.*received 'log_loss'"),
        ({"learning_rate": -1}, "learning_rate must be a number above 0"),
        ({"weight_decay": -0.1}, "weight_decay must be a number of at least 0"),
        ({"epochs": 0}, "epochs must be a whole number at least 1"),
        ({"batch_size": "all"}, "batch_size must be a whole number at least 1, or 'auto'"),
        ({"validation_fraction": 1.0}, "validation_fraction must be a number above 0 and below 1"),
        ({"early_stopping": "yes"}, "early_stopping must be True or False"),
        ({"n_jobs": 0}, "n_jobs must be None, a positive number of threads"),
        ({"random_state": -1}, "random_state must be None, a whole number from 0 to 4294967295.*received -1"),
        ({"features": ["star"]}, "'star'.*stars"),
        ({"features": ["shop"]}, "shop"),
        ({"features": []}, "features is empty"),
    ],
)
def test_parameters(options: dict[str, Any], message: str) -> None:
    error = TypeError if options.get("features") == ["shop"] else ValueError
    with pytest.raises(error, match=message):
        DeepSetsRegressor(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": "scale"}, "gamma must be a number above 0.*or 'auto'.*received 'scale'"),
        ({"alpha": 0}, "alpha must be a number above 0"),
        ({"max_exact": -1}, "max_exact must be a whole number at least 0"),
        ({"n_landmarks": 0}, "n_landmarks must be a whole number at least 1"),
        ({"n_jobs": 0}, "n_jobs must be None, a positive number of threads"),
        ({"n_jobs": "all"}, "n_jobs must be None, a positive number of threads"),
        ({"random_state": -1}, "random_state must be None, a whole number from 0 to 4294967295.*received -1"),
    ],
)
def test_parameters_of_the_kernel(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SupportDistributionRegressor(**options).fit(X, Y)


def test_labels_and_weights() -> None:
    with pytest.raises(ValueError, match="y has 3 labels but X has 12 sets"):
        DeepSetsRegressor().fit(X, Y[:3])
    with pytest.raises(ValueError, match="the target y is None"):
        DeepSetsRegressor().fit(X, None)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        DeepSetsRegressor().fit(X, np.where(Y > 0.5, np.nan, Y))
    with pytest.raises(ValueError, match="DeepSetsClassifier needs at least two classes; y holds one class only, 'x'"):
        DeepSetsClassifier().fit(X, ["x"] * N)
    with pytest.raises(ValueError, match="contains NaN or None"):
        DeepSetsClassifier().fit(X, ["x", None] * (N // 2))
    with pytest.raises(ValueError, match="sample_weight has shape"):
        DeepSetsRegressor().fit(X, Y, sample_weight=[1.0])


def test_validation_data() -> None:
    with pytest.raises(TypeError, match=r"validation_data is a pair \(X, y\); received DataFrame"):
        DeepSetsRegressor().fit(X, Y, validation_data=X)
    with pytest.raises(ValueError, match=r"Labels \['z'\] are not among the classes fitted"):
        DeepSetsClassifier().fit(X, ["x", "y"] * (N // 2), validation_data=(X[:2], ["x", "z"]))


def test_sets_of_several_tokens_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    model = DeepSetsRegressor(["stars", cs.SIZE], epochs=1).fit(X, Y)
    with pytest.raises(ValueError, match="no column of X holds lists"):
        model.predict(pl.DataFrame({"stars": [1.0, 2.0]}))
