"""What every estimator has in common: it holds a model once it is fitted, and hands over to it."""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearset import display
from clearset.engines import engine
from clearset.estimators._parameter_rules import Either, Flag, Number, OneOf, Rule, Threads, Whole, check_parameters
from clearset.files import Key
from clearset.functions import Link, SetFunction
from clearset.models import Classifies, FittedModel, Predicts, Record, certify
from clearset.sets import Binning, Trust, named_labels, numbers_of_objects

# Where an estimator may train and predict.
DEVICES = ("auto", "cpu", "cuda")

P = ParamSpec("P")
R = TypeVar("R")


@functools.cache
def _parameter_names(estimator: type[BaseEstimator]) -> tuple[str, ...]:
    # Asked for at every prediction, and found by reading the signature.
    return tuple(estimator._get_param_names())


class ShownEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that shows itself in notebooks: its parameters before a fit, its model afterwards."""

    model_: Any

    def as_model(self) -> Any:
        """Return the fitted model as plain data, without scikit-learn; raise an error where there is none yet.

        Returns
        -------
        SetModel, SemanticModel or FittedJointModel
            The model.
        """
        check_is_fitted(self)
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def _repr_html_inner(self) -> str:
        if not self.__sklearn_is_fitted__():
            return str(super()._repr_html_inner())
        return self._model_html()

    def _model_html(self) -> str:
        return display.model_html(self.as_model(), repr(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle


class ModelEstimator(FittedModel, ShownEstimator):
    """An estimator whose fit makes a model, `model_`, which answers everything that is asked of the estimator.

    Parameters
    ----------
    keypoints : int
        The number of keypoints of each numeric calibrator of phi, unless its `Feature` has a number of its own.
    rho_keypoints : int
        The number of keypoints of rho's calibrators and of the output calibrator.
    optimizer : {"adam", "adagrad"}
        How the parameters are trained.
    constraints : {"project", "light_touch"}
        ``"project"`` projects the parameters onto the constraints after every step. ``"light_touch"`` adds penalties on
        sampled constraints and projects at the end. Either way all constraints hold exactly after fitting.
    smoothness : float
        The strength of the penalty on bends of calibrators and twists of lattices, 0 for none. Its effect becomes
        weaker with more training data.
    learning_rate : float
        The learning rate at the start; it falls along a cosine. Adagrad needs about ten times the rate of Adam.
    epochs : int
        The largest number of passes over the training data. Where all are used while the loss is still falling
        noticeably, `fit` gives a ``sklearn.exceptions.ConvergenceWarning``.
    patience : int
        The number of epochs without a better one after which early stopping ends training.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed of everything random. The same seed gives the same bits, whatever the number of threads.
    n_jobs : int or None
        The number of threads. None and -1 take all cores.

    Attributes
    ----------
    set_function_ : SetFunction
        The trained tables of phi and rho, in float64.
    trusts_ : tuple of Trust
        The declared trusts.
    loss_ : str
        The loss that was minimised.
    certificate_ : Certificate
        What `verify` found after fitting.
    history_ : list of dict
        ``epoch``, ``loss`` and ``validation_loss`` of every epoch.
    n_iter_ : int
        The number of epochs that were run.
    best_epoch_ : int
        The epoch whose parameters were kept, counted from 1.
    interrupted_ : bool
        Whether an interrupt (Ctrl-C) ended training early.
    smoothness_ : float
        The strength of the penalty on bends and twists, as it was asked for or as ``"auto"`` has found it.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "keypoints": Whole(2, 1000),
        "rho_keypoints": Whole(2, 1000),
        "optimizer": OneOf(("adam", "adagrad")),
        "constraints": OneOf(("project", "light_touch")),
        "smoothness": Number(high=1e100, or_low=True),
        "learning_rate": Number(),
        "epochs": Whole(1),
        "batch_size": Either(Whole(1), OneOf(("auto",))),
        "early_stopping": Flag(),
        "patience": Whole(1),
        "n_jobs": Threads(),
        "verbose": Whole(0),
    }

    def as_model(self) -> Any:
        """Return the fitted model as plain data, without scikit-learn; raise an error where there is none yet.

        Returns
        -------
        SetModel or SemanticModel
            The model.
        """
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        known = self.model_.parameters
        if any(getattr(self, name) is not known.get(name) for name in _parameter_names(type(self))):
            # They may have been changed since the fit: the number of threads, or what the next fit is to do.
            self.__dict__.setdefault("_parameters_of_fit", known)
            self.model_ = replace(self.model_, parameters=self.get_params(deep=False))
        return self.model_

    def save(self, path: str | os.PathLike[str], *, key: Key | None = None, notes: str | None = None) -> None:
        """Write the model to one file that holds no code and no examples; `clearset.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced only once the new one is complete.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign the file with; see `clearset.load`.
        notes : str, optional
            What the model card is to say, such as intended use, owner and licence.
        """
        model = self.as_model()
        check_parameters(model.parameters, self._rules)
        model.save(path, key=key, notes=notes)

    def _keep(
        self,
        kind: Callable[..., Any],
        function: SetFunction,
        binning: Binning,
        trusts: Sequence[Trust],
        link: Link,
        record: Record,
        **further: Any,
    ) -> None:
        """Hold the model of what was fitted, after a check that it keeps its promises, which it always should."""
        names = getattr(self, "feature_names_in_", None)
        certificate = certify(function, binning, tuple(trusts))
        if not certificate:
            raise RuntimeError(f"The fitted model breaks a declared constraint, which is a bug.\n{certificate}")
        self.__dict__.pop("_parameters_of_fit", None)
        self.model_ = kind(
            estimator=type(self).__name__,
            parameters=self.get_params(deep=False),
            function=function,
            binning=binning,
            trusts=tuple(trusts),
            link=link,
            certificate=certificate,
            record=record,
            feature_names_in=None if names is None else tuple(map(str, names)),
            **further,
        )


