"""What the module is given and cannot take: one error each, which says what it is."""

import numpy as np
import pytest
import torch

from clearset.engines.torch import SetFunctionModule, TokenPositions, as_tensors
from clearset.functions import Layout

from ..cases import crossed_case, plain_case

LAYOUT = Layout.full((2, 2))


@pytest.fixture
def plain():
    """Two features, and sets of 1 and 5 tokens."""
    function, sets = plain_case(0, LAYOUT, width=3, set_sizes=(1, 5))
    return SetFunctionModule(function), as_tensors(sets)


@pytest.fixture
def crossed():
    """Three features, two classes, seven corrections, and sets of 2 and 3 tokens."""
    function, sets = crossed_case(0, 3, classes=2, set_sizes=(2, 3), corrected=7)
    return SetFunctionModule(function), as_tensors(sets)


def everywhere(module, tokens, error, message):
    """All that takes tokens refuses them."""
    for apply in (module, module.means, module.scores):
        with pytest.raises(error, match=message):
            apply(tokens)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slots": torch.zeros(3, 6, dtype=torch.int32)}, r"shapes \(3, 6\) and \(2, 6\)"),
        ({"slots": torch.zeros(6, dtype=torch.int32)}, r"shapes \(6,\) and \(2, 6\)"),
        ({"fractions": torch.zeros(2, 5).double()}, r"shapes \(2, 6\) and \(2, 5\)"),
        ({"offsets": torch.tensor([0, 1, 5])}, "number of tokens, 6"),
        ({"offsets": torch.tensor([1, 6])}, "must go from 0"),
        ({"offsets": torch.tensor([0, 2, 2, 6])}, "Set 1 has no token"),
        ({"offsets": torch.tensor([0, 7, 6])}, "Set 1 has no token"),
        ({"offsets": torch.tensor([], dtype=torch.int64)}, r"offsets have the shape \(0,\)"),
        ({"offsets": torch.tensor([0, 6], device="meta")}, r"\['cpu', 'meta'\]; move"),
    ],
)
def test_tokens_that_do_not_fit(plain, changes, message):
    module, tokens = plain
    everywhere(module, tokens._replace(**changes), ValueError, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fractions": torch.zeros(2, 6)}, "calibration float64.*fractions float32; all must be"),
        ({"slots": torch.zeros(2, 6, dtype=torch.int64)}, "slots int64"),
        ({"offsets": torch.tensor([0, 6], dtype=torch.int32)}, "offsets int32"),
    ],
)
def test_types_that_do_not_fit(plain, changes, message):
    module, tokens = plain
    everywhere(module, tokens._replace(**changes), TypeError, message)


def test_half_precision(plain):
    module, tokens = plain
    everywhere(module.half(), tokens._replace(fractions=tokens.fractions.half()), TypeError, "float16")


@pytest.mark.parametrize("token", [127, 128, 700, 999])
@pytest.mark.parametrize("slot", [-1, 5, 2**31 - 1])
def test_a_slot_that_does_not_exist(token, slot):
    function, _ = plain_case(0, LAYOUT)
    function.calibration.resize((1, 5), refcheck=False)
    slots = torch.zeros(2, 1000, dtype=torch.int32)
    slots[1, token] = slot
    tokens = TokenPositions(slots, torch.zeros(2, 1000).double(), torch.tensor([0, 300, 1000]))
    everywhere(SetFunctionModule(function), tokens, ValueError, "slots hold a number outside 0 to 4")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slots": torch.zeros(1, 5, dtype=torch.int32)}, r"shapes \(1, 5\) and \(2, 5\)"),
        ({"rows": torch.zeros(4, dtype=torch.int32)}, r"\(4,\) and \(5,\)"),
        ({"values": torch.zeros(3)}, r"values have the shape \(3,\)"),
        ({"values": torch.zeros(40, 3).double()}, r"corrections have the shape \(7, 2\).*\(rows, 3\)"),
        ({"keypoints": torch.tensor([1.0])}, "keypoints must be at least 2"),
        ({"keypoints": torch.tensor([0.0, 1.0, 1.0])}, "each larger than the one before"),
        ({"keypoints": torch.tensor([0.0, float("nan"), 1.0])}, "each larger than the one before"),
        ({"keypoints": torch.arange(99.0)}, "at least 100 slots"),
        ({"values": torch.zeros((40, 2), device="meta")}, r"\['cpu', 'meta'\]; move"),
        ({"rows": torch.tensor([0, 0, 40, 0, 0], dtype=torch.int32)}, "rows hold a number outside -1 to 39"),
        ({"rows": torch.tensor([0, 0, -2, 0, 0], dtype=torch.int32)}, "rows hold a number outside -1 to 39"),
        ({"corrected": torch.full((5,), 7, dtype=torch.int32)}, "corrected hold a number outside -1 to 6"),
        ({"corrected": torch.full((5,), -2, dtype=torch.int32)}, "corrected hold a number outside -1 to 6"),
        ({"slots": torch.full((2, 5), 99, dtype=torch.int32)}, "slots hold a number outside 0 to"),
        ({"slots": torch.full((2, 5), -1, dtype=torch.int32)}, "slots hold a number outside 0 to"),
    ],
)
def test_crossed_tokens_that_do_not_fit(crossed, changes, message):
    module, tokens = crossed
    everywhere(module, tokens._replace(**changes), ValueError, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": torch.zeros(40, 2)}, "values float32; all must be|values float32.*all must be"),
        ({"rows": torch.zeros(5, dtype=torch.int64)}, "rows int64"),
    ],
)
def test_types_of_crossed_tokens_that_do_not_fit(crossed, changes, message):
    module, tokens = crossed
    everywhere(module, tokens._replace(**changes), TypeError, message)


@pytest.mark.parametrize("layout", [Layout.full((2, 3, 2)), Layout((2, 2, 2), ((0, 1), (2,)))], ids=str)
def test_classes_need_the_full_lattice_of_size_two(crossed, layout):
    function, _ = plain_case(0, layout)
    _, tokens = crossed
    everywhere(SetFunctionModule(function), tokens, ValueError, r"must be the full lattice .*\(2, 2, 2\)")


def test_sets_are_shown_without_copying_them():
    _, sets = crossed_case(0, 3)
    for name, tensor in as_tensors(sets)._asdict().items():
        assert np.shares_memory(tensor.numpy(), getattr(sets, name))
    assert as_tensors(sets, "meta").slots.device.type == "meta"
