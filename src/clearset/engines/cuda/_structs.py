"""What kernels take by value, as ``kernels/*.cu`` declare it, and what they find in memory."""

import ctypes
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

_POINTER, _INT, _LONG, _DOUBLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong, ctypes.c_double


def _struct(name: str, **fields: type) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": tuple(fields.items())})


PackedStruct = _struct("Packed", positions=_POINTER, stride=_LONG, offsets=_POINTER, starts=_POINTER, before=_POINTER)
LatticesStruct = _struct(
    "Lattices", count=_INT, starts=_POINTER, features=_POINTER, first_vertices=_POINTER, sizes=_POINTER, n_vertices=_INT
)
TokensStruct = _struct("Tokens", slots=_POINTER, fractions=_POINTER, offsets=_POINTER, order=_POINTER, n_tokens=_LONG)
CrossedStruct = _struct(
    "Crossed",
    rows=_POINTER,
    corrected=_POINTER,
    values=_POINTER,
    keypoints=_POINTER,
    corrections=_POINTER,
    classes=_INT,
    n_keypoints=_INT,
)
TablesStruct = _struct("Tables", calibration=_POINTER, vertices=_POINTER, rows=_INT, n_slots=_INT)
SumsStruct = _struct(
    "Sums",
    calibration=_POINTER,
    vertices=_POINTER,
    corrections=_POINTER,
    touched=_POINTER,
    scales=_POINTER,
    step=_POINTER,
    apart=_LONG,
    copies=_INT,
)
RhoStruct = _struct("Rho", calibrators=_POINTER, vertices=_POINTER, output=_POINTER, functions=_INT, n_keypoints=_INT)
LabelsStruct = _struct(
    "Labels", targets=_POINTER, weights=_POINTER, order=_POINTER, offsets=_POINTER, loss=_INT, quantile=_DOUBLE
)
SizesStruct = _struct(
    "Sizes", calibration=_LONG, vertices=_LONG, rho_calibrators=_LONG, rho_vertices=_LONG, rho_output=_LONG, end=_LONG
)
ShapesStruct = _struct(
    "Shapes",
    rows=_POINTER,
    chains=_POINTER,
    pins=_POINTER,
    parts=_POINTER,
    groups=_POINTER,
    columns=_POINTER,
    coefficients=_POINTER,
    own=_POINTER,
    square_starts=_POINTER,
    square_columns=_POINTER,
    square_values=_POINTER,
)
ParametersStruct = _struct(
    "Parameters",
    values=_POINTER,
    gradient=_POINTER,
    average=_POINTER,
    squares=_POINTER,
    momentum=_POINTER,
    duals=_POINTER,
    scratch=_POINTER,
)
CorrectionsStruct = _struct(
    "Corrections",
    values=_POINTER,
    squares=_POINTER,
    average=_POINTER,
    sums=_POINTER,
    touched=_POINTER,
    moved=_POINTER,
    averaged=_POINTER,
    count=_INT,
    classes=_INT,
    rate=_DOUBLE,
    pull=_DOUBLE,
)


class Batch(NamedTuple):
    """Which of the sets on a device a step is about."""

    tensor: Tensor  # ``Batch`` of ``kernels/common.h``
    most_sets: int
    order: Tensor | None = None  # the order of an epoch; None: as they stand


PACE = (
    *(
        "learning_rate",
        "n_steps",
        "warm_up",
        "smoothness",
        "steepest",
        "most_slope",
        "adagrad",
        "light_touch",
        "at_first",
        "least_scatter",
    ),
    *("step", "level", "total", "loss", "diverged"),
    *("rate", "rho_rate", "decay", "smoothing", "first_share", "second_root", "share"),
    *("calibration", "vertices", "corrections", "rho_output", "rho_vertices", "rho_calibrators"),
)
"""The fields of ``Pace``, all of them doubles; the last six are its scales."""

ROW = np.dtype(
    [
        *((name, np.int64) for name in ("start", "duals")),
        *((name, np.float64) for name in ("lower", "upper")),
        *((name, np.int32) for name in ("columns", "is_rho", "squares", "first_chain", "last_chain")),
        *((name, np.int32) for name in ("first_pin", "last_pin", "first_part", "last_part", "filling")),
    ]
)
PART = np.dtype(
    [
        ("duals", np.int64),
        *((name, np.int32) for name in ("first", "size", "width", "first_entry", "first_group", "n_groups")),
        *((name, np.int32) for name in ("first_own", "n_own", "boxed", "filling")),
    ]
)


def pointer(tensor: Tensor | None, start: int = 0) -> int | None:
    """Return the address of a tensor's entry, counted in its memory; None stands for null."""
    return None if tensor is None else tensor.data_ptr() + start * tensor.element_size()


def on_device(array: np.ndarray, device: torch.device) -> Tensor:
    """Copy an array to a device; one of structures becomes bytes."""
    array = np.ascontiguousarray(array)
    if array.dtype.fields is not None:
        array = array.view(np.uint8)
    return torch.from_numpy(array.copy() if not array.flags.writeable else array).to(device)
