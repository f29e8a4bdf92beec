"""Blocks: which columns of which parameter obey what, read off the declared features."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from clearset.functions._layout import Layout
from clearset.functions.projections import (
    ConstraintSet,
    HalfSpaces,
    curvature_rows,
    edgeworth_rows,
    monotone_rows,
    order_rows,
    trapezoid_rows,
)
from clearset.sets import Binning, Feature, Trust

_OPPOSITE: dict[str, Literal["convex", "concave"]] = {"convex": "concave", "concave": "convex"}


@dataclass(frozen=True)
class Block:
    """Constraints on some columns of one table; every row of the table obeys them."""

    layer: str  # which of the six layers, in words
    table: str  # the name of the parameter among `SetFunction.tables`
    columns: slice  # where the block stands in the table's rows
    constraints: ConstraintSet
    chain: bool = False  # whether columns just do not fall: all such blocks of a table are projected at once by pooling
    pinned: bool = False  # whether the first column stays at the lower bound and the last at the upper one


def lattice_direction(feature: Feature) -> int:
    """Return 1, -1 or 0: whether phi's lattices must rise or fall along a feature, or neither.

    A shape is kept by the calibrator, so the lattice must rise for the token's score to have it too; along a decreasing
    feature it falls, and the calibrator has the opposite shape.

    Parameters
    ----------
    feature : Feature
        The declared feature.

    Returns
    -------
    {1, -1, 0}
        The direction.
    """
    return feature.direction or (1 if feature.shape is not None else 0)


def monotonic_name(feature: Feature) -> str:
    """Return the name of the constraint that a monotonic feature declares.

    Parameters
    ----------
    feature : Feature
        A feature with ``monotonic``.

    Returns
    -------
    str
        The name.
    """
    way = feature.monotonic if isinstance(feature.monotonic, str) else "increasing in the order of its categories"
    return f"{feature.name} {way}"


def shape_name(feature: Feature) -> str:
    """Return the name of the constraint that a shape declares.

    Parameters
    ----------
    feature : Feature
        A feature with ``shape``.

    Returns
    -------
    str
        The name.
    """
    return f"{feature.name} {feature.shape}"


def trust_name(trust: Trust) -> str:
    """Return the name of the constraint that a trust declares.

    Parameters
    ----------
    trust : Trust
        The declared trust.

    Returns
    -------
    str
        The name.
    """
    return f"{trust.feature} trusted by {trust.by} ({trust.shape})"


def calibrator_blocks(binning: Binning, trusts: Sequence[Trust]) -> Iterator[Block]:
    """Yield the constraints of layer 1."""
    # A numeric calibrator must not fall where the lattice's direction has to carry through to the feature, so where the
    # feature is monotonic or says how far to trust another one. Elsewhere it is free, so that a feature may have its
    # best value in the middle.
    carried = {trust.by: trust_name(trust) for trust in trusts}
    carried |= {feature.name: monotonic_name(feature) for feature in binning.features if feature.monotonic}
    ends = {trust.feature for trust in trusts if trust.shape == "trapezoid"}
    for feature, keypoints, categories in zip(binning.features, binning.keypoints, binning.categories, strict=True):
        columns = binning.slots_of(feature.name)
        size = columns.stop - columns.start
        groups: dict[str, HalfSpaces] = {}
        if keypoints is not None and feature.name in carried:
            groups[carried[feature.name]] = monotone_rows((size,), (1,))
        if keypoints is not None and feature.shape is not None:
            curvature = _OPPOSITE[feature.shape] if feature.direction < 0 else feature.shape
            groups[shape_name(feature)] = curvature_rows(keypoints, curvature)
        if categories is not None and feature.pairs:
            places = {category: place for place, category in enumerate(categories)}
            groups[carried[feature.name]] = order_rows([(places[low], places[high]) for low, high in feature.pairs])
        yield Block(
            "calibrators of phi",
            "phi.calibration",
            columns,
            ConstraintSet(groups, 0.0, 1.0, size),
            chain=keypoints is not None and feature.name in carried and feature.shape is None,
            pinned=feature.name in ends,
        )


def lattice_blocks(features: Sequence[Feature], trusts: Sequence[Trust], layout: Layout) -> Iterator[Block]:
    """Yield the constraints of layer 2, lattice by lattice of the ensemble."""
    names = [feature.name for feature in features]
    for lattice, subset in enumerate(layout.subsets):
        sizes = [layout.sizes[d] for d in subset]
        groups: dict[str, HalfSpaces] = {}
        for axis, d in enumerate(subset):
            if lattice_direction(features[d]):
                name = monotonic_name(features[d]) if features[d].direction else shape_name(features[d])
                directions = [lattice_direction(features[d]) if other == axis else 0 for other in range(len(subset))]
                groups[name] = monotone_rows(sizes, directions)
        for trust in trusts:
            main, by = names.index(trust.feature), names.index(trust.by)
            # Without the other feature the slope along either is constant in it, as edgeworth trust allows; for
            # trapezoid trust the layout has no lattice with `by` alone.
            if main in subset and by in subset:
                rows = edgeworth_rows if trust.shape == "edgeworth" else trapezoid_rows
                groups[trust_name(trust)] = rows(sizes, subset.index(main), subset.index(by), features[main].direction)
        columns = slice(layout.vertex_offsets[lattice], layout.vertex_offsets[lattice + 1])
        yield Block("lattices of phi", "phi.vertices", columns, ConstraintSet(groups, -1.0, 1.0, prod(sizes)))


def rho_blocks(width: int, keypoints: int) -> Iterator[Block]:
    """Yield the constraints of layers 4 to 6: increasing throughout."""
    group = "everything after the mean increasing"
    chain = monotone_rows((keypoints,), (1,))
    line = slice(0, keypoints)
    calibrators = ConstraintSet({group: chain}, 0.0, 1.0, keypoints)
    yield Block("calibrators of rho", "rho.calibrators", line, calibrators, chain=True)
    rows = monotone_rows((2,) * width, (1,) * width)
    lattice = ConstraintSet({group: rows}, -1.0, 1.0, 2**width)
    yield Block("lattice of rho", "rho.vertices", slice(0, 2**width), lattice)
    output = ConstraintSet({group: chain}, -float("inf"), float("inf"), keypoints)
    yield Block("output calibrator", "rho.output", line, output, chain=True)
