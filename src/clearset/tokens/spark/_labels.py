"""Labels and weights of a Spark DataFrame: what they are, checked before anything is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import types

from clearset.sets import Labels, Task, is_number, read_labels, read_weights
from clearset.tokens._codes import Float64, Int32, Int64
from clearset.tokens._counting import full_classes, prior_contributions
from clearset.tokens._mining import contributions_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MOST_CLASSES = 100  # as `read_labels` has it: more distinct numbers are a measurement


class LabelColumns(NamedTuple):
    """The names of the columns of labels and weights, and what the labels are."""

    label: str
    weight: str | None
    task: Task
    classes: npt.NDArray[Any] | None

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [self.label] if self.weight is None else [self.label, self.weight]

    @property
    def n_channels(self) -> int:
        """The number of classes; 1 for a number."""
        return 1 if self.classes is None else len(self.classes)

    def channels(self, table: pa.Table) -> Int32:
        """Return the place of each row's label among all classes; 0 for numbers."""
        if self.classes is None:
            return np.zeros(len(table), np.int32)
        labels = self._labels(table)
        places: Int32 = np.searchsorted(self.classes, np.asarray(labels.classes)).astype(np.int32)[labels.values]
        return places

    def prior_contributions(self, table: pa.Table) -> Float64:
        """Return what each row adds to the prior."""
        return prior_contributions(self._labels(table), self._weights(table))

    def contributions(self, table: pa.Table, centre: float | None) -> Float64 | None:
        """Return what each row adds to sums of its tokens; None where rows are only counted."""
        return contributions_of(self._weights(table), None if centre is None else self._labels(table).values - centre)

    def _labels(self, table: pa.Table) -> Labels:
        return read_labels(table[self.label], len(table), self.task)

    def _weights(self, table: pa.Table) -> Float64 | None:
        return None if self.weight is None else read_weights(table[self.weight], len(table))


def label_columns(
    frame: DataFrame, empty: pa.Table, label: str, weight: str | None, task: str
) -> tuple[LabelColumns, Int64 | None]:
    """Say what the labels of all rows are, as `read_labels` would, and in how many rows each class is; checked."""
    # `empty` is the frame without its rows, in Arrow.
    from pyspark.sql import functions as F  # noqa: N812

    kind = empty[label].type
    numeric = is_number(kind) or types.is_decimal(kind)
    if types.is_nested(kind) or (task == "number" and not numeric):
        raise TypeError(f"Column {label!r} of labels holds {kind}. Give numbers, or with classes one label a row.")
    read_labels(empty[label], 0, task)  # that there is such a task
    if weight is not None and not is_number(empty[weight].type) and not types.is_decimal(empty[weight].type):
        raise TypeError(f"Column {weight!r} of weights holds {empty[weight].type}; give one number a row.")
    fractions = _check_rows(frame, label, weight, numeric)
    if numeric and (task == "number" or (task == "auto" and (fractions or _has_many_values(frame, label)))):
        return LabelColumns(label, weight, "number", None), None
    seen = F.lit(1) if weight is None else F.when(column(weight) > 0, 1)
    found = frame.groupBy(column(label).alias("label")).agg(F.count(seen).alias("count")).toArrow()
    labels, counts = read_labels(found["label"], len(found), "classes"), found["count"].to_numpy()
    observed = np.unique(labels.values[counts > 0])
    classes, _ = full_classes(labels._replace(classes=np.asarray(labels.classes)[observed]))
    columns = LabelColumns(label, weight, "classes", classes)
    of_rows = columns.channels(pa.table({label: found["label"].filter(pa.array(counts > 0))}))
    return columns, np.bincount(of_rows, weights=counts[counts > 0], minlength=len(classes)).astype(np.int64)


def column(name: str) -> Column:
    """Return a column by its name; in back quotes a dot is part of the name, not of a path."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("`" + name.replace("`", "``") + "`")


def _check_rows(frame: DataFrame, label: str, weight: str | None, numeric: bool) -> bool:
    """Check labels and weights; return whether some label has a fraction."""
    from pyspark.sql import functions as F  # noqa: N812

    checks = {"rows": F.count(F.lit(1)), "missing": F.max(column(label).isNull())}
    if numeric:
        numbers = column(label).cast("double")
        checks |= {"endless": F.max(_not_finite(numbers)), "fractions": F.max(numbers != F.rint(numbers))}
    if weight is not None:
        weights = column(weight)
        wrong = weights.isNull() | _not_finite(weights) | (weights < 0)
        checks |= {"wrong": F.max(wrong), "total": F.sum(weights.cast("double"))}
    found = frame.agg(*(check.alias(name) for name, check in checks.items())).collect()[0].asDict()
    if not found["rows"]:
        raise ValueError("X holds 0 sample(s), that is, no examples, while a minimum of 1 is required.")
    if found["missing"]:
        raise ValueError(
            f"Column {label!r} of labels is missing in some rows. Remove examples without a label: "
            f"df.dropna(subset=[{label!r}])."
        )
    if found.get("endless"):
        raise ValueError(f"Column {label!r} of labels holds NaN or infinity. Labels must be finite.")
    if found.get("wrong"):
        raise ValueError(
            f"Column {weight!r} of weights holds nulls, NaN, infinity or numbers below 0; weights are 0 or more."
        )
    if weight is not None and not np.isfinite(found["total"]):
        raise ValueError(f"The sum of column {weight!r} of weights is infinite. Divide all weights by a constant.")
    if weight is not None and not found["total"]:
        raise ValueError("All weights are 0, so that there are no examples. Give some of them weight.")
    return bool(found.get("fractions"))


def _has_many_values(frame: DataFrame, label: str) -> bool:
    return bool(frame.select(column(label)).distinct().limit(_MOST_CLASSES + 1).count() > _MOST_CLASSES)


def _not_finite(numbers: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    numbers = numbers.cast("double")
    return F.isnan(numbers) | (F.abs(numbers) == float("inf"))
