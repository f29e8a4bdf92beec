"""The link: from the outputs of a set function to numbers, probabilities and classes."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, softmax

FloatArray = npt.NDArray[np.float64]

# Shares are kept this far from 0 and 1, so that their logarithms are finite.
_SMALLEST_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class Link:
    """How outputs become predictions, by the loss that the set function was trained with.

    Parameters
    ----------
    loss : str
        The name of the loss.
    classes : ndarray, optional
        The classes in the order of their outputs; two classes share one output, the log-odds of the second. None where
        labels are numbers.
    nothing : ndarray of shape (C,), optional
        The outputs for a set of which nothing is known; by default what the set function makes of it.

    Examples
    --------
    >>> import numpy as np
    >>> from clearset.functions import Link
    >>> link = Link("log_loss", np.array(["no", "yes"]))
    >>> link.probabilities(np.array([[0.0]]))
    array([[0.5, 0.5]])
    >>> link.predictions(np.array([[2.0], [-2.0]])).tolist()
    ['yes', 'no']
    """

    loss: str
    classes: npt.NDArray[Any] | None = None
    nothing: FloatArray | None = None

    @property
    def name(self) -> Literal["identity", "exp", "margin", "sigmoid", "softmax", "shares"]:
        """The function from outputs to estimates."""
        if self.classes is None:
            return "exp" if self.loss == "poisson" else "identity"
        if self.loss == "hinge":
            return "margin"
        if len(self.classes) == 2:
            return "sigmoid"
        return "shares" if self.loss == "binary_log_loss" else "softmax"

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities of classes."""
        return self.name in ("sigmoid", "softmax", "shares")

    @property
    def n_outputs(self) -> int:
        """Columns of outputs: 1 for a number or two classes, else one for each class."""
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    def estimates(self, outputs: FloatArray) -> FloatArray:
        """Return the expected label: ``(n, 1)`` for a number or the second of two classes, ``(n, classes)`` for more.

        With the hinge loss, which has no probabilities, the outputs are returned as they are.
        """
        name = self.name
        if name == "exp":
            return np.exp(outputs)
        if name == "sigmoid":
            return np.asarray(expit(outputs))
        if name == "softmax":
            return np.asarray(softmax(outputs, axis=1))
        if name == "shares":
            shares = expit(outputs)
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        return outputs

    def of_one_output(self, outputs: FloatArray) -> FloatArray:
        """Return the estimate that one of the outputs stands for by itself; the output where it needs the others."""
        # The others are needed by a softmax, and by the margins of several classes.
        if self.name in ("sigmoid", "shares"):
            return np.asarray(expit(outputs))
        return np.exp(outputs) if self.name == "exp" else outputs

    def probabilities(self, outputs: FloatArray) -> FloatArray:
        """Return the probability of each class, ``(n, classes)``."""
        if self.name == "sigmoid":
            return np.hstack([expit(-outputs), expit(outputs)])
        return self.estimates(outputs)

    def predictions(self, outputs: FloatArray) -> npt.NDArray[Any]:
        """Return the predicted numbers or classes, ``(n,)``."""
        if self.classes is None:
            return self.estimates(outputs)[:, 0]
        chosen = outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(np.intp)
        labels: npt.NDArray[Any] = self.classes[chosen]
        return labels

    def top(self, outputs: FloatArray, k: int) -> npt.NDArray[Any]:
        """Return the k most likely classes, ``(n, k)``, the most likely first."""
        if outputs.shape[1] == 1:
            outputs = np.hstack([-outputs, outputs])
        labels: npt.NDArray[Any] = np.asarray(self.classes)[np.argsort(-outputs, axis=1, kind="stable")[:, :k]]
        return labels

    def outputs_of(self, estimates: npt.ArrayLike) -> FloatArray:
        """Return outputs that become these estimates: of a number, the second of two classes, or each of several."""
        wanted = np.asarray(estimates, dtype=np.float64)
        shares = np.clip(wanted, _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)
        if self.name == "softmax":
            return np.log(shares)
        if self.name in ("sigmoid", "shares"):
            return np.asarray(logit(shares))
        return np.log(np.maximum(wanted, _SMALLEST_SHARE)) if self.name == "exp" else wanted

    def with_nothing(self, outputs: FloatArray, empty: npt.NDArray[np.bool_]) -> FloatArray:
        """Replace the ``(n, C)`` outputs of sets of which nothing is known; in place, and returned."""
        if self.nothing is not None:
            outputs[empty] = self.nothing
        return outputs

    def columns(self, outputs: FloatArray, label: Any) -> npt.NDArray[np.int64]:
        """Return the column of outputs that speaks for a class, for each set; None is each set's predicted class."""
        if label is None:
            return np.asarray(outputs.argmax(axis=1))
        if self.classes is None:
            raise ValueError(f"label={label!r} names a class, but the labels are numbers. Leave it out.")
        places = np.flatnonzero(self.classes == label)
        if not len(places):
            raise ValueError(f"label={label!r} is not among the classes fitted, {self.classes.tolist()[:20]}.")
        if outputs.shape[1] > 1:
            return np.full(len(outputs), places[0])
        if places[0] == 0:
            raise ValueError(
                f"label={label!r} is the first of two classes; scores speak for the second, "
                f"{self.classes.tolist()[1]!r}, and lower ones for the first. Leave label out."
            )
        return np.zeros(len(outputs), np.int64)

    def labels(self, columns: npt.NDArray[np.int64]) -> npt.NDArray[Any] | None:
        """Return the class that each column of outputs speaks for; None where labels are numbers."""
        if self.classes is None:
            return None
        named: npt.NDArray[Any] = self.classes[columns + (self.n_outputs == 1)]
        return named
