"""A semantic estimator whose tokens are scored in advance."""

import os
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clearset.engines import engine
from clearset.functions import Link, Rho
from clearset.models import _frozen_storage
from clearset.models._predicting import only_if
from clearset.tokens import TokenTable

FloatArray = npt.NDArray[np.float64]


def _check_classes(model: "FrozenModel") -> None:
    if model.classes is None:
        raise AttributeError("The labels are numbers, so there are no probabilities. Use predict.")


@dataclass(frozen=True, eq=False, repr=False)
class FrozenModel:
    """A fitted semantic estimator as a table of scores: look tokens up, average, apply rho.

    Made by `SemanticClassifier.freeze`, `SemanticRegressor.freeze` and `SemanticFeatureEngine.freeze`.

    Attributes
    ----------
    table : TokenTable
        The tokens and what was counted of them, without examples.
    scores : ndarray of shape (T, C, K)
        Phi of each token, for each of C classes (1 for a number or two classes).
    missing : ndarray of shape (C, K)
        Phi where a set has no known token.
    rho : Rho
        The layers after the mean over a set's tokens.
    cover : bool
        Whether larger tokens shadow the smaller ones whose items they hold.
    link : Link
        From outputs to predictions.

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
    rho: Rho
    cover: bool
    link: Link

    @property
    def loss(self) -> str:
        """The loss that the estimator was trained with."""
        return self.link.loss

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes; only where labels are classes."""
        if self.link.classes is None:
            raise AttributeError("The labels are numbers, so there are no classes.")
        return self.link.classes

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """The classes, or None for a number."""
        return self.link.classes

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
        """Return the ``(B, C)`` outputs: numbers (under ``poisson`` their logarithms), or log-odds of classes.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as the estimator takes them.

        Returns
        -------
        ndarray of shape (n, 1) or (n, classes)
            The outputs.
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
        outputs = engine().rho(self.rho, means.reshape(-1, 1, width)).reshape(len(sizes), n_classes)
        return self.link.with_prior(outputs, sizes == 0, self.table.prior)

    def transform(self, X: Any) -> FloatArray:
        """Estimate the label: ``(n, 1)`` for a number or the second of two classes, ``(n, classes)`` for more.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as the estimator takes them.

        Returns
        -------
        ndarray of shape (n, 1) or (n, classes)
            The estimates.
        """
        return self.link.estimates(self.outputs(X))

    @only_if(_check_classes)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return each class's probability, ``(n, classes)``.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as the estimator takes them.

        Returns
        -------
        ndarray of shape (n, classes)
            The probabilities, in the order of `classes_`.
        """
        return self.link.probabilities(self.outputs(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the number or the most likely class.

        Parameters
        ----------
        X : array-like of shape (n,), or frame
            The examples, as the estimator takes them.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        return self.link.predictions(self.outputs(X))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a Parquet file: the columns of the token table, and the scores beside them.

        Parameters
        ----------
        path : path-like
            Where to, such as ``model.parquet``; an existing file is replaced only once the new one is complete.
        """
        _frozen_storage.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], tokens: Any = None) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.
        tokens : object, optional
            One's own tokenizer, if the model was fitted with one: files hold no code.

        Returns
        -------
        FrozenModel
            The model as it was saved.
        """
        return cls(**_frozen_storage.load(path, tokens))
