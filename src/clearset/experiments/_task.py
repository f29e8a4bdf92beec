"""A task: data, methods that learn from them, and what is measured."""

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from clearset.datasets import Labelled


class Parts(NamedTuple):
    """What is learned from, what options and epochs are chosen by, and what is measured on."""

    training: Labelled
    validation: Labelled | None
    test: Labelled


@dataclass(frozen=True)
class Effort:
    """How much is done.

    Attributes
    ----------
    name
        What results are marked with.
    seeds
        Splits, at most as many as the task has.
    budget
        Settings that each method may try.
    examples
        Training examples, at most; a third as many to validate and to test. None for all.
    to_tune
        Training examples that settings are tried on, at most.
    """

    name: str
    seeds: int
    budget: int
    examples: int | None
    to_tune: int


FULL = Effort("full", seeds=5, budget=6, examples=None, to_tune=8_000)
QUICK = Effort("quick", seeds=1, budget=2, examples=3_000, to_tune=2_000)


class Metric(NamedTuple):
    """Something measured: its name, how many digits are shown, and which way is better."""

    name: str
    digits: int
    lower_is_better: bool = False


@dataclass(frozen=True)
class Method:
    """Something that learns.

    Attributes
    ----------
    name
        Its row.
    make
        Gives the estimator for a seed.
    inputs
        Which of the task's inputs it reads.
    space
        What is tuned; nothing where empty.
    paper
        The paper's figures, by metric.
    """

    name: str
    make: Callable[[int], Any]
    inputs: str
    space: Mapping[str, Any] = field(default_factory=dict)
    paper: Mapping[str, float] = field(default_factory=dict)


Load = Callable[[Any, int, int | None], Parts]
"""Parts by folder, seed and the largest number of training examples."""


@dataclass(frozen=True)
class Task:
    """A table of results.

    Attributes
    ----------
    name
        Of its files.
    group
        What it is called for together with others; its own name where empty.
    title, text
        What stands above the table.
    metrics
        Its columns; the first is the one to go by.
    methods
        Its rows.
    inputs
        Data as the methods read them.
    score
        Measures a fitted model on examples and labels.
    loaders
        What reads the data sets, by folder: to find out early that one is missing.
    highlights
        Methods of the summary, by its column.
    scoring
        What settings are compared by, as `tune` takes it; None for the loss that each method minimises.
    seeds
        How often everything is repeated, each time with another split or at least another seed.
    folds
        Settings are compared by cross-validation with so many folds, where there are no validation data.
    """

    name: str
    title: str
    text: str
    metrics: tuple[Metric, ...]
    methods: tuple[Method, ...]
    inputs: Mapping[str, Load]
    score: Callable[[Any, Any, Any], dict[str, float]]
    loaders: tuple[Callable[[Any], Any], ...]
    highlights: Mapping[str, str] = field(default_factory=dict)
    scoring: str | None = None
    group: str = ""
    seeds: int = 3
    folds: int | None = None

    def describe(self, method: Method) -> list[Any]:
        """Give all that a method's results depend on, besides data and effort."""
        made = method.make(0)
        return [
            type(made).__name__,
            made.get_params(deep=True),
            dict(method.space),
            self.inputs[method.inputs],
            self.scoring,
            self.folds,
        ]

    def method(self, name: str) -> Method:
        """Give the method of a row."""
        return next(method for method in self.methods if method.name == name)

    def run(
        self, method: Method, options: Mapping[str, Any], seed: int, folder: Any, effort: Effort
    ) -> dict[str, Any]:
        """Fit a method on one split, and measure it."""
        parts = self.inputs[method.inputs](folder, seed, effort.examples)
        model = method.make(seed).set_params(**options)
        start = time.perf_counter()
        fit(model, parts.training, parts.validation)
        seconds = time.perf_counter() - start
        held = {} if parts.validation is None else self.score(model, *parts.validation)
        return {"test": self.score(model, *parts.test), "validation": held, "seconds": seconds}


def fit(model: Any, training: Labelled, validation: Labelled | None) -> Any:
    """Fit, with validation data where the model takes them."""
    if validation is not None and "validation_data" in inspect.signature(model.fit).parameters:
        return model.fit(*training, validation_data=tuple(validation))
    return model.fit(*training)


def as_sets(parts: Parts, sets: Any) -> Parts:
    """Turn strings into sets of tokens by what the training part tells of them, out of fold for itself."""
    training = Labelled(sets.fit_transform(*parts.training), parts.training.y)
    validation = (
        None if parts.validation is None else Labelled(sets.transform(parts.validation.X), parts.validation.y)
    )
    return Parts(training, validation, Labelled(sets.transform(parts.test.X), parts.test.y))


def sample(data: Labelled, most: int | None) -> Labelled:
    """Give examples at random, at most so many."""
    if most is None or data.n <= most:
        return data
    rows = np.sort(np.random.default_rng(0).permutation(data.n)[:most])
    return data.take(rows)


def split(data: Labelled, seed: int, most: int | None, shares: tuple[float, ...] = (0.7, 0.1, 0.2)) -> Parts:
    """Split at random into training, validation and test data, at most so many."""
    training, validation, test = data.split(shares, random_state=seed)
    third = None if most is None else most // 3
    return Parts(sample(training, most), sample(validation, third), sample(test, third))
