"""What notebooks show of explanations: the contributions of tokens, and partial dependence."""

import html
from typing import Any

import numpy as np

from clearset.display._html_fragments import UP, bar_svg, block_html, more_html, name_html, table_html
from clearset.display._protocols import ShownDependence, ShownExplanation, ShownJointExplanation
from clearset.display._short_text import said, shown, token_texts
from clearset.display.plots._axis import Scale
from clearset.display.plots._waterfall import contributions_of

_MOST_SETS, _MOST_TOKENS, _MOST_FEATURES, _MOST_CATEGORIES = 10, 20, 30, 16


def explanation_html(explanation: ShownExplanation) -> str:
    """Return what the tokens of each set add, as HTML.

    Parameters
    ----------
    explanation : Explanation
        The explanation of some sets.

    Returns
    -------
    str
        A block of HTML.
    """
    lines = [_explained(one, f"Set {number}") for number, one in enumerate(explanation[:_MOST_SETS])]
    return _finished(explanation, lines, "set")


def joint_explanation_html(explanation: ShownJointExplanation) -> str:
    """Return what the follow-on model reads of each row and what tokens add to it, as HTML.

    Parameters
    ----------
    explanation : JointExplanation
        The explanation of some rows.

    Returns
    -------
    str
        A block of HTML.
    """
    lines = []
    for number, row in enumerate(explanation[:_MOST_SETS]):
        what = "" if row.label is None else f" for {name_html(row.label[0])}"
        lines.append(f"<h4>Row {number}: {said(float(row.prediction[0]))}{what}</h4>{_read(row.follow_on)}")
        for name, part in zip(row.names, row.engines.values(), strict=True):
            lines.append(_explained(part, f"Estimate of {name_html(name)}", "estimate"))
    return _finished(explanation, lines, "row")


def dependence_html(dependence: ShownDependence) -> str:
    """Return how predictions depend on one feature, as HTML.

    Parameters
    ----------
    dependence : PartialDependence
        The dependence.

    Returns
    -------
    str
        A block of HTML.
    """
    said_of = "" if dependence.label is None else f": probability of {name_html(dependence.label)}"
    over = f"mean over {dependence.said_of}"
    lines = [f"<h4>{name_html(dependence.feature)}{said_of}</h4><p><small>{over}</small></p>"]
    if dependence.values.dtype != object:
        return block_html([*lines, _curve(dependence.values, dependence.prediction)])
    order = np.argsort(-dependence.prediction, kind="stable")[:_MOST_CATEGORIES].tolist()
    rows = [[name_html(dependence.values[place]), said(float(dependence.prediction[place]))] for place in order]
    lines.append(table_html(["category", "prediction"], rows, right={1}))
    lines.append(more_html(len(dependence.values) - len(rows), "categories"))
    return block_html(lines)


def _finished(explanation: ShownExplanation | ShownJointExplanation, lines: list[str], what: str) -> str:
    more = more_html(len(explanation) - _MOST_SETS, what)
    return block_html([f"<p><small>{html.escape(repr(explanation))}</small></p>", *lines, more])


def _explained(one: ShownExplanation, heading: str, what_it_gives: str = "prediction") -> str:
    """Return what each token of one set adds, as a table."""
    parts = contributions_of(one)
    table = one.tokens
    order = np.argsort(-np.abs(parts).sum(axis=1), kind="stable")[:_MOST_TOKENS]
    texts = token_texts(one, 80)
    shares, without = table["share"].to_pylist(), table["without"].to_pylist()
    largest = float(np.abs(parts).max()) or 1.0
    rows = [
        [
            f"<bdi>{html.escape(texts[place])}</bdi>",
            ", ".join(f"{part:+.4f}" for part in parts[place]),
            bar_svg(parts[place] / largest),
            f"{shares[place]:.0%}",
            "-" if without[place] is None else said(without[place]),
        ]
        for place in order.tolist()
    ]
    what = "" if one.label is None else f" for {name_html(one.label[0])}"
    mean = ", ".join(f"{value:.4f}" for value in one.aggregate[0])
    head = f"<h4>{heading}: {said(float(one.prediction[0]))}{what}</h4>"
    body = table_html(["token", "contribution", "", "share", f"{what_it_gives} without it"], rows, right={1, 3, 4})
    return f"{head}{body}{more_html(len(parts) - len(rows), 'token')}<small>mean score {mean}</small>"


def _read(one: ShownExplanation) -> str:
    """Return the features of a set of one token, as a table."""
    row, effects = one.tokens.to_pylist()[0], {}
    if one.effects is not None:
        effects = {effect["feature"]: effect for effect in one.effects.to_pylist()}
    head = ["feature", "value"] + (["prediction at its worst", "at its best"] if effects else [])
    rows = []
    for name in one.features[:_MOST_FEATURES]:
        value = row[name]
        text = "missing" if value is None else said(value) if isinstance(value, float) else shown(value, 40)
        reached = effects.get(name)
        ends = [] if reached is None else [said(reached[f"prediction_{end}"]) for end in ("worst", "best")]
        rows.append([name_html(name), f"<bdi>{html.escape(text)}</bdi>", *ends])
    return table_html(head, rows, right={1, 2, 3}) + more_html(len(one.features) - len(rows), "feature")


def _curve(values: Any, prediction: Any) -> str:
    """Return a curve as SVG, with numbers at the ends of its axes in the text colour of the page."""
    places = Scale.of(values).apart(values)
    low, high = float(prediction.min()), float(prediction.max())
    x = 80 + 320 * (places - places[0]) / (places[-1] - places[0])
    y = 130 - 120 * (prediction - low) / ((high - low) or 1.0)
    points = " L".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))

    def text(a: float, b: float, anchor: str, number: float) -> str:
        return f'<text x="{a}" y="{b}" text-anchor="{anchor}">{html.escape(said(number))}</text>'

    words = text(72, 14, "end", high) + (text(72, 134, "end", low) if high > low else "")
    words += text(80, 152, "start", float(values[0])) + text(400, 152, "end", float(values[-1]))
    return (
        '<svg width="410" height="158" role="img" aria-label="curve" font-size="11" fill="currentColor">'
        '<path d="M80,4V136H404" fill="none" stroke="#888"/>'
        f'<path d="M{points}" fill="none" stroke="{UP}" stroke-width="2"/>{words}</svg>'
    )
