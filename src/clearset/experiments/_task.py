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
    """How much work a run does.

    Attributes
    ----------
    name : str
        The name that results are marked with.
    seeds : int
        The number of splits, at most as many as the task has.
    budget : int
        The number of settings that each method may try.
    examples : int, optional
        The largest number of training examples; a third as many validate and test. None is all.
    to_tune : int
        The largest number of training examples that settings are tried on.
    """

    name: str
    seeds: int
    budget: int
    examples: int | None
    to_tune: int


FULL = Effort("full", seeds=5, budget=6, examples=None, to_tune=8_000)
QUICK = Effort("quick", seeds=1, budget=2, examples=3_000, to_tune=2_000)


class Measure(NamedTuple):
    """A column of a table: the name of what is measured, its digits, and whether lower is better."""

    name: str
    digits: int
    lower_is_better: bool = False


@dataclass(frozen=True)
class Method:
    """A row of a table: an estimator, and what it reads.

    Attributes
    ----------
    name : str
        The name of the row.
    make : callable
        A function that returns the estimator for a seed.
    inputs : str
        Which of the task's inputs it reads.
    space : dict
        What is tuned; nothing if empty.
    paper : dict
        The paper's figures, by measure.
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
    name : str
        The name of its files.
    group : str
        The name that `reproduce` takes for this task together with others; its own name if empty.
    title, text : str
        The text above the table.
    measures : tuple of Measure
        The columns; the first one is the most important.
    methods : tuple of Method
        The rows.
    inputs : dict
        What loads the data as the methods read them, by name.
    score : callable
        What measures a fitted model on examples and labels.
    loaders : tuple of callable
        What reads the data sets from a folder, to find out early that one is missing.
    highlights : dict
        The methods of the summary, by its column.
    scoring : str, optional
        What settings are compared by, as `tune` takes it; None is the loss that each method minimises.
    seeds : int
        The number of repetitions, each with another split or at least another seed.
    folds : int, optional
        The number of folds of cross-validation that compares settings, if there are no validation data.
    """

    name: str
    title: str
    text: str
    measures: tuple[Measure, ...]
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
    """Fit a model, with validation data if it takes them."""
    if validation is not None and "validation_data" in inspect.signature(model.fit).parameters:
        return model.fit(*training, validation_data=tuple(validation))
    return model.fit(*training)


def as_sets(parts: Parts, sets: Any) -> Parts:
    """Turn strings into sets of tokens, with statistics of the training part; its own are out of fold."""
    training = Labelled(sets.fit_transform(*parts.training), parts.training.y)
    validation = (
        None if parts.validation is None else Labelled(sets.transform(parts.validation.X), parts.validation.y)
    )
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
