"""Figures of "How it works" and of the packages: `python .ci/figures.py` writes docs/images/how/*.svg.

Curves and points are calculated by the package; boxes are drawn.
"""

import tomllib
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from clearset.functions.projections import ConstraintSet, order_rows

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images" / "how"
BLUE, ORANGE, GREY, PALE, CREAM = "#0072b2", "#d55e00", "#8a94a0", "#e8eef4", "#fdeadb"
LABEL = "#56616d"  # grey that can be read
STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "clearset",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
Place = tuple[float, float]


def save(figure: Figure, name: str) -> None:
    """Write a figure with a white ground, so that it can be read on a dark page."""
    figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", facecolor="white", metadata={"Date": None})


def board(width: float, height: float) -> tuple[Figure, Any]:
    """Return an empty drawing, in inches from the lower left corner."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def box(axes: Any, at: Place, text: str, size: Place = (1.3, 0.5), colour: str = PALE) -> None:
    """Draw a box with its middle at a place."""
    x, y = at[0] - size[0] / 2, at[1] - size[1] / 2
    axes.add_patch(mpl.patches.FancyBboxPatch((x, y), *size, boxstyle="round,pad=0.02", fc=colour, ec=GREY, lw=0.8))
    axes.text(*at, text, ha="center", va="center", color="black")


def arrow(axes: Any, start: Place, end: Place) -> None:
    """Draw an arrow."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GREY, "lw": 1})


def layers() -> None:
    """Draw the six layers, for a set of three tokens."""
    figure, axes = board(9.6, 3.2)
    for y, token in ((2.6, "first token"), (1.7, "second token"), (0.8, "third token")):
        box(axes, (0.75, y), token)
        box(axes, (2.45, y), "1 calibrators")
        box(axes, (4.0, y), "2 lattice", (1.1, 0.5))
        arrow(axes, (1.42, y), (1.78, y))
        arrow(axes, (3.12, y), (3.43, y))
        arrow(axes, (4.57, y), (5.0, 1.7 + (y - 1.7) * 0.15))
    for x, text in ((5.4, "3 mean"), (6.55, "4 calibrator"), (7.7, "5 lattice"), (8.95, "6 output\ncurve")):
        box(axes, (x, 1.7), text, (0.85 if x < 8 else 1.0, 0.6), CREAM if x > 6 else PALE)
    for start, end in ((5.85, 6.1), (7.0, 7.25), (8.15, 8.42)):
        arrow(axes, (start, 1.7), (end, 1.7))
    axes.text(2.4, 0.2, "phi: the same for every token; one score each", ha="center", color=LABEL)
    axes.text(7.75, 0.9, "rho: increasing", ha="center", color=LABEL)
    save(figure, "layers")


def projection() -> None:
    """Draw a calibrator before and after its projection onto curves that do not fall."""
    values = np.array([[0.05, 0.3, 0.2, 0.45, 0.4, 0.32, 0.8, 0.95]])
    rows = order_rows([(place, place + 1) for place in range(7)])
    nearest = ConstraintSet({"rising": rows}, lower=0.0, upper=1.0, size=8).project_exactly(values)
    figure = Figure(figsize=(5.2, 2.6))
    axes = figure.subplots()
    axes.plot(values[0], "o--", color=GREY, label="after a step of the optimiser")
    axes.plot(nearest[0], "o-", color=BLUE, label="the nearest curve that does not fall")
    for place, (old, new) in enumerate(zip(values[0], nearest[0], strict=True)):
        axes.plot([place, place], [old, new], color=ORANGE, lw=1)
    axes.set(xlabel="keypoint", ylabel="calibrated value")
    axes.legend(frameon=False)
    save(figure, "projection")


