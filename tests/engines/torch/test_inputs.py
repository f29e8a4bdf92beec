import pytest
import torch

from clearset.engines.torch import TokenPositions, available_kernels, phi_mean, phi_scores
from clearset.functions import Layout

LAYOUT = Layout.full((2, 2))
CALIBRATION = torch.zeros(3, 5)
VERTICES = torch.zeros(3, 4)


def make_positions(**changes):
    positions = TokenPositions(
        slots=torch.zeros(2, 6, dtype=torch.int32),
        fractions=torch.zeros(2, 6),
        offsets=torch.tensor([0, 1, 6]),
    )
    return positions._replace(**changes)


@pytest.mark.parametrize("function", [phi_mean, phi_scores])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"slots": torch.zeros(3, 6, dtype=torch.int32)}, r"shapes \(3, 6\) and \(2, 6\)"),
        ({"fractions": torch.zeros(2, 5)}, r"shapes \(2, 6\) and \(2, 5\)"),
        ({"offsets": torch.tensor([0, 1, 5])}, "number of tokens, 6"),
        ({"offsets": torch.tensor([1, 6])}, "must go from 0"),
        ({"offsets": torch.tensor([0, 2, 2, 6])}, "Set 1 has no token"),
        ({"offsets": torch.tensor([0, 7, 6])}, "Set 1 has no token"),
    ],
)
def test_positions_that_do_not_fit_are_refused(function, changes, message):
    with pytest.raises(ValueError, match=message):
        function(make_positions(**changes), CALIBRATION, VERTICES, LAYOUT)


def test_parameters_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"calibration has the shape \(5,\)"):
        phi_mean(make_positions(), CALIBRATION[0], VERTICES, LAYOUT)
    with pytest.raises(ValueError, match=r"vertices have the shape \(3, 3\).*must be \(3, 4\)"):
        phi_mean(make_positions(), CALIBRATION, VERTICES[:, :3], LAYOUT)
    with pytest.raises(ValueError, match="one device"):
        phi_mean(make_positions(), CALIBRATION.to("meta"), VERTICES, LAYOUT)


def test_mixed_precision_is_refused():
    with pytest.raises(TypeError, match=r"torch.float32, torch.float64, torch.float32"):
        phi_mean(make_positions(), CALIBRATION.double(), VERTICES, LAYOUT)
    with pytest.raises(TypeError, match=r"slots and offsets are torch.int64"):
        phi_mean(make_positions(slots=torch.zeros(2, 6, dtype=torch.int64)), CALIBRATION, VERTICES, LAYOUT)
    positions = make_positions(fractions=torch.zeros(2, 6, dtype=torch.float16))
    with pytest.raises(TypeError, match=r"torch.float16"):
        phi_mean(positions, CALIBRATION.half(), VERTICES.half(), LAYOUT)


@pytest.mark.parametrize("kernel", available_kernels())
@pytest.mark.parametrize("slot", [-1, 5, 2**31 - 1])
def test_a_slot_that_does_not_exist_is_refused(kernel, slot):
    positions = make_positions()
    positions.slots[1, 4] = slot
    with pytest.raises(ValueError, match="outside 0 to 4"):
        phi_mean(positions, CALIBRATION, VERTICES, LAYOUT, kernel=kernel)


@pytest.mark.parametrize("kernel", available_kernels())
@pytest.mark.parametrize("token", [127, 128, 700, 999])
@pytest.mark.parametrize("slot", [-1, 5])
def test_a_slot_that_does_not_exist_is_found_late_in_a_batch(kernel, token, slot):
    slots = torch.zeros(2, 1000, dtype=torch.int32)
    slots[1, token] = slot
    positions = TokenPositions(slots, torch.zeros(2, 1000), torch.tensor([0, 300, 1000]))
    with pytest.raises(ValueError, match="outside 0 to 4"):
        phi_mean(positions, CALIBRATION, VERTICES, LAYOUT, kernel=kernel)


def test_kernels_and_threads_are_checked():
    with pytest.raises(ValueError, match="'cuda' is not available; choose one of"):
        phi_mean(make_positions(), CALIBRATION, VERTICES, LAYOUT, kernel="cuda")
    with pytest.raises(ValueError, match="threads is 0"):
        phi_mean(make_positions(), CALIBRATION, VERTICES, LAYOUT, threads=0)
