"""What every fitted model offers; an estimator offers the same, through the model that it has fitted."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clearset import display
from clearset.artifact import check_target
from clearset.files import Key
from clearset.functions import Certificate, Link, SetFunction
from clearset.models._arrays import FloatArray
from clearset.models._calibrator_curve import CalibratorCurve, calibrator_curves
from clearset.models._dependence import PartialDependence, dependence_of, name_and_sets
from clearset.models._explanation import Explanation
from clearset.models._exported import Exported
from clearset.models._importance import Importance, importance_by_contribution, importance_by_permutation
from clearset.models._origin import with_notes
from clearset.models._predicting import GivesOutputs
from clearset.models._verify import certify
from clearset.models.documents import ModelCard, quality, report_document
from clearset.models.edits import Editor
from clearset.models.edits._log import forbidden_features
from clearset.sets import Binning, Feature, Trust, as_stream, library_of, memory_limit, refuse_files

if TYPE_CHECKING:
    from clearset.models._model import Model


# Rows of files are read in tables of one part in so many of the memory allowed, and no more bytes than these.
_OF_MEMORY, _MOST_BYTES = 24, 1 << 26


@dataclass(frozen=True)
class Record:
    """How training went.

    Parameters
    ----------
    history : list of dict, optional
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch.
    best_epoch : int, default=0
        The epoch whose parameters were kept, counted from 1.
    interrupted : bool, default=False
        Whether an interrupt (Ctrl-C) ended training early.
    smoothness : float, optional
        The strength of the penalty on bends and interactions; None in files that do not tell it.
    """

    history: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = 0
    interrupted: bool = False
    smoothness: float | None = None


class TokenScores(NamedTuple):
    """Phi of every token, set after set.

    Attributes
    ----------
    scores : ndarray of shape (T, width), or (T, classes, width) with several classes
        The scores.
    offsets : ndarray of shape (B + 1,)
        Set b's tokens are ``scores[offsets[b]:offsets[b + 1]]``. An empty set has one token, all missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> sets = pa.table({"stars": [[5.0, 1.0], [3.0], [4.0, 4.0, 2.0]]})
    >>> scores, offsets = cs.SetRegressor(random_state=0).fit(sets, [3.0, 3.0, 3.3]).phi(sets)
    >>> scores.shape, offsets.tolist()
    ((6, 1), [0, 2, 3, 6])
    """

    scores: npt.NDArray[Any]
    offsets: npt.NDArray[Any]


def of_model(path: str, doc: str) -> Any:
    """Return a property: what the fitted model has at a path such as ``"link.loss"``."""
    part = attrgetter(path)
    return property(lambda self: part(self.as_model()), doc=doc)


class FittedModel(Exported, GivesOutputs):
    """What every fitted model offers: looking inside, checking, saving and drawing."""

    @abstractmethod
    def as_model(self) -> Model:
        """Return the fitted model as plain data, without scikit-learn; raise an error where there is none yet."""

    def _input(self, X: Any) -> Any:
        """Return sets as the model reads them; raise an error for files, of which only predictions are made."""
        refuse_files(X)
        return X

    def _input_if_any(self, X: Any) -> Any:
        return None if X is None else self._input(X)

    def _outputs(self, X: Any) -> FloatArray:
        if (stream := as_stream(X, by_path=False)) is None:
            return self.as_model().read(self._input(X)).outputs()
        model = self.as_model()
        # As large as those of a fit, of which a model remembers what it might take.
        at_once = min(memory_limit(model.parameters.get("max_memory")) // _OF_MEMORY, _MOST_BYTES)
        pieces = [model.read(table).outputs() for table in stream.tables(model.columns_of(stream), at_once)]
        if not pieces:
            raise ValueError("X holds 0 sample(s), that is, no sets, while a minimum of 1 is required.")
        return np.concatenate(pieces)

    def _link(self) -> Link:
        return self.as_model().link

    set_function_: SetFunction = of_model("function", "The set function, as tables of numbers.")
    binning_: Binning = of_model("binning", "Keypoints and categories of the features.")
    features_: tuple[Feature, ...] = of_model("binning.features", "The declared features in full.")
    trusts_: tuple[Trust, ...] = of_model("trusts", "The declared trusts.")
    loss_: str = of_model("link.loss", "The loss that was minimised.")
    certificate_: Certificate = of_model("certificate", "What `verify` found after fitting.")
    history_: list[dict[str, float]] = of_model(
        "record.history", "``epoch``, ``loss`` and ``validation_loss`` of every epoch."
    )
    best_epoch_: int = of_model("record.best_epoch", "The epoch whose parameters were kept.")
    interrupted_: bool = of_model("record.interrupted", "Whether an interrupt (Ctrl-C) ended training early.")
    smoothness_: float | None = of_model("record.smoothness", "The strength of the penalty, as asked for or found.")

    @property
    def n_iter_(self) -> int:
        """Epochs run."""
        return len(self.history_)

    def phi(self, X: Any) -> TokenScores:
        """Score every token; the mean over a set's tokens is what rho turns into the output.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.

        Returns
        -------
        TokenScores
            The scores, and where each set's begin.
        """
        scores, offsets = self.as_model().read(self._input(X)).scores()
        return TokenScores(scores[:, 0] if scores.shape[1] == 1 else scores, offsets)

    def rho(self, means: Any) -> FloatArray:
        """Apply rho to means of token scores.

        Parameters
        ----------
        means : array-like of shape (B, width)
            Values in [-1, 1], for one output; a single column may be given as ``(B,)``. With several classes that have
            set functions of their own, ``(B, classes * width)``.

        Returns
        -------
        ndarray of shape (B,), or (B, classes)
            Outputs in the unit of `decision_function` (classes) or of the model's output (numbers).
        """
        outputs = self.as_model().rho_outputs(np.asarray(means, dtype=np.float64))
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def explain(self, X: Any, label: Any = None, *, effects: bool = False) -> Explanation:
        """Return what each token of each set adds to the prediction.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.
        label : object, optional
            Of several classes the one to explain; by default each set's predicted class. The scores of two classes
            always speak for the second.
        effects : bool, default=False
            Whether to find out as well what a change of each feature of each token would do.

        Returns
        -------
        Explanation
            Predictions taken apart.
        """
        return self.as_model().read(self._input(X)).explain(label, effects=effects, frames=library_of(X))

    def importance(
        self,
        X: Any,
        y: Any = None,
        *,
        label: Any = None,
        method: str = "contribution",
        repeats: int = 5,
        random_state: int = 0,
    ) -> Importance:
        """Rank features and tokens by how much they matter for the predictions of some sets.

        Parameters
        ----------
        X : frame, SetData or array-like
            The sets, as for `fit`.
        y : array-like of shape (n,), optional
            Their labels, with ``method="permutation"``: features are ranked by the score that is lost. Without labels
            they are ranked by the mean absolute change of the prediction.
        label : object, optional
            Of several classes the one whose probability is looked at; by default each set's predicted class.
            Not with y.
        method : {"contribution", "permutation"}, default="contribution"
            ``"contribution"`` takes the mean absolute size of contributions: what a feature adds compared with what
            it is on average, and what `explain` says of a token. ``"permutation"`` shuffles one feature at a time,
            among the tokens of each set, and among those of all sets.
        repeats : int, default=5
            How often each feature is shuffled.
        random_state : int, default=0
            The seed of shuffling.

        Returns
        -------
        Importance
            Features and tokens, the most important first.
        """
        model, frames = self.as_model(), library_of(X)
        if method == "contribution":
            if y is not None:
                raise ValueError("y is for method='permutation'; contributions need no labels. Leave it out.")
            return importance_by_contribution(model, model.read(self._input(X)), label, frames)
        if method != "permutation":
            raise ValueError(f"method is {method!r}; choose 'contribution' or 'permutation'.")
        if isinstance(repeats, bool) or not isinstance(repeats, int | np.integer) or repeats < 1:
            raise ValueError(f"repeats is {repeats!r}; shuffle at least once.")
        if y is not None and label is not None:
            raise ValueError("With y the score of all classes is told, so label says nothing. Leave one of them out.")
        reading, rng = model.read(self._input(X)), np.random.default_rng(random_state)
        return importance_by_permutation(model, reading, y, label, int(repeats), rng, frames)

    def partial_dependence(self, feature: Any, X: Any = None, n: int = 50, *, label: Any = None) -> PartialDependence:
        """Return how predictions depend on one feature of one token.

        Feature and sets may come in either order, ``partial_dependence("stars", X)`` as well as scikit-learn's
        ``partial_dependence(X, "stars")``: the one that is a string is the feature. scikit-learn's own
        `PartialDependenceDisplay` cannot vary values within lists; draw the curve with its `plot`.

        Parameters
        ----------
        feature : str
            Its name.
        X : frame, SetData or array-like, optional
            Sets to predict for, as for `fit`. By default sets of one token, whose features are drawn each by itself
            among their keypoints, which stand where the training data did, or their categories.
        n : int, default=50
            Values that a numeric feature goes through, from its first keypoint to its last. A categorical one goes
            through its categories.
        label : object, optional
            Of several classes the one whose probability is told; of two it is the second. Where the feature is the
            value of a token table, only that for this class is changed.

        Returns
        -------
        PartialDependence
            The curve, and those of single sets.
        """
        name, sets = name_and_sets(feature, X)
        return dependence_of(self.as_model(), name, self._input_if_any(sets), n, label)

    def calibrators(self) -> dict[str, CalibratorCurve]:
        """Return the curves of phi's calibrators and their effects on scores, by feature.

        Returns
        -------
        dict of CalibratorCurve
            The curve of each feature, by its name.
        """
        return calibrator_curves(self.as_model())

    def verify(self, X: Any = None) -> Certificate:
        """Check every declared constraint, in the parameters and by probing.

        Parameters
        ----------
        X : frame, SetData or array-like, optional
            Sets to probe with; random ones by default. Models of strings and texts probe with random ones only.

        Returns
        -------
        Certificate
            All checks; true if every one holds.
        """
        model = self.as_model()
        positions = model.probed(self._input_if_any(X))
        return certify(model.function, model.binning, model.trusts, positions, unused=forbidden_features(model.edits))

    def edit(self) -> Editor:
        """Change the fitted model by hand: drop or pin tokens, flatten, cap or forbid features.

        Returns
        -------
        Editor
            Makes edits, undoes them, and compares before and after. Its ``model`` is a new model, verified and with
            the log of its edits; this one stays as it is.
        """
        return Editor(self.as_model().editable())

    def card(self, X: Any = None, y: Any = None) -> ModelCard:
        """Return what is to be known of the model before it is used.

        Parameters
        ----------
        X : frame, SetData or array-like, optional
            Sets to measure it on, as for `fit`; best are sets that it was not fitted on.
        y : array-like of shape (n,), optional
            Their labels.

        Returns
        -------
        ModelCard
            Data, features, constraints, metrics, edits, versions and limits; it shows itself in notebooks, and becomes
            Markdown or plain data.
        """
        if (X is None) != (y is None):
            raise ValueError("X and y belong together: a model is measured on sets with labels. Give both, or neither.")
        model = self.as_model()
        measured = None if X is None else quality(model, model.examples(self._input_if_any(X), y))
        return model.carded(measured)

    def save(self, path: str | os.PathLike[str], *, key: Key | None = None, notes: str | None = None) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced only once the new one is complete.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign the file with; see `clearset.load`.
        notes : str, optional
            What the model card is to say, such as intended use, owner and licence; by default what it said before.
        """
        with_notes(self.as_model(), notes).write(path, key)

    # These functions take the model as their first argument.
    plot_history = display.plot_history
    plot_quality = display.plot_quality
    plot_calibrators = display.plot_calibrators
    plot_rho = display.plot_rho
    plot_lattice = display.plot_lattice

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        names: Sequence[str | None] | None = None,
        title: str | None = None,
    ) -> None:
        """Write one HTML file that shows the model and evaluates it in the browser; it needs nothing else.

        Parameters
        ----------
        path : path-like
            Where to, such as ``report.html``; an existing file is replaced only once the new one is complete.
        X : frame, SetData or array-like, optional
            Sets, as for `fit`: the report shows how their values are distributed, and has some of them to begin with.
        y : array-like of shape (n,), optional
            Their labels: the report says how good the model is on them. Best are sets that it was not fitted on.
        names : sequence of str, optional
            What to call each of the sets, such as the products whose reviews they are; by default by their rows.
        title : str, optional
            What stands above it, such as "Sales of puzzles"; by default the estimator's name.
        """
        check_target(path)
        document = report_document(self.as_model(), self._input_if_any(X), y, names=names, title=title)
        display.write_report(document, path)
