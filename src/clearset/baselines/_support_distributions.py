"""Support distribution machines: kernel machines whose kernel between sets is the mean kernel of their tokens."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.validation import check_is_fitted

from clearset.baselines._baseline import PredictsClasses, PredictsNumbers, ReadsSets, network_threads
from clearset.baselines._encoding import Encoding, TokenValues
from clearset.baselines._kernel import Float64, KernelFeatures
from clearset.estimators import (
    Auto,
    Number,
    Rule,
    Threads,
    Whole,
    check_parameters,
    inherited_docs,
    is_auto,
    make_rng,
    restored_on_failure,
)
from clearset.sets import check_weights

# The exact kernel takes time in the square of the tokens: beyond so many landmarks are taken however few sets.
MAX_EXACT_TOKENS = 50_000


@dataclass(eq=False, repr=False)
class _SupportDistribution(ReadsSets):
    """A linear model on features of sets, whose products are a kernel.

    Parameters
    ----------
    gamma : float or "auto"
        The factor in the tokens' kernel; ``"auto"`` is 1 over the number of columns.
    alpha : float
        The strength of the penalty on squared weights, as in ridge regression; for classes ``1 / alpha`` is the C of
        logistic regression.
    max_exact : int
        The number of sets up to which the kernel is exact, unless they have more than 50,000 tokens.
    n_landmarks : int
        The number of landmarks where it is not exact.
    random_state : int, Generator, RandomState or None
        The seed of the choice of landmarks.
    n_jobs : int or None
        The number of threads of torch; None is one, and -1 is all cores.

    Attributes
    ----------
    exact_ : bool
        Whether the kernel is exact.
    kernel_ : KernelFeatures
        The features of sets whose products are the kernel.
    linear_ : estimator
        The linear model of them, one of scikit-learn's.
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "gamma": Auto(Number(), "1 over the number of columns"),
        "alpha": Number(),
        "max_exact": Whole(0),
        "n_landmarks": Whole(1),
        "n_jobs": Threads(),
    }

    _: KW_ONLY
    gamma: float | Literal["auto"] = "auto"
    alpha: float = 0.1
    max_exact: int = 2000
    n_landmarks: int = 500
    random_state: Any = None
    n_jobs: int | None = None

    @abstractmethod
    def _linear(self) -> Any:
        """Make the linear model of the features."""

    def _check_kept(self, labels: Float64) -> None:
        """Raise an error if the labels of the sets that have weight are all the same class."""

    @restored_on_failure
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Calculate the kernel, and fit the linear model of its features.

        Parameters
        ----------
        X
            One row is one set: a frame (pandas, polars, Arrow) whose list columns are token features and whose plain
            columns are set features, a `SetData`, or a 2-D array (sets of one token).
        y : array-like of shape (n,)
            One label for each set.
        sample_weight : array-like of shape (n,), optional
            One weight for each set; sets of weight 0 are left out.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self.get_params(deep=False), self._rules)
        rng = make_rng(self.random_state)
        sets = self._read(X, reset=True)
        weights = check_weights(sample_weight, len(sets))
        labels = self._numbers(y, len(sets), reset=True)
        if not weights.all():
            kept = np.flatnonzero(weights)
            sets, labels, weights = sets[kept], labels[kept], weights[kept]
        self.encoding_ = Encoding.fit(sets, self.features_, weights)
        tokens = self.encoding_.tokens(sets, np.float64)
        self.exact_ = len(sets) <= self.max_exact and len(tokens.values) <= MAX_EXACT_TOKENS
        gamma = 1.0 / self.encoding_.n_columns if is_auto(self.gamma) else float(self.gamma)
        with network_threads(self.n_jobs):
            landmarks = tokens if self.exact_ else _choose(tokens, self.n_landmarks, rng)
            self.kernel_ = KernelFeatures.of(landmarks, gamma)
            features = self.kernel_(tokens)
        self._check_kept(labels)
        self.linear_ = self._linear().fit(features, labels, sample_weight=weights)
        return self

    def _features_of(self, X: Any) -> Float64:
        check_is_fitted(self)
        sets = self._read(X, reset=False)
        with network_threads(self.n_jobs):
            return self.kernel_(self.encoding_.tokens(sets, np.float64))

    def __sklearn_is_fitted__(self) -> bool:
        return "linear_" in vars(self)


def _choose(tokens: TokenValues, n_landmarks: int, rng: np.random.Generator) -> TokenValues:
    """Choose distinct tokens at random; each is a set of its own."""
    n_tokens = len(tokens.values)
    chosen = rng.permutation(n_tokens)[:n_landmarks]
    values = np.unique(tokens.values[chosen], axis=0)
    return TokenValues(values, np.arange(len(values) + 1))


@inherited_docs
class SupportDistributionRegressor(PredictsNumbers, _SupportDistribution):
    """Predict a number by ridge regression with a kernel between sets: the mean of the kernels of their tokens.

    With k(s, t) = exp(-gamma |s - t|^2) between tokens, the kernel between sets is

        K(x, y) = 1 / (|x| |y|) * sum over the tokens s of x and t of y of k(s, t).

    For up to `max_exact` sets it is calculated exactly. For more, L tokens are drawn as landmarks, and the kernel is
    that of the Nyström features z(t) = (k(t, l_1), ..., k(t, l_L)) M^(-1/2), where M is the landmarks' kernel matrix:
    the approximation of K(x, y) is the product of the mean of z over x's tokens and the mean over y's. The model is
    linear in these means, and its cost grows with tokens x landmarks. Either way the intercept is not penalised.

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


@inherited_docs
class SupportDistributionClassifier(PredictsClasses, _SupportDistribution):
    """Predict a class by logistic regression with a kernel between sets: the mean of the kernels of their tokens.

    A class all of whose sets have weight 0 has probability 0.

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