class _ScoresFiles:
    """Scores as scikit-learn does, sets in files as well."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of predicted classes, or R² of predicted numbers.

        Parameters
        ----------
        X : frame, SetData, array-like, path or Arrow data set
            The sets, as for `fit`.
        y : array-like of shape (n,) or str
            Their labels; of data in files, the name of their column.
        sample_weight : array-like of shape (n,) or str, optional
            One weight for each set, or the name of their column.

        Returns
        -------
        float
            The score; 1 is the best.
        """
        y, sample_weight = named_labels(X, y, sample_weight)
        y = numbers_of_objects(y) if isinstance(y, np.ndarray) else y
        score: float = super().score(X, y, sample_weight)  # type: ignore[misc]
        return score


class EstimatorOfClasses(_ScoresFiles, ClassifierMixin, Classifies):  # type: ignore[misc]
    """An estimator that tells classes apart; before a fit its parameter says which loss there will be.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        How much the examples of each class count, as in scikit-learn: a dict of a number above 0 for each class, where
        a class that is left out counts as 1; or ``"balanced"``, by which all classes have the same total weight. It
        multiplies `sample_weight` and has the same meaning: whole numbers count as repetitions, so that the smoothness
        penalty is weaker, as with more data; of other weights only the ratios matter, and ``"balanced"`` leaves the
        strength of the penalty as it is. Examples to validate on are weighted in the same way, and so are the means and
        the prior of a token table. Probabilities are those of weighted examples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    loss: str

    def _loss_name(self) -> str:
        return super()._loss_name() if "model_" in vars(self) else self.loss


class EstimatorOfNumbers(_ScoresFiles, RegressorMixin, Predicts):  # type: ignore[misc]
    """An estimator that predicts numbers."""


def of_model(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Make a method of an estimator that hands over to the method of the same name of its model."""

    @functools.wraps(method)
    def handed_over(self: Any, /, *arguments: P.args, **options: P.kwargs) -> R:
        answer: R = getattr(self.as_model(), method.__name__)(*arguments, **options)
        return answer

    return handed_over


def check_device(device: str) -> None:
    """Raise the error that says what a device needs, if it is not there.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
        The device.
    """
    if device == "cuda":
        engine("cuda")


def check_pair(validation_data: Any) -> tuple[Any, Any]:
    """Return the sets and the labels that are given to validate on.

    Parameters
    ----------
    validation_data : tuple (X, y)
        The sets and the labels.

    Returns
    -------
    X : object
        The sets.
    y : object
        The labels.
    """
    if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
        raise TypeError(
            f"validation_data is a pair (X, y); received {type(validation_data).__name__}. Pass sets and labels."
        )
    return validation_data[0], validation_data[1]
