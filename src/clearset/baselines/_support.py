"""Support distribution machines: kernel machines whose kernel between sets is the mean kernel of their tokens."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.validation import check_is_fitted

from clearset.baselines._encoding import Encoding, TokenValues
from clearset.baselines._kernel import Float64, KernelFeatures
from clearset.baselines._parameters import check_kernel_parameters
from clearset.baselines._tasks import Baseline, OfClasses, OfNumbers
from clearset.baselines._training import network_threads, torch_threads
from clearset.estimators._input import check_weights, read_more_sets, read_training_sets
from clearset.estimators._parameters import make_rng
from clearset.estimators._restored import restored_on_failure
from clearset.sets import Feature, SetData

# The exact kernel takes time in the square of the tokens: beyond so many landmarks are taken however few sets.
MAX_EXACT_TOKENS = 50_000


class _SupportDistribution(Baseline):
    features_: tuple[Feature, ...]
    sets_of_one_: bool
    encoding_: Encoding
    kernel_: KernelFeatures
    exact_: bool

    def __init__(
        self,
        features: Sequence[str | Feature] | None = None,
        *,
        gamma: float | Literal["auto"] = "auto",
        alpha: float = 0.1,
        max_exact: int = 2000,
        n_landmarks: int = 500,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.features = features
        self.gamma = gamma
        self.alpha = alpha
        self.max_exact = max_exact
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def _linear(self) -> Any:
        """Make the linear model of the features."""

    def _check_kept(self, labels: Float64) -> None:
        """Refuse labels, of those sets that have weight, that nothing can be learned from."""

    @restored_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Calculate the kernel, and fit the linear model of its features.

        Parameters
        ----------
        X
            One row is one set: a frame (pandas, polars, Arrow) whose list columns are token features and whose plain
            columns are set features, a `SetData`, or a 2-D array (sets of one token).
        y
            One label for each set.
        sample_weight
            One weight for each set; sets of weight 0 are left out.
        """
        check_kernel_parameters(self.get_params(deep=False))
        rng = make_rng(self.random_state)
        sets, self.features_, _ = read_training_sets(self, X, self.features, ())
        weights = check_weights(sample_weight, len(sets))
        labels = self._numbers(y, len(sets), reset=True)
        self.sets_of_one_ = bool((sets.sizes == 1).all())
        if not weights.all():
            kept = np.flatnonzero(weights)
            sets, labels, weights = sets[kept], labels[kept], weights[kept]
        self.encoding_ = Encoding.fit(sets, self.features_, weights)
        tokens = self.encoding_.tokens(sets, np.float64)
        self.exact_ = len(sets) <= self.max_exact and len(tokens.values) <= MAX_EXACT_TOKENS
        gamma = 1.0 / self.encoding_.n_columns if self.gamma == "auto" else float(self.gamma)
        with torch_threads(network_threads(self.n_jobs)):
            landmarks = tokens if self.exact_ else _choose(tokens, self.n_landmarks, rng)
            self.kernel_ = KernelFeatures.of(landmarks, gamma)
            features = self.kernel_(tokens)
        self._check_kept(labels)
        self.linear_ = self._linear().fit(features, labels, sample_weight=weights)
        return self

    def _features_of(self, X: Any) -> Float64:
        check_is_fitted(self)
        sets: SetData = read_more_sets(self, X)
        with torch_threads(network_threads(self.n_jobs)):
            return self.kernel_(self.encoding_.tokens(sets, np.float64))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "linear_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _choose(tokens: TokenValues, n_landmarks: int, rng: np.random.Generator) -> TokenValues:
    """Choose distinct tokens at random; each is a set of its own."""
    n_tokens = len(tokens.values)
    chosen = rng.permutation(n_tokens)[:n_landmarks]
    values = np.unique(tokens.values[chosen], axis=0)
    return TokenValues(values, np.arange(len(values) + 1))


