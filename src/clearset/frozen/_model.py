"""A semantic estimator whose tokens are scored in advance."""

import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from clearset.frozen._estimates import estimates, say_prior
from clearset.frozen._rho import FrozenRho
from clearset.tokens import TokenTable

FloatArray = npt.NDArray[np.float64]


def _has_classes(model: "FrozenModel") -> bool:
    if model.classes is None:
        raise AttributeError("The labels are numbers, so there are no probabilities. Use predict.")
    return True


@dataclass(frozen=True, eq=False, repr=False)
class FrozenModel:
    """A fitted semantic estimator as a table of scores: look tokens up, average, apply rho. Needs no torch.

    Made by `SemanticClassifier.freeze`, `SemanticRegressor.freeze` and `SemanticFeatureEngine.freeze`.

    Attributes
    ----------
    table
        The tokens and what was counted of them, without examples.
    scores
        ``(T, C, K)``: phi of each token, for each of C classes (1 for a number or two classes).
    missing
        ``(C, K)``: phi where a set has no known token.
    rho
        What makes an output of mean scores.
    cover
        Whether larger tokens shadow the smaller ones whose items they hold.
    loss
        What the estimator was trained by.
    classes
        The classes, or None for a number.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    >>> model = cs.SemanticClassifier(tokens=cs.Items(), features=["log_odds", "count"], random_state=0)
    >>> frozen = model.fit(recipes, ["thai", "greek", "thai", "greek"] * 10).freeze()
    >>> frozen.predict([["lime"], ["feta", "salt"]]).tolist()
    ['thai', 'greek']
    >>> frozen
    FrozenModel(5 tokens, 2 classes, width 1, 0.0 MB)
    """

    table: TokenTable
    scores: FloatArray
    missing: FloatArray
    rho: FrozenRho
    cover: bool
    loss: str
    classes: npt.NDArray[Any] | None

    def __repr__(self) -> str:
        label = "a number" if self.classes is None else f"{len(self.classes)} classes"
        size = f"{self.nbytes / 1e6:,.1f} MB"
        return f"FrozenModel({len(self.scores):,} tokens, {label}, width {self.scores.shape[2]}, {size})"

    @property
    def nbytes(self) -> int:
        """Bytes in memory: scores, the tokens and their statistics."""
        index, statistics = self.table.index, self.table.statistics
        arrays = (
            self.scores,
            self.missing,
            index.items,
            index.parents,
            index.masks,
            index.child_offsets,
            index.first,
            statistics.held,
            statistics.sums,
            statistics.sizes,
            statistics.passes,
        )
        return sum(array.nbytes for array in arrays) + self.rho.nbytes + int(self.table.vocabulary.nbytes)

    def outputs(self, X: Any) -> FloatArray:
        """Give the ``(B, C)`` outputs: numbers (under ``poisson`` their logarithms), or log-odds of classes.

        Parameters
        ----------
        X
            Examples, as the estimator takes them.
        """
        found = self.table.find(self.table.encode(X), cover=self.cover)
        sizes = np.diff(found.offsets)
        n_tokens, n_classes, width = self.scores.shape
        # A set is a row of ones at its tokens: the product adds their scores up and copies none.
        members = sparse.csr_matrix(
            (np.ones(len(found.tokens)), found.tokens, found.offsets), shape=(len(sizes), n_tokens)
        )
        sums = members @ self.scores.reshape(n_tokens, n_classes * width)
        sums[sizes == 0] = self.missing.ravel()
        means = sums / np.maximum(sizes, 1)[:, None]
        outputs = self.rho(means.reshape(-1, width)).reshape(len(sizes), n_classes)
        return say_prior(outputs, sizes, self.table.prior, self.loss)

    def transform(self, X: Any) -> FloatArray:
        """Estimate the label: ``(n, 1)`` for a number or the second of two classes, ``(n, classes)`` for more.

        Parameters
        ----------
        X
            Examples, as the estimator takes them.
        """
        return estimates(self.outputs(X), self.loss)

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Give each class's probability, ``(n, classes)``.

        Parameters
        ----------
        X
            Examples, as the estimator takes them.
        """
        shares = self.transform(X)
        return np.hstack([1.0 - shares, shares]) if shares.shape[1] == 1 else shares

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the number or the most likely class.

        Parameters
        ----------
        X
            Examples, as the estimator takes them.
        """
        outputs = self.outputs(X)
        if self.classes is None:
            return estimates(outputs, self.loss)[:, 0]
        chosen = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(np.intp)
        labels: npt.NDArray[Any] = self.classes[chosen]
        return labels

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a Parquet file: the columns of the token table, and the scores beside them.

        Parameters
        ----------
        path
            Where to, such as ``model.parquet``; an existing file is replaced only once the new one is complete.
        """
        from clearset.frozen import _storage

        _storage.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], tokens: Any = None) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path
            The file.
        tokens
            One's own tokeniser, if the model was fitted with one: files hold no code.
        """
        from clearset.frozen import _storage

        return cls(**_storage.load(path, tokens))
