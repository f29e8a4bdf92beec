"""A declaration that one feature says how far to trust another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ._features import Feature
from ._short_repr import short_repr
from ._unknown_names import unknown_name


@dataclass(frozen=True, repr=False)
class Trust:
    """A declaration that one feature says how far to trust another.

    Parameters
    ----------
    feature : str
        The monotone feature whose effect is qualified.
    by : str
        The feature that qualifies it: the larger, the more `feature` matters.
    shape : {"edgeworth", "trapezoid"}, default="edgeworth"
        "edgeworth": the effect of `feature` grows with `by`. "trapezoid": the range of predictions that
        `feature` can reach widens at both ends as `by` grows.

    Examples
    --------
    >>> from clearset.sets import Trust
    >>> Trust("star_rating", by="num_helpful")
    Trust('star_rating', by='num_helpful')
    """

    feature: str
    by: str
    shape: Literal["edgeworth", "trapezoid"] = "edgeworth"

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in (self.feature, self.by):
            if not isinstance(name, str):
                raise TypeError(f"A trust names two features by strings; received {name!r}.")
        if self.shape not in ("edgeworth", "trapezoid"):
            raise ValueError(f"A trust has shape={self.shape!r}, but shape is 'edgeworth' or 'trapezoid'.")
        if self.feature == self.by:
            raise ValueError(f"A trust names {self.feature!r} twice. A feature cannot qualify itself.")


def check_trusts(trusts: Sequence[Trust], features: Sequence[Feature]) -> None:
    """Raise ValueError unless every trust fits the declared features.

    Examples
    --------
    >>> from clearset.sets import Feature, Trust, check_trusts
    >>> features = [Feature("stars", monotonic="increasing"), Feature("votes")]
    >>> check_trusts([Trust("stars", by="votes")], features)
    """
    declared = {feature.name: feature for feature in features}
    seen: set[Trust] = set()
    for trust in trusts:
        if not isinstance(trust, Trust):
            raise TypeError(f"trusts holds {trust!r}, which is not a Trust.")
        for name in (trust.feature, trust.by):
            if name not in declared:
                raise ValueError(f"{trust}: " + unknown_name("feature", name, declared))
            if declared[name].kind != "numeric":
                raise ValueError(f"{trust}: feature {name!r} is categorical, but trust needs two numeric ones.")
        if declared[trust.feature].direction == 0:
            raise ValueError(
                f"{trust}: feature {trust.feature!r} has no direction. Declare it monotonic='increasing' or "
                "'decreasing'."
            )
        if trust.shape == "trapezoid" and declared[trust.by].direction != 0:
            raise ValueError(
                f"{trust}: feature {trust.by!r} is declared {declared[trust.by].monotonic}. A trapezoid "
                f"widens the range at both ends, so the two together would force {trust.by!r} to have no "
                f"effect at one end. Leave out the direction of {trust.by!r}, or use shape='edgeworth'."
            )
        if trust.shape == "trapezoid" and declared[trust.by].shape is not None:
            raise ValueError(
                f"{trust}: feature {trust.by!r} is declared {declared[trust.by].shape}, which needs a direction of its "
                f"effect. A trapezoid leaves it none. Leave out the shape of {trust.by!r}, or use shape='edgeworth'."
            )
        if trust.shape == "trapezoid" and declared[trust.feature].shape is not None:
            raise ValueError(
                f"{trust}: feature {trust.feature!r} is declared {declared[trust.feature].shape}. A trapezoid "
                "fixes both ends of its calibrator, which may leave it no such curve. Leave out the shape, or "
                "use shape='edgeworth'."
            )
        if trust in seen:
            raise ValueError(f"{trust} is declared twice.")
        seen.add(trust)
