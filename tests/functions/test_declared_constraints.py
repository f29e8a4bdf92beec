"""Which constraints the declarations become, read off the blocks of `ShapeConstraints`."""

import numpy as np

from clearset.functions import Layout, ShapeConstraints
from clearset.sets import SIZE, Binning, Feature, SetData, Trust

from .example import Example


def described(shape: ShapeConstraints) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(block.layer, block.table, tuple(block.constraints.groups)) for block in shape.blocks]


def test_every_declaration_has_its_blocks():
    shop = "shop increasing in the order of its categories"
    rho = "everything after the mean increasing"
    assert described(Example().shape) == [
        ("calibrators of phi", "phi.calibration", ("stars increasing",)),
        ("calibrators of phi", "phi.calibration", ()),
        ("calibrators of phi", "phi.calibration", (shop,)),
        ("calibrators of phi", "phi.calibration", ("cs.SIZE decreasing",)),
        ("lattices of phi", "phi.vertices", ("stars increasing", shop, "cs.SIZE decreasing")),
        ("calibrators of rho", "rho.calibrators", (rho,)),
        ("lattice of rho", "rho.vertices", (rho,)),
        ("output calibrator", "rho.output", (rho,)),
    ]


def test_trust_binds_the_calibrator_that_carries_it():
    for shape, pinned in (("edgeworth", False), ("trapezoid", True)):
        example = Example(trusts=(Trust("stars", by="words", shape=shape),))
        stars, words = example.shape.blocks[:2]
        name = f"stars trusted by words ({shape})"
        assert tuple(words.constraints.groups) == (name,)
        assert stars.pinned is pinned
        assert name in example.shape.blocks[4].constraints.groups


def test_a_lattice_without_both_features_does_not_know_their_trust():
    example = Example()
    layout = Layout((2, 2, 2, 2), ((0, 2), (0, 1), (3,)))
    shape = ShapeConstraints(example.binning, (Trust("stars", by="words"),), layout, width=1, rho_keypoints=4)
    lattices = [block for block in shape.blocks if block.table == "phi.vertices"]
    trusting = ["stars trusted by words (edgeworth)" in block.constraints.groups for block in lattices]
    assert trusting == [False, True, False]
    assert [(block.columns.start, block.columns.stop) for block in lattices] == [(0, 4), (4, 8), (8, 10)]


def test_a_decreasing_convex_feature_has_a_rising_concave_calibrator_under_a_falling_lattice():
    data = SetData(np.arange(20.0), np.arange(21), ["price"])
    feature = Feature("price", monotonic="decreasing", shape="convex")
    binning = Binning.fit(data, [feature], keypoints=4)
    shape = ShapeConstraints(binning, (), Layout.full((2,)), width=1, rho_keypoints=3)
    calibrator, lattice = shape.blocks[:2]
    keypoints = binning.keypoints[0]
    rising_concave = np.sqrt(keypoints / keypoints[-1])[None]
    assert set(calibrator.constraints.violations(rising_concave).values()) == {0.0}
    assert calibrator.constraints.violations(rising_concave**4)["price convex"] > 0
    assert calibrator.constraints.violations(1 - rising_concave)["price decreasing"] > 0
    assert lattice.constraints.violations([[1.0, -1.0]])["price decreasing"] == 0.0
    assert lattice.constraints.violations([[-1.0, 1.0]])["price decreasing"] == 2.0


def test_the_size_of_a_set_is_a_feature_like_any_other():
    data = SetData(np.arange(6.0), np.array([0, 1, 3, 6]), ["x"])
    binning = Binning.fit(data, [Feature(SIZE, shape="concave")], keypoints=3)
    shape = ShapeConstraints(binning, (), Layout.full((2,)), width=1, rho_keypoints=3)
    calibrator, lattice = shape.blocks[:2]
    assert tuple(calibrator.constraints.groups) == ("cs.SIZE concave",)
    assert not calibrator.chain
    # The lattice must rise for the score to have the calibrator's shape.
    assert lattice.constraints.violations([[1.0, -1.0]]) == {"cs.SIZE concave": 2.0, "bounds": 0.0}
