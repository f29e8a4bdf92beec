"""Constraints and smoothness of a set function, row by row of its tables, in the memory of a device."""

from typing import Any

import numpy as np
import torch

from clearset.engines.cuda._structs import PART, ROW, ShapesStruct, on_device
from clearset.functions import SetFunction, ShapeConstraints, Smoothness


class DeviceShapes:
    """What ``update`` of ``kernels/step.cu`` reads: a row for each row of each table.

    Attributes
    ----------
    struct : Structure
        What the kernel takes.
    n_rows, n_duals : int
        The number of rows, and of multipliers of half-spaces.
    """

    def __init__(
        self, function: SetFunction, shape: ShapeConstraints, smoothness: Smoothness, device: torch.device
    ) -> None:
        rows: list[tuple[Any, ...]] = []
        parts: list[tuple[Any, ...]] = []
        # Columns, coefficients and the like are those of a table, which all of its rows share.
        chains, pins = [np.zeros((0, 2), np.int64)], [np.zeros((0, 2), np.int64)]
        groups, columns, coefficients, own = _Flat(np.int32), _Flat(np.int32), _Flat(np.float64), _Flat(np.int32)
        starts, square_columns, square_values = _Flat(np.int32), _Flat(np.int32), _Flat(np.float64)
        start = n_duals = n_chains = n_pins = 0
        for (name, values), table in zip(function.tables.items(), shape.tables, strict=True):
            squares, first_part, duals = -1, len(parts), 0
            if (matrix := smoothness.matrix(name)) is not None:
                squares = starts.add(matrix.indptr + len(square_columns))
                square_columns.add(matrix.indices)
                square_values.add(matrix.data)
            for block in table.others:
                for part, chosen in block.constraints.parts:
                    lines = part.rows.normalised
                    if not len(lines.indices):
                        continue
                    own_columns = np.flatnonzero(chosen)
                    entry = (
                        *(duals, block.columns.start, block.constraints.size, lines.indices.shape[1]),
                        *(columns.add(lines.indices), groups.add(lines.group_stops), len(lines.group_stops)),
                        *(own.add(own_columns), len(own_columns), part.boxed, 0),
                    )
                    coefficients.add(lines.coefficients)
                    parts.append(entry)
                    duals += len(lines.indices)
            ranges, pinned = table.chains.ranges, table.pinned_ranges
            chains.append(ranges)
            pins.append(pinned)
            for _ in range(len(values)):
                rows.append(
                    (
                        *(start, n_duals, table.chains.lower, table.chains.upper, values.shape[1]),
                        *(name.startswith("rho"), squares, n_chains, n_chains + len(ranges)),
                        *(n_pins, n_pins + len(pinned), first_part, len(parts), 0),
                    )
                )
                start += values.shape[1]
                n_duals += duals
            n_chains += len(ranges)
            n_pins += len(pinned)
        self.n_rows, self.n_duals = len(rows), n_duals
        arrays = (
            *(np.array(rows, ROW), np.concatenate(chains).astype(np.int32), np.concatenate(pins).astype(np.int32)),
            *(np.array(parts, PART), groups.array(), columns.array(), coefficients.array(), own.array()),
            *(starts.array(), square_columns.array(), square_values.array()),
        )
        self._kept = [on_device(array, device) for array in arrays]
        self.struct = ShapesStruct(*(tensor.data_ptr() for tensor in self._kept))


class _Flat:
    """Arrays laid end to end."""

    def __init__(self, dtype: type) -> None:
        self._parts: list[np.ndarray] = [np.zeros(0, dtype)]
        self._size, self._dtype = 0, dtype

    def __len__(self) -> int:
        return self._size

    def add(self, values: np.ndarray | list[int]) -> int:
        """Append values and return where they begin."""
        first = self._size
        flat: np.ndarray = np.asarray(values, self._dtype).ravel()
        self._parts.append(flat)
        self._size += flat.size
        return first

    def array(self) -> np.ndarray:
        return np.concatenate(self._parts)
