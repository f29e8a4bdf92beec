"""A cheap estimator whose best parameters are known."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

X = np.zeros((20, 1))
Y = np.zeros(20)
SPACE = {"x": (-10.0, 10.0), "n": (1, 64, "log"), "kind": ["bad", "good", "worse"]}


class Bowl(RegressorMixin, BaseEstimator):
    """Of labels 0 its squared error is ``(x - 2)² + log2(n / 8)² + (0, 5 or 9)``."""

    def __init__(self, x=0.0, n=1, kind="bad", random_state=None, verbose=0):
        self.x = x
        self.n = n
        self.kind = kind
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y):
        FITTED.append((self.x, self.n, self.kind))
        hook = HOOKS.get(len(FITTED))
        if hook is not None:
            raise hook
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.full(len(X), bowl(self.x, self.n, self.kind) ** 0.5)


def bowl(x, n, kind):
    return (x - 2) ** 2 + np.log2(n / 8) ** 2 + {"good": 0.0, "bad": 5.0, "worse": 9.0}[kind]


# What was fitted, in order; and what the n-th fit (counted from 1) raises.
FITTED: list[tuple] = []
HOOKS: dict[int, BaseException] = {}
