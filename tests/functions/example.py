"""Small set functions with every kind of feature."""

import numpy as np

from clearset.functions import Layout, Penalty, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import SIZE, Binning, Feature, SetData, Trust
from clearset.training import initial_set_function

RHO_KEYPOINTS = 7


class Example:
    """A binning over four features, and set functions of it."""

    def __init__(
        self, *, width: int = 2, outputs: int = 1, lattice_size: int = 2, trusts: tuple[Trust, ...] = ()
    ) -> None:
        rng = np.random.default_rng(7)
        sizes = rng.integers(1, 6, size=80)
        n_tokens = int(sizes.sum())
        values = np.stack(
            [rng.uniform(0, 5, n_tokens), rng.exponential(50, n_tokens), rng.integers(0, 3, n_tokens)], axis=1
        )
        values[rng.uniform(size=values.shape) < 0.1] = np.nan
        self.data = SetData(
            values,
            np.concatenate([[0], np.cumsum(sizes)]),
            ["stars", "words", "shop"],
            categories={"shop": ("corner", "flagship", "market")},
        )
        self.features = (
            Feature("stars", monotonic="increasing"),
            Feature("words"),
            Feature("shop", kind="categorical", monotonic=[("market", "corner"), ("corner", "flagship")]),
            Feature(SIZE, monotonic="decreasing"),
        )
        self.trusts = trusts
        self.binning = Binning.fit(self.data, self.features, keypoints=5)
        self.layout = Layout.full((lattice_size,) * 4)
        self.sizes = {"width": width, "rho_keypoints": RHO_KEYPOINTS}
        self.outputs = outputs
        self.positions = self.binning.positions(self.data, np.float64)

    @property
    def shape(self) -> ShapeConstraints:
        """Its constraints, anew: they remember where a training has got to."""
        return ShapeConstraints(self.binning, self.trusts, self.layout, **self.sizes)

    def smoothness(self, strength: float = 0.0, n_sets: float = 1.0, least_scatter: float = 0.0) -> Smoothness:
        """The penalty on bends and twists."""
        return Smoothness(
            self.binning, self.layout, Penalty(strength, least_scatter=least_scatter), n_sets, **self.sizes
        )

    def initial(self, seed: int = 0, leanings: np.ndarray | None = None) -> SetFunction:
        """The function that training starts from."""
        leanings = np.zeros((self.outputs, len(self.features))) if leanings is None else leanings
        rng = np.random.default_rng(seed)
        return initial_set_function(self.binning, self.layout, leanings, **self.sizes, rng=rng)

    def scrambled(self, seed: int = 0) -> SetFunction:
        """A function whose tables are noise, so that it violates everything."""
        rng = np.random.default_rng(seed)
        function = self.initial(seed)
        tables = {name: rng.normal(0.5, 1.0, size=table.shape) for name, table in function.tables.items()}
        return function.with_tables(tables)

    def feasible(self, seed: int = 0) -> SetFunction:
        """Noise moved to where all constraints hold."""
        function = self.scrambled(seed)
        self.shape.project_exactly(function.tables)
        return function


def largest_violation(shape: ShapeConstraints, function: SetFunction) -> float:
    """Return how far the function is from obeying its constraints."""
    return max(violation for _, _, violation in shape.violations(function.tables))