def light_touch() -> None:
    """Draw two ways to the least loss under x <= y, from the same noisy gradients."""
    rng = np.random.default_rng(0)
    best, rate = np.array([0.8, 0.3]), 0.12
    paths = {"projection in every step": [np.array([0.0, 0.6])], "penalties, one projection at the end": []}
    paths["penalties, one projection at the end"] = [paths["projection in every step"][0]]
    for noise in rng.normal(0, 0.15, (22, 2)):
        for name, path in paths.items():
            at = path[-1]
            step = at - rate * (at - best + noise)
            if name.startswith("projection"):
                step = step if step[0] <= step[1] else np.full(2, step.mean())
            elif at[0] > at[1]:
                step = step - rate * 0.9 * np.array([1.0, -1.0])
            path.append(step)
    last = paths["penalties, one projection at the end"][-1]
    figure = Figure(figsize=(4.6, 3.4))
    axes = figure.subplots()
    axes.fill([-1, 1, 1], [-1, 1, -1], color="#f4e1d6", lw=0)
    axes.text(0.7, 0.18, "x > y is not allowed", ha="center", color=ORANGE)
    for (name, path), colour in zip(paths.items(), (BLUE, GREY), strict=True):
        axes.plot(*np.array(path).T, ".-", color=colour, lw=1, label=name)
    end = last if last[0] <= last[1] else np.full(2, last.mean())
    axes.plot(*np.array([last, end]).T, color=ORANGE, lw=2)
    axes.plot(*end, "o", color=ORANGE)
    axes.plot(*best, "x", color="black")
    axes.text(best[0] + 0.04, best[1] - 0.1, "least loss\nwithout constraint")
    axes.set(xlim=(-0.05, 1.15), ylim=(0.15, 0.85), xlabel="x", ylabel="y")
    axes.legend(frameon=False, loc="upper left")
    save(figure, "light-touch")


def fold() -> None:
    """Draw how a lattice folds to a line for one token, on which every class is read."""
    low, high = -0.7, 0.75
    figure = Figure(figsize=(4.8, 2.7))
    axes = figure.subplots()
    axes.plot([0, 1], [low, high], color=BLUE)
    for share, name, above in ((0.08, "greek", True), (0.3, "mexican", True), (0.62, "thai", False)):
        score = low + share * (high - low)
        axes.plot([share, share, 0], [-0.95, score, score], ":", color=GREY, lw=1)
        axes.plot(share, score, "o", color=ORANGE)
        axes.text(share + 0.02, score + (0.06 if above else -0.16), name)
    axes.set(xlim=(0, 1), ylim=(-0.95, 1), ylabel="score of the token for the class")
    axes.set_xlabel("calibrated share of the class among examples with the token")
    save(figure, "fold")


def crossed() -> None:
    """Draw one token crossed with three classes: one set function is asked once for each."""
    figure, axes = board(8.2, 2.9)
    box(axes, (0.85, 1.6), "token lime:\ncount 499,\nof 5 items", (1.3, 1.0))
    for y, said in ((2.5, "thai: share 0.48"), (1.6, "mexican: share 0.52"), (0.7, "greek: share 0.00")):
        box(axes, (2.75, y), said, (1.6, 0.5), CREAM)
        box(axes, (4.65, y), "set function", (1.2, 0.5))
        box(axes, (6.1, y), "output", (0.8, 0.5))
        arrow(axes, (1.55, 1.6 + (y - 1.6) * 0.4), (1.9, y))
        arrow(axes, (3.6, y), (4.0, y))
        arrow(axes, (5.3, y), (5.65, y))
        arrow(axes, (6.55, y), (7.0, 1.6 + (y - 1.6) * 0.3))
    box(axes, (7.5, 1.6), "softmax", (0.9, 0.6))
    axes.text(4.65, 0.15, "the same tables for every class", ha="center", color=LABEL)
    save(figure, "crossed")


