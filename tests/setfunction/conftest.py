"""Small set functions with every kind of feature."""

import numpy as np
import pytest

from clearset.kernels import Layout
from clearset.setfunction import SetFunction, ShapeConstraints, initial_set_function
from clearset.sets import SIZE, Binning, Feature, SetData, Trust


class Example:
    """A binning over four features, and random models of it."""

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
        self.width, self.outputs = width, outputs
        self.shape = ShapeConstraints(self.binning, trusts, self.layout, width=width, rho_keypoints=7)
        self.positions = self.binning.positions(self.data, np.float64)

    def initial(self, seed: int = 0) -> SetFunction:
        """The model that training starts from."""
        rng = np.random.default_rng(seed)
        leaning = np.zeros((self.outputs, len(self.features)))
        return initial_set_function(
            self.binning, self.layout, leaning, width=self.width, rho_keypoints=7, rng=rng
        )

    def scrambled(self, seed: int = 0) -> SetFunction:
        """A model whose tables are noise, so that it violates everything."""
        import torch

        model = self.initial(seed)
        rng = np.random.default_rng(seed)
        with torch.no_grad():
            for table in model.tables.values():
                table.copy_(torch.from_numpy(rng.normal(0.5, 1.0, size=tuple(table.shape))))
        return model


@pytest.fixture(scope="module")
def example() -> Example:
    return Example()


@pytest.fixture(scope="module")
def make_example() -> type[Example]:
    return Example
