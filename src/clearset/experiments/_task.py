"""A task: data, methods that learn from them, and what is measured."""

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from clearset.datasets import Labelled


class Parts(NamedTuple):
    """The training, validation and test parts of a split."""

    training: Labelled
    validation: Labelled | None
    test: Labelled


@dataclass(frozen=True)
class Effort:
    """How much work a run does."""

    name: str  # results are marked with it
    seeds: int  # the number of splits, at most as many as the task has
    budget: int  # the number of settings that each method may try
    examples: int | None  # at most so many training examples, and a third as many to validate and to test
    to_tune: int  # the largest number of training examples that settings are tried on


FULL = Effort("full", seeds=5, budget=6, examples=None, to_tune=8_000)
QUICK = Effort("quick", seeds=1, budget=2, examples=3_000, to_tune=2_000)


class Measure(NamedTuple):
    """A column of a table: the name of what is measured, its digits, and whether lower is better."""

    name: str
    digits: int
    lower_is_better: bool = False


@dataclass(frozen=True)
class Method:
    """A row of a table: an estimator, and what it reads."""

    name: str
    make: Callable[[int], Any]  # the estimator for a seed
    inputs: str  # which of the task's inputs it reads
    space: Mapping[str, Any] = field(default_factory=dict)  # what is tuned; nothing if empty
    paper: Mapping[str, float] = field(default_factory=dict)  # the paper's figures, by measure


Load = Callable[[Any, int, int | None], Parts]
"""Parts by folder, seed and the largest number of training examples."""


@dataclass(frozen=True)
class Task:
    """A table of results."""

    name: str  # of its files
    title: str
    text: str  # above the table
    measures: tuple[Measure, ...]  # the columns; the first one is the most important
    methods: tuple[Method, ...]  # the rows
    inputs: Mapping[str, Load]  # what loads the data as the methods read them
    score: Callable[[Any, Any, Any], dict[str, float]]  # measures a fitted model on examples and labels
    loaders: tuple[Callable[[Any], Any], ...]  # of the data sets, to find out early that one is missing
    highlights: Mapping[str, str] = field(default_factory=dict)  # the methods of the summary, by its column
    scoring: str | None = None  # what settings are compared by, as for `tune`; None is each method's loss
    group: str = ""  # what `reproduce` calls this task together with others; its own name if empty
    seeds: int = 3  # the number of repetitions, each with another split or at least another seed
    folds: int | None = None  # of cross-validation, which compares settings without validation data

    def describe(self, method: Method) -> list[Any]:
        """Return all that a method's results depend on, besides data and effort."""
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
        """Return the method of a row."""
        return next(method for method in self.methods if method.name == name)

    def run(self, method: Method, options: Mapping[str, Any], seed: int, folder: Any, effort: Effort) -> dict[str, Any]:
        """Fit a method on one split, and measure it."""
        parts = self.inputs[method.inputs](folder, seed, effort.examples)
        model = method.make(seed).set_params(**options)
        start = time.perf_counter()
        fit(model, parts.training, parts.validation)
        seconds = time.perf_counter() - start
        held = {} if parts.validation is None else self.score(model, *parts.validation)
        return {"test": self.score(model, *parts.test), "validation": held, "seconds": seconds}


def fit(model: Any, training: Labelled, validation: Labelled | None) -> Any:
    """Fit a model, with validation data if it takes them."""
    if validation is not None and "validation_data" in inspect.signature(model.fit).parameters:
        return model.fit(*training, validation_data=tuple(validation))
    return model.fit(*training)


def as_sets(parts: Parts, sets: Any) -> Parts:
    """Turn strings into sets of tokens, with statistics of the training part; its own are out of fold."""
    training = Labelled(sets.fit_transform(*parts.training), parts.training.y)
    validation = None if parts.validation is None else Labelled(sets.transform(parts.validation.X), parts.validation.y)
    return Parts(training, validation, Labelled(sets.transform(parts.test.X), parts.test.y))


def sample(data: Labelled, most: int | None) -> Labelled:
    """Return examples at random, at most `most`."""
    if most is None or data.n <= most:
        return data
    rows = np.sort(np.random.default_rng(0).permutation(data.n)[:most])
    return data.take(rows)


def split(data: Labelled, seed: int, most: int | None, shares: tuple[float, ...] = (0.7, 0.1, 0.2)) -> Parts:
    """Split at random into training, validation and test data, with at most `most` training examples."""
    training, validation, test = data.split(shares, random_state=seed)
    third = None if most is None else most // 3
    return Parts(sample(training, most), sample(validation, third), sample(test, third))