def refinement() -> None:
    """Draw what the set function reads of a token that is refined."""
    figure, axes = board(8.2, 1.5)
    parts = ("counted:\nlog-odds of the class", "learned correction,\npulled to 0", "refined value")
    for x, text in zip((1.1, 3.2, 5.1), parts, strict=True):
        box(axes, (x, 0.75), text, (1.6, 0.7), CREAM if "learned" in text else PALE)
    axes.text(2.15, 0.75, "+", ha="center", va="center", fontsize=14)
    axes.text(4.15, 0.75, "=", ha="center", va="center", fontsize=14)
    arrow(axes, (5.95, 0.75), (6.5, 0.75))
    box(axes, (7.2, 0.75), "set function", (1.3, 0.7))
    save(figure, "refinement")


def table() -> None:
    """Draw the algebra of token tables."""
    figure, axes = board(8.2, 2.5)
    for x, text in ((0.9, "table of\nJanuary"), (2.7, "table of\nFebruary"), (4.7, "table of both,\nto the last bit")):
        box(axes, (x, 1.9), text, (1.4, 0.7))
    axes.text(1.8, 1.9, "+", ha="center", va="center", fontsize=14)
    axes.text(3.65, 1.9, "=", ha="center", va="center", fontsize=14)
    arrow(axes, (5.45, 1.9), (6.2, 1.9))
    box(axes, (7.1, 1.9), "filtered:\nMinCount(5)", (1.6, 0.7))
    for x, text in ((0.9, "all\nexamples"), (2.7, "fold of this\nexample"), (4.7, "what it is\ntrained on with")):
        box(axes, (x, 0.6), text, (1.4, 0.7), CREAM)
    axes.text(1.8, 0.6, "\u2212", ha="center", va="center", fontsize=14)
    axes.text(3.65, 0.6, "=", ha="center", va="center", fontsize=14)
    save(figure, "table")


def engines() -> None:
    """Draw what engines share."""
    figure, axes = board(8.2, 2.6)
    box(axes, (1.1, 1.3), "sets: slots,\nfractions, offsets", (1.7, 0.8))
    box(axes, (3.6, 1.3), "one contract:\nmeans, scores, rho,\nlosses, trainer", (1.9, 1.0), CREAM)
    arrow(axes, (2.0, 1.3), (2.6, 1.3))
    three = (("native", "C++ with AVX2 and AVX-512"), ("torch", "plain operations, autograd"), ("cuda", "NVIDIA GPUs"))
    for y, (name, said) in zip((2.1, 1.3, 0.5), three, strict=True):
        box(axes, (6.4, y), f"{name}: {said}", (2.6, 0.5))
        arrow(axes, (4.6, 1.3 + (y - 1.3) * 0.3), (5.05, y))
    save(figure, "engines")


def packages() -> None:
    """Draw the layers that `lint-imports` checks, and what each is for."""
    said = {
        "cli": "commands",
        "experiments": "the paper's tasks",
        "tuning": "search for options",
        "baselines": "what is compared with; HTTP; clusters",
        "estimators": "scikit-learn: declare and fit",
        "models": "predict, explain, verify, edit; how tables are learned",
        "engines": "who computes; files for other places",
        "functions": "the set function as tables, constraints, certificate",
        "tokens": "strings to tokens, token table, filters",
        "datasets": "generated and public data; pages and figures",
        "sets": "features, sets, readers, keypoints",
        "artifact": "the file formats; models in production",
        "files": "archives, strict JSON, signatures",
    }
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rows = [layer.replace("clearset.", "").split(" | ") for layer in layers]
    step = 0.46
    figure, axes = board(8.2, step * len(rows) + 0.5)
    for place, names in enumerate(rows):
        y = step * (len(rows) - place) + 0.25
        for column, name in enumerate(names):
            box(axes, (1.95 + 1.25 * (column - (len(names) - 1) / 2), y), name, (1.1, 0.28))
        axes.text(4.1, y, said[names[0]], va="center", color=LABEL)
        if place:
            arrow(axes, (1.95, y + step - 0.17), (1.95, y + 0.17))
    axes.text(1.95, 0.22, "A package may import those below it.", ha="center", color=LABEL)
    save(figure, "packages")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for make in (layers, projection, light_touch, crossed, fold, refinement, table, engines, packages):
            make()
