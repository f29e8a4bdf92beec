"""A model over sets of numbers and categories, as exports take it."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearset.functions import Link, SetFunction
from clearset.sets import Binning


@dataclass(frozen=True, eq=False)
class ValueModel:
    """A model over sets of numbers and categories, as it is written.

    Parameters
    ----------
    binning : Binning
        The features, keypoints and categories.
    function : SetFunction
        The set function, with what training has shown.
    link : Link
        From outputs to predictions.
    sets_of_one : bool
        Whether every set has one token, so that features are explained, not tokens.
    set_columns : sequence of str
        The features that belong to whole sets.
    absent : sequence of str
        The features that are not looked at, and so are no inputs.
    """

    binning: Binning
    function: SetFunction
    link: Link
    sets_of_one: bool
    set_columns: Sequence[str]
    absent: Sequence[str]
