"""Labels of sets of strings and texts: whether they are classes or numbers, and which loss fits them."""

from typing import Any, Literal

from clearset.estimators._input import check_counts
from clearset.estimators._parameter_rules import is_auto
from clearset.functions import CROSSED_LOSSES, REGRESSION_LOSSES, Link
from clearset.sets import Labels, check_size, check_weights, count_examples, read_labels
from clearset.training import LabelledExamples

Task = Literal["auto", "classes", "number"]


def read_examples(
    X: Any, y: Any, sample_weight: Any, link: Link | None, *, task: Task, loss: str, name: str
) -> tuple[LabelledExamples, Link]:
    """Check labels and weights, and settle the link by the labels, unless that of an earlier fit is given."""
    # `task` and `loss` are what the estimator takes labels for and minimises, and messages call it `name`.
    n = count_examples(X)
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    if link is not None:
        task = "number" if link.classes is None else "classes"
    elif task == "auto" and not is_auto(loss):
        task = "number" if loss in REGRESSION_LOSSES else "classes"
    labels, weights = read_labels(y, n, task), check_weights(sample_weight, n)
    if labels.classes is None:
        check_size(labels.values)
    settled = _new_link(labels, loss, name) if link is None else link
    if settled.loss == "poisson":
        check_counts(labels.values[weights > 0], allow_zeros=link is not None)
    return LabelledExamples.of(X, labels, weights, settled.classes), settled


def _new_link(labels: Labels, loss: str, name: str) -> Link:
    """Settle the classes and the loss."""
    classes = labels.classes
    if classes is not None:
        if len(classes) < 2:
            raise ValueError(f"{name} needs at least two classes; y holds one class only, {classes.tolist()[0]!r}.")
        if classes.dtype.kind == "f" and (classes % 1 != 0).any():
            raise ValueError(
                f"Unknown label type: continuous. {name} tells classes apart, but y holds numbers with fractions "
                f"(such as {classes[classes % 1 != 0][0]:g}). Use SemanticRegressor, or a loss for numbers."
            )
    allowed = REGRESSION_LOSSES if classes is None else CROSSED_LOSSES
    if is_auto(loss):
        return Link(allowed[0], classes)
    if loss not in allowed:
        what = "numbers" if classes is None else "classes"
        raise ValueError(f"loss={loss!r} does not fit labels that are {what}; choose among {allowed}.")
    return Link(loss, classes)
