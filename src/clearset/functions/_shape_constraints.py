"""Shape constraints: everything that the parameters of a set function must obey, and how they are kept to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clearset.functions._declared_constraints import Block, calibrator_blocks, lattice_blocks, rho_blocks
from clearset.functions._function import SetFunction
from clearset.functions._layout import Layout
from clearset.functions.projections import Chains, ConstraintState
from clearset.sets import Binning, Trust

Tables = Mapping[str, npt.NDArray[Any]]


@dataclass
class TableConstraints:
    """The blocks of one table, sorted by how they are projected."""

    blocks: list[Block]
    chains: Chains
    others: list[Block]
    pinned: list[Block]
    states: list[ConstraintState] | None = None

    @property
    def pinned_ranges(self) -> npt.NDArray[np.int64]:
        """First and last column, plus 1, of every block with pinned ends."""
        ranges = [(block.columns.start, block.columns.stop) for block in self.pinned]
        return np.array(ranges, np.int64).reshape(-1, 2)

    def states_of(self, n_rows: int) -> list[ConstraintState]:
        """Return where the next projection of a table of so many rows starts, block by block."""
        if self.states is None:
            self.states = [block.constraints.state(n_rows) for block in self.others]
        return self.states


class ShapeConstraints:
    """Every constraint of a set function.

    Parameters
    ----------
    binning : Binning
        The features and their slots.
    trusts : sequence of Trust
        Which feature says how far to trust which.
    layout : Layout
        The lattices of phi.
    width : int
        Scores of each token, K.
    rho_keypoints : int
        Keypoints of rho's calibrators.
    """

    def __init__(
        self, binning: Binning, trusts: Sequence[Trust], layout: Layout, *, width: int, rho_keypoints: int
    ) -> None:
        self.blocks = _blocks(binning, tuple(trusts), layout, width, rho_keypoints)
        names = dict.fromkeys(block.table for block in self.blocks)
        self._tables = {name: _sorted([block for block in self.blocks if block.table == name]) for name in names}

    @property
    def tables(self) -> tuple[TableConstraints, ...]:
        """The constraints of each table, in the order of `SetFunction.tables`."""
        return tuple(self._tables.values())

    @classmethod
    def of(cls, function: SetFunction, binning: Binning, trusts: Sequence[Trust]) -> "ShapeConstraints":
        """Return the constraints of an existing set function."""
        sizes = {"width": function.width, "rho_keypoints": function.rho_keypoints}
        return cls(binning, trusts, function.layout, **sizes)

    def project(self, tables: Tables) -> None:
        """Move the parameters to the nearest that satisfy all constraints, to the precision of training.

        Each call starts from where the last one ended, so one object serves one training.
        """
        for name, parameter in tables.items():
            table = self._tables[name]
            values = _project_chains(table, parameter)
            for block, state in zip(table.others, table.states_of(len(values)), strict=True):
                values[:, block.columns] = block.constraints.project(values[:, block.columns], state)
            _pin(table, values)
            parameter[...] = values

    def multipliers(self, tables: Tables) -> dict[str, npt.NDArray[np.float64]]:
        """Return by name where the next `project` starts; what is written to these arrays, it starts from."""
        return {
            f"multipliers.{name}.{number}.{part}": state.duals
            for name, table in tables.items()
            for number, states in enumerate(self._tables[name].states_of(len(table)))
            for part, state in enumerate(states.parts)
        }

    def project_exactly(self, tables: Tables) -> None:
        """Move float64 parameters to the nearest that satisfy all constraints without any remainder."""
        for name, parameter in tables.items():
            table = self._tables[name]
            values = _project_chains(table, parameter)
            for block in table.others:
                values[:, block.columns] = block.constraints.project_exactly(values[:, block.columns])
            _pin(table, values)
            parameter[...] = values

    def project_bounds(self, tables: Tables) -> None:
        """Move each parameter into its range, whatever its neighbours are."""
        for name, parameter in tables.items():
            limits = self._tables[name].chains
            np.clip(parameter, limits.lower, limits.upper, out=parameter)

    def violations(self, tables: Tables) -> list[tuple[str, str, float]]:
        """List (constraint, layer, largest violation)."""
        found = []
        for name, parameter in tables.items():
            table, values = self._tables[name], parameter.astype(np.float64)
            if not np.isfinite(values).all():
                found.append(("values are finite", table.blocks[0].layer, float("nan")))
                continue
            for block in table.blocks:
                violations = block.constraints.violations(values[:, block.columns])
                found += [(group, block.layer, violations[group]) for group in block.constraints.groups]
            limits = table.chains
            outside = max(limits.lower - values.min(), values.max() - limits.upper, 0.0)
            if np.isfinite(limits.upper):
                found.append(("values within their ranges", table.blocks[0].layer, float(outside)))
        return found

    def flat_rows(self, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
        """Return all half-spaces over the tables laid end to end: ``(R, 4)`` indices, and coefficients padded by 0."""
        start = 0
        indices, coefficients = [np.zeros((0, 4), dtype=np.int64)], [np.zeros((0, 4))]
        for name, parameter in tables.items():
            n_rows, n_columns = parameter.shape
            for block in self._tables[name].blocks:
                rows = block.constraints.rows
                n_entries = rows.indices.shape[1]
                places = start + block.columns.start + n_columns * np.arange(n_rows)
                index = np.zeros((n_rows, len(rows.indices), 4), dtype=np.int64)
                index[:, :, :n_entries] = places[:, None, None] + rows.indices
                coefficient = np.zeros(index.shape)
                coefficient[:, :, :n_entries] = rows.coefficients
                indices.append(index.reshape(-1, 4))
                coefficients.append(coefficient.reshape(-1, 4))
            start += parameter.size
        return np.concatenate(indices), np.concatenate(coefficients)


@lru_cache(maxsize=8)
def _blocks(
    binning: Binning, trusts: tuple[Trust, ...], layout: Layout, width: int, rho_keypoints: int
) -> tuple[Block, ...]:
    """Return all constraints. A fit asks for them several times, and on little data they take most of its time."""
    return (
        *calibrator_blocks(binning, trusts),
        *lattice_blocks(binning.features, trusts, layout),
        *rho_blocks(width, rho_keypoints),
    )


def _sorted(blocks: list[Block]) -> TableConstraints:
    # Between pinned ends, which lie at the bounds, the nearest chain does not depend on them.
    columns = [
        slice(block.columns.start + block.pinned, block.columns.stop - block.pinned) for block in blocks if block.chain
    ]
    limits = blocks[0].constraints
    return TableConstraints(
        blocks,
        Chains([c.start for c in columns], [c.stop for c in columns], limits.lower, limits.upper),
        [block for block in blocks if not block.chain and block.constraints.groups],
        [block for block in blocks if block.pinned],
    )


def _project_chains(table: TableConstraints, parameter: npt.NDArray[Any]) -> np.ndarray:
    """Project onto the bounds and onto all chains of the table at once."""
    values = parameter.astype(np.float64)
    if not np.isfinite(values).all():
        raise FloatingPointError("Training has diverged: parameters are no longer finite. Use a smaller learning_rate.")
    table.chains.project(values)
    return values


def _pin(table: TableConstraints, values: np.ndarray) -> None:
    """Set the ends of pinned blocks."""
    for block in table.pinned:
        values[:, block.columns.start] = table.chains.lower
        values[:, block.columns.stop - 1] = table.chains.upper
