"""Strategies: what may be declared of features, how sets may look, and how a set function may be fitted."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.properties.sets_drawn import CATEGORIES, LIBRARIES, NUMBERS, Column, Sets

import clearset as cs

DIRECTIONS = (None, "increasing", "decreasing")
SHAPES = (None, None, "convex", "concave")
LABELS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "constant": lambda rng, n: np.full(n, 3.5),
    "few": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "huge": lambda rng, n: 1e98 * rng.normal(size=n),
    "tiny": lambda rng, n: 1e-98 * rng.normal(size=n),
    "far from zero": lambda rng, n: 1e9 + rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
}
WEIGHTS = {
    "whole": lambda rng, n: rng.integers(0, 4, n),
    "fractions": lambda rng, n: rng.uniform(0.1, 2.0, n),
    "all magnitudes": lambda rng, n: 10.0 ** rng.uniform(-100, 100, n),
}


def drawn_weights(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    """Draw weights, of which the last three are 1, so that no class is left without any."""
    weights: np.ndarray = WEIGHTS[kind](rng, n)
    weights[-3:] = 1
    return weights


def drawn_classes(rng: np.random.Generator, n: int, n_classes: int) -> np.ndarray:
    """Draw names of classes, each of which is among the last."""
    codes = np.append(rng.integers(n_classes, size=n - n_classes), range(n_classes))
    return np.array(["no", "yes", "?"])[codes]


@dataclass(frozen=True)
class Case:
    """What one example of a property is made of."""

    columns: list[Column]
    features: list[cs.Feature]
    trusts: list[cs.Trust]
    largest: int
    empty: bool
    n_sets: int
    labels: str
    weights: str | None
    validates: bool
    library: str
    options: dict[str, Any]
    seed: int
    rng: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rng", np.random.default_rng(self.seed))

    def sets(self, n: int, *, later: bool) -> Sets:
        """Draw sets: to train on, or later ones."""
        sizes = np.ones(n, dtype=int)
        if self.has_lists:
            sizes = self.rng.integers(0 if self.empty or later else 1, self.largest + 1, n)
        return Sets.drawn(self.columns, sizes, self.rng, later=later)

    def sample_weight(self) -> np.ndarray | None:
        """Draw weights, where there are any."""
        return None if self.weights is None else drawn_weights(self.rng, self.weights, self.n_sets)

    def numbers(self) -> np.ndarray:
        """Draw labels of a regression, as its loss takes them."""
        labels = LABELS[self.labels](self.rng, self.n_sets)
        return np.minimum(np.floor(np.abs(labels)), 1e6) + 1 if self.options["loss"] == "poisson" else labels

    def classes(self, n: int) -> np.ndarray:
        """Draw classes."""
        return drawn_classes(self.rng, self.n_sets, n)

    @property
    def has_lists(self) -> bool:
        """Whether there are features of tokens; otherwise each set is a row of a plain table."""
        return not all(column.of_sets for column in self.columns)


@st.composite
def cases(
    draw: st.DrawFn,
    options: dict[str, st.SearchStrategy[Any]],
    *,
    constrained: bool = True,
    n_sets: st.SearchStrategy[int] | None = None,
) -> Case:
    """Draw an example; without constraints, nothing is declared that speaks of one output."""
    columns = draw(_columns())
    has_lists = not all(column.of_sets for column in columns)
    features = [draw(_feature(column, constrained=constrained)) for column in columns]
    if has_lists:
        rarely = st.sampled_from([False, False, False, True])
        for name, drawn in ((cs.SIZE, st.booleans()), (cs.PLACE, rarely), (cs.PLACE_FROM_START, rarely)):
            if draw(drawn):
                features.append(draw(_numeric(name, constrained=constrained)))
    return Case(
        columns=columns,
        features=features,
        trusts=draw(_trusts(features)) if constrained else [],
        largest=draw(st.integers(1, 6)),
        empty=draw(st.booleans()),
        n_sets=draw(st.integers(12, 40) if n_sets is None else n_sets),
        labels=draw(st.sampled_from(sorted(LABELS))),
        weights=draw(st.sampled_from([None, None, *sorted(WEIGHTS)])),
        validates=draw(st.sampled_from([False, False, True])),
        library=draw(st.sampled_from(LIBRARIES if has_lists else LIBRARIES[:3])),
        options={name: draw(values) for name, values in {**FITTING, **options}.items()},
        seed=draw(st.integers(0, 2**32 - 1)),
    )


FITTING: dict[str, st.SearchStrategy[Any]] = {
    "width": st.integers(1, 3),
    "keypoints": st.integers(2, 10),
    "rho_keypoints": st.integers(2, 8),
    "lattice_size": st.sampled_from([2, 2, 3]),
    "lattices": st.sampled_from(["auto", "full", "ensemble"]),
    "optimizer": st.sampled_from(["adam", "adagrad"]),
    "constraints": st.sampled_from(["project", "project", "light_touch"]),
    "smoothness": st.sampled_from([0.0, 100.0]),
    "learning_rate": st.sampled_from([0.03, 1.0]),
    "epochs": st.integers(1, 3),
    "batch_size": st.sampled_from(["auto", 7]),
    "random_state": st.integers(0, 3),
    "n_jobs": st.sampled_from([1, 1, 1, 2]),
}

REGRESSION: dict[str, Any] = {
    "loss": st.sampled_from(["squared_error", "absolute_error", "quantile", "poisson"]),
    "quantile": st.sampled_from([0.1, 0.5, 0.9]),
}
CLASSIFICATION: dict[str, Any] = {
    "loss": st.sampled_from(["log_loss", "hinge"]),
    "class_weight": st.sampled_from([None, None, "balanced"]),
}


@st.composite
def _columns(draw: st.DrawFn) -> list[Column]:
    n, plain = draw(st.integers(1, 4)), draw(st.sampled_from([False, False, False, True]))
    kinds = st.sampled_from([*sorted(NUMBERS), "text", "dictionary"])
    return [
        Column(
            name=f"f{place}",
            of_sets=plain or (place > 0 and draw(st.booleans())),
            draw=draw(kinds),
            missing=draw(st.sampled_from([0.0, 0.0, 0.2, 0.9])),
        )
        for place in range(n)
    ]


def _feature(column: Column, *, constrained: bool) -> st.SearchStrategy[cs.Feature]:
    if not column.categorical:
        return _numeric(column.name, constrained=constrained)
    ordered = [
        None,
        [(CATEGORIES[0], CATEGORIES[1])],
        [(CATEGORIES[2], CATEGORIES[1]), (CATEGORIES[1], CATEGORIES[3]), (CATEGORIES[2], "nowhere")],
    ]
    return st.builds(
        cs.Feature,
        st.just(column.name),
        kind=st.just("categorical"),
        monotonic=st.sampled_from(ordered if constrained else ordered[:1]),
        lattice_size=st.sampled_from([None, 2, 3]),
    )


def _numeric(name: str, *, constrained: bool) -> st.SearchStrategy[cs.Feature]:
    return st.builds(
        cs.Feature,
        st.just(name),
        monotonic=st.sampled_from(DIRECTIONS if constrained else DIRECTIONS[:1]),
        keypoints=st.sampled_from([None, None, 2, 3, 10]),
        bounds=st.sampled_from([None, None, (-1.0, 1.0), (0.0, None), (None, 5.0)]),
        shape=st.sampled_from(SHAPES),
        lattice_size=st.sampled_from([None, None, 2, 3]),
    )


@st.composite
def _trusts(draw: st.DrawFn, features: list[cs.Feature]) -> list[cs.Trust]:
    """Draw a trust that the features allow, where there is one."""
    numeric = [feature for feature in features if feature.kind == "numeric"]
    edgeworth = [(a, b, "edgeworth") for a in numeric for b in numeric if a is not b and a.monotonic]
    trapezoid = [
        (a, b, "trapezoid") for a, b, _ in edgeworth if a.shape is None and b.shape is None and b.monotonic is None
    ]
    allowed = edgeworth + trapezoid
    if not allowed or draw(st.booleans()):
        return []
    main, by, shape = draw(st.sampled_from(allowed))
    return [cs.Trust(main.name, by=by.name, shape=shape)]