class SupportDistributionRegressor(OfNumbers, _SupportDistribution):
    """Predict a number by ridge regression with a kernel between sets: the mean of the kernels of their tokens.

    With k(s, t) = exp(-gamma |s - t|^2) between tokens, the kernel between sets is

        K(x, y) = 1 / (|x| |y|) * sum over the tokens s of x and t of y of k(s, t).

    Up to `max_exact` sets it is calculated exactly. Beyond, L tokens are drawn as landmarks, and the kernel is that of
    the Nyström features z(t) = (k(t, l_1), ..., k(t, l_L)) M^(-1/2), where M is the landmarks' kernel matrix: the
    approximation of K(x, y) is the product of the mean of z over x's tokens and the mean over y's. The model is linear
    in these means, and its cost is in tokens x landmarks. Either way the intercept is not penalised.

    Parameters
    ----------
    features
        A list of names or `Feature`, or None for every numeric column. Numbers are standardised over the training
        tokens, categorical features become 0/1 columns, and features with missing values get a column that says so.
    gamma
        Of the tokens' kernel; ``"auto"`` is 1 over the number of columns.
    alpha
        Strength of the penalty on squared weights: that of ridge regression; of logistic regression, whose C is
        ``1 / alpha``, for classes.
    max_exact
        Number of sets up to which the kernel is exact, unless they have more than 50,000 tokens.
    n_landmarks
        Number of landmarks beyond.
    random_state
        Seed or generator of the choice of landmarks.
    n_jobs
        Threads of torch; None takes one, and -1 all cores.

    Attributes
    ----------
    exact_
        Whether the kernel is exact.
    kernel_
        The features of sets whose products are the kernel.
    linear_
        The linear model of them, one of scikit-learn's.
    encoding_
        How sets become numbers.
    features_
        The features in full.
    n_features_in_
        Number of features or columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import SupportDistributionRegressor
    >>> products = pa.table({"stars": [[5, 3], [1], [3, 3, 3], [2, 2]]})
    >>> model = SupportDistributionRegressor(alpha=1e-6).fit(products, [40.0, 10.0, 30.0, 20.0])
    >>> model.predict(products).round(2).tolist()
    [40.0, 10.0, 30.0, 20.0]
    """

    def _linear(self) -> Ridge:
        return Ridge(alpha=self.alpha)

    def _outputs_of(self, X: Any) -> Float64:
        features = self._features_of(X)
        outputs: Float64 = self.linear_.predict(features)[:, None]
        return outputs


class SupportDistributionClassifier(OfClasses, _SupportDistribution):
    """Tell classes apart by logistic regression with a kernel between sets: the mean of the kernels of their tokens.

    The parameters and attributes are those of `SupportDistributionRegressor`, and ``classes_``, the labels, sorted. A
    class all of whose sets have weight 0 has probability 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from clearset.baselines import SupportDistributionClassifier
    >>> baskets = pa.table({"price": [[1.0, 2.0], [9.0], [8.0, 7.5], [1.5]]})
    >>> model = SupportDistributionClassifier().fit(baskets, ["cheap", "dear", "dear", "cheap"])
    >>> model.predict(baskets).tolist()
    ['cheap', 'dear', 'dear', 'cheap']
    """

    def _linear(self) -> LogisticRegression:
        return LogisticRegression(C=1.0 / self.alpha, tol=1e-6, max_iter=10_000)

    def _check_kept(self, labels: Float64) -> None:
        if len(kept := np.unique(labels)) < 2:
            raise ValueError(
                f"SupportDistributionClassifier needs at least two classes whose sets have weight; only "
                f"{self.classes_.tolist()[int(kept[0])]!r} has."
            )

    def _outputs_of(self, X: Any) -> Float64:
        features = self._features_of(X)
        known: Float64 = self.linear_.decision_function(features).reshape(len(features), -1)
        places = self.linear_.classes_.astype(np.int64)
        if len(places) == len(self.classes_):
            return known
        if len(places) == 2:
            known = np.hstack([np.zeros_like(known), known])
        outputs = np.full((len(features), len(self.classes_)), -np.inf)
        outputs[:, places] = known
        return outputs
