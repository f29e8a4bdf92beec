"""Semantic models whose tokens are scored in advance."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from clearset import export
from clearset.engines import engine
from clearset.files import Key
from clearset.functions import Link, Rho, Support
from clearset.models import _frozen_storage
from clearset.models._arrays import FloatArray
from clearset.models._exported import WrittenAsOnnx
from clearset.models._origin import Origin
from clearset.models._predicting import Estimates, PredictsLabels
from clearset.models.documents import ModelCard, card_of_origin
from clearset.tokens import OWN, Found, Occurrences, TokenTable

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel


@dataclass(frozen=True, eq=False, repr=False)
class FrozenModel(WrittenAsOnnx, PredictsLabels, Estimates):
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
    support : Support, optional
        What training has shown, without the counts of values.
    origin : Origin, optional
        The data and versions that it was fitted with.

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
    support: Support | None = None
    origin: Origin = field(default_factory=Origin)

    @property
    def loss(self) -> str:
        """The loss that the estimator was trained with."""
        return self.link.loss

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
            self.scores, self.missing,
            index.items, index.parents, index.masks, index.child_offsets, index.first,
            statistics.held, statistics.sums, statistics.sizes, statistics.passes,
        )  # fmt: skip
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
        means = (sums / np.maximum(sizes, 1)[:, None]).reshape(-1, n_classes, width)
        if self.support is not None:
            means = self.support.shrunk(means, sizes)
        outputs = engine().rho(self.rho, means.reshape(-1, 1, width)).reshape(len(sizes), n_classes)
        return self.link.with_nothing(outputs, sizes == 0)

    _outputs = outputs

    def _link(self) -> Link:
        return self.link

    @property
    def scored_table(self) -> export.ScoredTable:
        """What is written for other places."""
        support = self.support or Support.unknown(self.missing.shape[0], self.missing.shape[1], 0)
        return export.ScoredTable(self.table, self.cover, self.scores, self.missing, self.rho, self.link, support)

    def _write_onnx(self, path: str | os.PathLike[str], *, explanations: bool) -> None:
        export.write_item_onnx(path, self.scored_table, explanations=explanations, about={"estimator": "FrozenModel"})

    def card(self) -> ModelCard:
        """Return what is to be known of the model before it is used: what it was fitted on, by which versions.

        Returns
        -------
        ModelCard
            More is told by the card of the model that was frozen.
        """
        limits = (("frozen", "constraints, metrics and edits are told by the card of the model that was frozen"),)
        return card_of_origin("FrozenModel", self.origin, limits)

    def save(self, path: str | os.PathLike[str], *, key: Key | None = None) -> None:
        """Write the model to a Parquet file: the columns of the token table, and the scores beside them.

        Parameters
        ----------
        path : path-like
            Where to, such as ``model.parquet``; an existing file is replaced only once the new one is complete.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign the file with; see `clearset.load`.
        """
        _frozen_storage.save(self, path, key)

    @classmethod
    def load(cls, path: str | os.PathLike[str], tokens: Any = None, *, key: Key | None = None) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.
        tokens : object, optional
            One's own tokenizer, if the model was fitted with one: files hold no code.
        key : bytes, Ed25519PublicKey or Ed25519PrivateKey, optional
            The key that the file must be signed with; without one a signature is not looked at.

        Returns
        -------
        FrozenModel
            The model as it was saved.
        """
        return cls(**_frozen_storage.load(path, tokens, key))


def freeze(model: SemanticModel) -> FrozenModel:
    """Score every token of the table, and the missing one."""
    value, *plain = [feature.name for feature in model.binning.features]
    of_sets = [name for name in plain if name not in OWN]
    if of_sets:
        kept = [value, *(name for name in plain if name in OWN)]
        raise ValueError(
            f"The scores of tokens cannot be stored, for they depend on the set they stand in, by the features "
            f"{', '.join(map(repr, of_sets))}. Fit with features={kept}, and freeze that."
        )
    table = model.table.without_examples()
    n_tokens = len(table)
    tokens = np.arange(n_tokens)
    # One set for each token, and an empty one, whose token is the missing one.
    alone = Occurrences(
        Found(tokens.astype(np.int32), np.append(np.arange(n_tokens + 1), n_tokens)),
        tokens,
        table.sizes,
        np.ones(n_tokens + 1, np.int64),
        {},
    )
    scores = engine().scores(model.refined_function, model.placer.place(alone), model.threads)
    return FrozenModel(
        table=table,
        scores=scores[:-1].copy(),
        missing=scores[-1].copy(),
        rho=model.function.rho,
        cover=model.setting.cover,
        link=model.link,
        support=replace(model.support, counts=np.empty(0)),
        origin=model.origin,
    )
