"""A figure of what a search has found."""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset.tuning._domains import Choices, Domain
from clearset.tuning._extras import need
from clearset.tuning._words import words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from clearset.tuning._result import Tuning

_TRIAL, _BEST, _FAILED, _TEXT = "#7d93a8", "#c8501e", "#b0b0b0", "#333333"
_COLUMNS = 3
_WORDS_IN_A_ROW = 4  # of this many choices and more, or of long ones, the names are written aslant
_LONGEST_LABEL = 24


def plot(tuning: "Tuning") -> "Figure":
    """Draw the score by trial, and against each parameter searched."""
    need("matplotlib")
    from matplotlib.figure import Figure

    domains = tuning.domains
    columns = min(_COLUMNS, len(domains))
    rows = -(-len(domains) // columns)
    figure = Figure(figsize=(max(3.6 * columns, 7.2), 3.2 + 2.9 * rows), layout="constrained")
    grid = figure.add_gridspec(rows + 1, columns)
    scores = _Scores(tuning)
    first = figure.add_subplot(grid[0, :])
    _draw_trials(first, scores)
    shared: Axes | None = None
    for place, (name, domain) in enumerate(domains.items()):
        axes = figure.add_subplot(grid[1 + place // columns, place % columns], sharey=shared)
        shared = axes
        _draw_parameter(axes, scores, name, domain)
        axes.set_ylabel(tuning.metric if place % columns == 0 else "")
        axes.tick_params(labelleft=place % columns == 0)
    figure.suptitle(
        f"{type(tuning.best_estimator_).__name__}: best {tuning.metric} {tuning.best_score_:.4g} in trial "
        f"{tuning.best_trial_} of {len(tuning.trials)}",
        color=_TEXT,
    )
    return figure


class _Scores:
    """Scores of all trials, and up to where they are drawn to scale."""

    def __init__(self, tuning: "Tuning") -> None:
        self.tuning = tuning
        self.values = np.array([_number(trial["score"]) for trial in tuning.trials])
        self.sign = -1.0 if tuning.higher_is_better else 1.0
        losses = self.sign * self.values[np.isfinite(self.values)]
        best, bulk = losses.min(), np.quantile(losses, 0.75)
        # A few trials that went wrong must not squeeze the others: they are drawn at the edge.
        span = (bulk - best or losses.max() - best or abs(best) or 1.0) * 2.0
        self.worst = best + span if losses.max() > best + 1.5 * span else losses.max()
        margin = 0.08 * (self.worst - best or span)
        self.limits = tuple(sorted((self.sign * (best - margin), self.sign * (self.worst + margin))))

    def drawn(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Give where scores are drawn, NaN for none, and which are beyond the edge."""
        losses = self.sign * self.values
        return self.sign * np.minimum(losses, self.worst), losses > self.worst

    def dots(self, axes: "Axes", places: npt.NDArray[np.float64]) -> None:
        """Draw every trial at its place; trials beyond the edge point there."""
        heights, beyond = self.drawn()
        inside = ~beyond
        inside[self.tuning.best_trial_] = False
        style: dict[str, Any] = {"color": _TRIAL, "edgecolors": "white", "linewidths": 0.5, "zorder": 3}
        axes.scatter(places[inside], heights[inside], s=28, **style)
        if beyond.any():
            marker = "v" if self.tuning.higher_is_better else "^"
            axes.scatter(places[beyond], heights[beyond], s=34, marker=marker, **style)
        best, ring = self.tuning.best_trial_, {"facecolors": "none", "edgecolors": _TEXT, "linewidths": 1.2}
        axes.scatter(
            places[[best]], heights[[best]], s=70, color=_BEST, edgecolors="white", linewidths=0.8, zorder=4
        )
        axes.scatter(places[:1], heights[:1], s=90, zorder=5, label="as given", **ring)
        axes.set_ylim(*self.limits)
        axes.grid(axis="y", color="#e6e6e6", zorder=0)
        axes.spines[["top", "right"]].set_visible(False)


def _draw_trials(axes: "Axes", scores: _Scores) -> None:
    from matplotlib.ticker import MaxNLocator

    tuning = scores.tuning
    numbers = np.arange(len(tuning.trials), dtype=np.float64)
    losses = np.where(np.isfinite(scores.values), scores.sign * scores.values, np.inf)
    best = np.minimum.accumulate(losses)
    known = np.isfinite(best)
    line = scores.sign * np.minimum(best[known], scores.worst)
    axes.step(numbers[known], line, where="post", color=_BEST, linewidth=1.5, label="best so far", zorder=2)
    scores.dots(axes, numbers)
    if (failed := ~np.isfinite(scores.values)).any():
        edge = np.full(int(failed.sum()), scores.sign * scores.worst)
        axes.scatter(numbers[failed], edge, marker="x", s=30, color=_FAILED, label="failed", zorder=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(-0.7, len(tuning.trials) - 0.3)
    axes.set_xlabel("trial")
    axes.set_ylabel(tuning.metric)
    axes.legend(frameon=False, loc="lower right" if tuning.higher_is_better else "upper right")


def _draw_parameter(axes: "Axes", scores: _Scores, name: str, domain: Domain) -> None:
    from matplotlib.ticker import MaxNLocator

    values = [trial["params"][name] for trial in scores.tuning.trials]
    axes.set_xlabel(name)
    if not isinstance(domain, Choices):
        scores.dots(axes, np.array([_number(value) for value in values]))
        if domain.whole and not domain.log:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if domain.log:
            _label_log(axes, [_number(value) for value in values] + [domain.low, domain.high])
        return
    choices, places = [words(choice) for choice in domain.values], [domain.plain(value) for value in values]
    if None in places:  # the estimator as given may have a value that is not searched
        outside = next(value for value, place in zip(values, places, strict=True) if place is None)
        choices.append(f"{words(outside)} (given)")
    spots = np.array([len(domain.values) if place is None else place for place in places], dtype=np.float64)
    # Trials of one choice stand beside each other, in order.
    spread = np.linspace(-0.22, 0.22, len(spots)) if len(spots) > 1 else 0.0
    scores.dots(axes, spots + spread)
    long = len(choices) > _WORDS_IN_A_ROW or max(map(len, choices)) > 12
    labels = [text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…" for text in choices]
    axes.set_xticks(range(len(choices)), labels)
    if long and sum(map(len, labels)) > 30:
        axes.tick_params(axis="x", labelrotation=35, labelsize=8)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")
    axes.set_xlim(-0.6, len(choices) - 0.4)


def _label_log(axes: "Axes", values: list[float]) -> None:
    """Use a logarithmic scale with plain numbers at round values."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    low, high = np.nanmin(values), np.nanmax(values)
    axes.set_xscale("log")
    steps = (1, 2, 5) if high / low < 200 else (1, 3) if high / low < 2000 else (1,)
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = [step * power for power in powers for step in steps if low * 0.95 <= step * power <= high * 1.05]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", which="minor", length=0)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
