"""Tokens with a value for each class, and what trains set functions of them."""

from dataclasses import dataclass, replace

import numpy as np

from clearset.engines import Problem, Schedule, TrainingSets
from clearset.functions import Layout, Loss, Penalty, SetFunction, ShapeConstraints, Smoothness
from clearset.sets import Binning, CrossedPositions, Feature
from clearset.training import initial_crossed_set_function

LOG_LOSS = Loss("log_loss")
N_CORRECTIONS = 7


@dataclass
class CrossedExample:
    """Random tokens with a value for each class, a count and a size; some tokens have no value at all."""

    binning: Binning
    positions: CrossedPositions
    width: int

    @classmethod
    def random(cls, n_classes=4, width=2, seed=0, n_sets=40, missing=0.1):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, n_sets)
        n = int(sizes.sum())
        binning = Binning(
            (Feature("value", monotonic="increasing"), Feature("count"), Feature("size")),
            (np.linspace(0, 4, 6), np.array([1.0, 3.0, 10.0, 50.0]), np.array([1.0, 2.0])),
            (None, None, None),
        )
        plain = {"count": rng.uniform(0, 60, n), "size": rng.integers(1, 3, n).astype(float)}
        plain["count"][rng.uniform(size=n) < 0.1] = np.nan
        places = [binning.place(name, values, np.float64) for name, values in plain.items()]
        rows = np.where(rng.uniform(size=n) < missing, -1, rng.integers(0, 15, n)).astype(np.int32)
        positions = CrossedPositions(
            np.stack([slots for slots, _ in places]),
            np.stack([fractions for _, fractions in places]),
            np.concatenate([[0], np.cumsum(sizes)]),
            rows,
            np.where(rows < 0, -1, rng.integers(-1, N_CORRECTIONS, n)).astype(np.int32),
            2 + rng.normal(size=(15, n_classes)),
            binning.keypoints[0],
        )
        return cls(binning, positions, width)

    @property
    def layout(self) -> Layout:
        return Layout.full((2, 2, 2))

    @property
    def sizes(self):
        return {"width": self.width, "rho_keypoints": 7}

    @property
    def shape(self) -> ShapeConstraints:
        return ShapeConstraints(self.binning, (), self.layout, **self.sizes)

    def corrections(self, seed=1, scale=0.7):
        return np.random.default_rng(seed).normal(0, scale, (N_CORRECTIONS, self.positions.n_classes))

    def function(self, corrections=None, noise=0.2, seed=0) -> SetFunction:
        """A set function that obeys its constraints, away from the start of training."""
        rng = np.random.default_rng(seed)
        function = initial_crossed_set_function(self.binning, self.layout, **self.sizes, rng=rng)
        for table in function.tables.values():
            table += rng.normal(0, noise, table.shape)
        self.shape.project_exactly(function.tables)
        return replace(function, corrections=corrections)

    def labelled(self, seed=0) -> TrainingSets:
        """Labels that go with the mean of the values over a set's tokens."""
        positions = self.positions
        values = np.where(positions.rows[:, None] < 0, 2.0, positions.values[positions.rows])
        means = np.add.reduceat(values, positions.offsets[:-1]) / np.diff(positions.offsets)[:, None]
        targets = means.argmax(axis=1) if positions.n_classes > 1 else means[:, 0] > 2.0
        weights = np.random.default_rng(seed).uniform(0.5, 2, len(positions))
        return TrainingSets(positions, targets.astype(float), weights / weights.mean())

    def problem(self, function: SetFunction, data: TrainingSets) -> Problem:
        smoothness = Smoothness(self.binning, self.layout, Penalty(0.0), len(data), **self.sizes)
        return Problem(function, self.shape, smoothness, LOG_LOSS, data)


def in_single_precision(positions: CrossedPositions) -> CrossedPositions:
    names = ("fractions", "values", "keypoints")
    return replace(positions, **{name: getattr(positions, name).astype(np.float32) for name in names})


def schedule(**changes) -> Schedule:
    defaults = {"learning_rate": 0.02, "epochs": 10, "batch_size": 1000, "patience": 10}
    return Schedule(**{**defaults, **changes})


def mean_log_loss(outputs, targets, weights):
    """The weighted mean loss of (B, C) outputs, in plain numpy."""
    if outputs.shape[1] == 1:
        losses = np.logaddexp(0.0, outputs[:, 0]) - targets * outputs[:, 0]
    else:
        largest = outputs.max(axis=1, keepdims=True)
        total = largest[:, 0] + np.log(np.exp(outputs - largest).sum(axis=1))
        losses = total - np.take_along_axis(outputs, targets.astype(int)[:, None], axis=1)[:, 0]
    return float((losses * weights).mean())
