"""What is seen of every feature in one pass over sets, from which keypoints and categories are chosen."""

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ._categories import Category
from ._features import Feature
from ._labels import check_weights
from ._offsets import FloatArray
from ._read_sets import read_sets
from ._set_data import SetData
from ._set_stream import SetSource
from ._value_sample import Gather, ValueSample, mixed, set_keys, token_keys

# Samples are drawn faster from large pieces.
PIECE_TOKENS = 1 << 22


class Observed:
    """Values and categories of features.

    Parameters
    ----------
    features : sequence of Feature
        The features.

    Attributes
    ----------
    samples : dict
        A sample of the values of each numeric feature.
    categories : dict
        The categories that occur of each categorical one.
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = tuple(features)
        self.samples = {each.name: ValueSample() for each in features if each.kind == "numeric"}
        self.categories: dict[str, set[Category]] = {each.name: set() for each in features if each.kind != "numeric"}

    @classmethod
    def of(cls, data: SetSource, features: Sequence[Feature], sample_weight: npt.ArrayLike | None = None) -> "Observed":
        """Go through sets once.

        Parameters
        ----------
        data : SetData or SetStream
            The sets.
        features : sequence of Feature
            The features.
        sample_weight : array-like of shape (B,), optional
            Weights of the sets; those of weight 0 are left out.
        """
        observed = cls(features)
        weights = None if sample_weight is None else check_weights(sample_weight, len(data))
        counted = None if weights is None or weights.all() else weights > 0
        # Weights that are all the same say nothing, and without them values need not be sorted together with theirs.
        if weights is not None and len(np.unique(weights[weights > 0])) < 2:
            weights = None
        start = data.first
        for piece in data.pieces(PIECE_TOKENS) if isinstance(data, SetData) else data.pieces():
            part = slice(start, start + len(piece))
            observed._add(
                start,
                read_sets(piece, features),
                None if counted is None else counted[part],
                None if weights is None else weights[part],
            )
            start += len(piece)
        return observed

    def gathered(self, gather: Gather) -> "Observed":
        """Return what all processes have observed; each of them calls this."""
        whole = Observed(self.features)
        for name, sample in self.samples.items():
            whole.samples[name] = sample.gathered(gather)
        for name, categories in self.categories.items():
            known = np.frombuffer(json.dumps(sorted(categories, key=repr)).encode(), np.uint8)
            whole.categories[name] = {category for part in gather(known) for category in json.loads(part.tobytes())}
        return whole

    def _add(self, first: int, data: SetData, counted: np.ndarray | None, weights: FloatArray | None) -> None:
        keys = {False: token_keys(first, data.offsets), True: set_keys(first, len(data))}
        orders = {per_set: mixed(each) for per_set, each in keys.items()}
        for feature in self.features:
            values, per_set = data.column(feature.name)
            present = ~np.isnan(values)
            if counted is not None:
                present &= counted if per_set else np.repeat(counted, data.sizes)
            if feature.kind == "categorical":
                known = data.categories[feature.name]
                self.categories[feature.name] |= {known[code] for code in np.unique(values[present]).astype(np.intp)}
                continue
            of_values = weights if per_set or weights is None else np.repeat(weights, data.sizes)
            chosen: slice | np.ndarray = slice(None) if present.all() else present
            self.samples[feature.name].add(
                keys[per_set][chosen],
                orders[per_set][chosen],
                values[chosen],
                None if of_values is None else of_values[chosen],
            )
