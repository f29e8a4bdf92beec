"""A figure of what a search has found."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clearset.tuning._domains import Choices, Domain, is_number
from clearset.tuning._optional_packages import need
from clearset.tuning._value_texts import number_words, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from clearset.tuning._result import Tuning

_TRIAL, _BEST, _FAILED, _TEXT = "#7d93a8", "#c8501e", "#b0b0b0", "#333333"
_GRID = "#e6e6e6"
_COLUMNS = 3
_WIDEST = 22  # letters of a label


def plot(tuning: "Tuning") -> "Figure":
    """Draw the score by trial, and against each parameter searched."""
    need("matplotlib")
    from matplotlib.figure import Figure

    domains = tuning.domains
    columns = min(_COLUMNS, len(domains))
    rows = -(-len(domains) // columns)
    figure = Figure(figsize=(max(3.6 * columns, 7.2), 3.0 + 2.7 * rows), layout="constrained")
    grid = figure.add_gridspec(rows + 1, columns)
    scores = _Scores(tuning)
    _draw_trials(figure.add_subplot(grid[0, :]), scores)
    for place, (name, domain) in enumerate(domains.items()):
        axes = figure.add_subplot(grid[1 + place // columns, place % columns])
        _draw_parameter(axes, scores, name, domain)
        axes.set_xlabel(tuning.metric if place + columns >= len(domains) else "")
    figure.suptitle(
        f"{type(tuning.best_estimator_).__name__}: best {tuning.metric} {number_words(tuning.best_score_)} in trial "
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
        self.limits = sorted((self.sign * (best - margin), self.sign * (self.worst + margin)))

    def drawn(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Return where scores are drawn, NaN for trials without one, and which are beyond the edge."""
        losses = self.sign * self.values
        return self.sign * np.minimum(losses, self.worst), losses > self.worst

    def dots(self, axes: "Axes", x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], marker: str) -> None:
        """Draw every trial; those beyond the edge with a marker that points there."""
        _, beyond = self.drawn()
        best, inside = self.tuning.best_trial_, ~beyond
        inside[best] = False
        style: dict[str, Any] = {"color": _TRIAL, "edgecolors": "white", "linewidths": 0.5, "zorder": 3}
        axes.scatter(x[inside], y[inside], s=28, **style)
        axes.scatter(x[beyond], y[beyond], s=34, marker=marker, **style)
        axes.scatter(x[[best]], y[[best]], s=70, **{**style, "color": _BEST, "zorder": 4})
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": _TEXT, "linewidths": 1.2, "label": "as given"}
        axes.scatter(x[:1], y[:1], s=90, zorder=5, **ring)
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
    higher = tuning.higher_is_better
    scores.dots(axes, numbers, scores.drawn()[0], "v" if higher else "^")
    if (failed := ~np.isfinite(scores.values)).any():
        edge = np.full(int(failed.sum()), scores.sign * scores.worst)
        axes.scatter(numbers[failed], edge, marker="x", s=30, color=_FAILED, label="failed", zorder=3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(-0.7, len(tuning.trials) - 0.3)
    axes.set_xlabel("trial")
    axes.set_ylabel(tuning.metric)
    axes.set_ylim(*scores.limits)
    axes.grid(axis="y", color=_GRID, zorder=0)
    axes.legend(frameon=False, ncols=3, loc="lower right" if higher else "upper right")


def _draw_parameter(axes: "Axes", scores: _Scores, name: str, domain: Domain) -> None:
    """Draw the parameter upwards, so that words can be read, and the score to the right."""
    from matplotlib.ticker import MaxNLocator

    values = [trial["params"][name] for trial in scores.tuning.trials]
    if isinstance(domain, Choices):
        heights = _draw_choices(axes, values, domain)
    else:
        heights = np.array([_number(value) for value in values])
        if domain.log:
            heights[heights <= 0] = np.nan  # the given value may be 0, which such a scale has no place for
        low, high = (
            float(np.fmin.reduce(heights, initial=domain.low)),
            float(np.fmax.reduce(heights, initial=domain.high)),
        )
        if domain.log:
            _label_log(axes, low, high)
        else:
            margin = 0.06 * (high - low)
            axes.set_ylim(low - margin, high + margin)
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=domain.whole))
    scores.dots(axes, scores.drawn()[0], heights, "<" if scores.tuning.higher_is_better else ">")
    axes.set_xlim(*scores.limits)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.grid(axis="x", color=_GRID, zorder=0)
    axes.set_title(name, loc="left", fontsize=10, color=_TEXT)


def _draw_choices(axes: "Axes", values: list[Any], domain: Choices) -> npt.NDArray[np.float64]:
    """Label the choices, and return the heights of the trials: those of one choice one above the other, in order."""
    labels, places = [words(choice) for choice in domain.values], [domain.plain(value) for value in values]
    if None in places:  # the estimator as given may have a value that is not searched
        labels.append(f"{words(values[places.index(None)])} (given)")
    heights = np.array([len(domain.values) if place is None else place for place in places], dtype=np.float64)
    short = [text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…" for text in labels]
    axes.set_yticks(range(len(labels)), short)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    return heights + (np.linspace(-0.22, 0.22, len(heights)) if len(heights) > 1 else 0.0)


def _label_log(axes: "Axes", low: float, high: float) -> None:
    """Use a logarithmic scale with plain numbers at round values."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    margin = (high / low) ** 0.06
    axes.set_yscale("log")
    axes.set_ylim(low / margin, high * margin)
    steps = (1, 2, 5) if high / low < 200 else (1, 3) if high / low < 2000 else (1,)
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = [step * power for power in powers for step in steps if low / margin <= step * power <= high * margin]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _number(value: Any) -> float:
    return float(value) if is_number(value) else np.nan
