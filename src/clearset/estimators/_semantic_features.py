"""What semantic estimators are told of features and trusts, checked before any work."""

from collections.abc import Iterable, Sequence
from typing import Any

from clearset.sets import Feature, Trust, check_trusts
from clearset.tokens import NAMES, VALUES

MAX_FOLDS = 31
MAX_FEATURES = 12  # of a full lattice: its vertices double with each


def check_features(features: Any, details: Sequence[str], trusts: Any) -> tuple[Feature, ...] | None:
    """Read the features that the set function is to see, the value first; None for the usual ones."""
    if isinstance(features, str | Feature) or not isinstance(features, Iterable | None):
        raise TypeError(
            f"features must be a list of names or Features; received {features!r}. Write it in brackets."
        )
    if features is None:
        if trusts:
            raise ValueError(
                "trusts speak of features, so name these too, such as features=['mean_label', 'count']."
            )
        return None
    declared = [feature if isinstance(feature, Feature) else Feature(feature) for feature in features]
    names = [feature.name for feature in declared]
    known = (*NAMES, *details)
    for feature in declared:
        if feature.name not in known:
            raise ValueError(
                f"Feature {feature.name!r} is not known of tokens; choose among {', '.join(known)}."
            )
        if feature.kind == "categorical" or feature.lattice_size not in (None, 2):
            raise ValueError(f"Feature {feature.name!r} must be numeric, with a lattice of size 2.")
    if len(set(names)) < len(names):
        raise ValueError(f"features names something twice: {names}.")
    values = [name for name in names if name in VALUES]
    if len(values) != 1:
        raise ValueError(
            f"features must hold one of {' and '.join(VALUES)}, which the estimate rises with; received {names}."
        )
    if len(names) > MAX_FEATURES:
        raise ValueError(f"features names {len(names)}; at most {MAX_FEATURES} are allowed.")
    value = declared[names.index(values[0])]
    if value.monotonic not in (None, "increasing"):
        raise ValueError(
            f"Feature {value.name!r} is always increasing; received monotonic={value.monotonic!r}."
        )
    rising = Feature(
        value.name, monotonic="increasing", keypoints=value.keypoints, bounds=value.bounds, shape=value.shape
    )
    chosen = (rising, *(feature for feature in declared if feature.name != value.name))
    check_trusts(tuple(trusts), chosen)
    return chosen


def check_trust_list(trusts: Any) -> tuple[Trust, ...]:
    """Read trusts."""
    if not isinstance(trusts, Iterable):
        raise TypeError(
            f"trusts is a list of Trust, empty for none; received {trusts!r}. Put it into a list."
        )
    found = tuple(trusts)
    for trust in found:
        if not isinstance(trust, Trust):
            raise TypeError(f"trusts must be a list of Trust; received {trust!r}.")
    return found
