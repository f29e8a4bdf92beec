"""What notebooks show of explanations: the contributions of tokens, and partial dependence."""

import html
from typing import Any

import numpy as np

from clearset.display._explained_parts import ExplainedParts
from clearset.display._html_fragments import RAISES, bar_svg, block_html, more_html, name_html, table_html
from clearset.display._protocols import ShownDependence, ShownExplanation, ShownJointExplanation
from clearset.display._short_text import said, said_alike, shown, unit_of, what_is_predicted
from clearset.display.plots._axis import Scale

_MOST_SETS, _MOST_PARTS, _MOST_FEATURES, _MOST_CATEGORIES = 10, 20, 30, 16


def explanation_html(explanation: ShownExplanation) -> str:
    """Return the way from the base rate to the prediction of each set, token by token, as HTML.

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
        lines.append(_explained(row, f"Row {number}"))
        lines.append(_read(row.follow_on, "What the follow-on model reads"))
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
    what = html.escape(what_is_predicted(dependence.label, probability=dependence.probability))
    said_of = "" if dependence.label is None else f": <bdi>{what}</bdi>"
    over = f"mean over {dependence.said_of}; the base rate is {said(dependence.base)}"
    lines = [f"<h4>{name_html(dependence.feature)}{said_of}</h4><p><small>{over}</small></p>"]
    if dependence.values.dtype != object:
        return block_html([*lines, _curve(dependence.values, dependence.prediction, dependence.base)])
    order = np.argsort(-dependence.prediction, kind="stable")[:_MOST_CATEGORIES].tolist()
    rows = [[name_html(dependence.values[place]), said(float(dependence.prediction[place]))] for place in order]
    lines.append(table_html(["category", "prediction"], rows, right={1}))
    lines.append(more_html(len(dependence.values) - len(rows), "categories"))
    return block_html(lines)


def _finished(explanation: ShownExplanation | ShownJointExplanation, lines: list[str], what: str) -> str:
    more = more_html(len(explanation) - _MOST_SETS, what)
    return block_html([f"<p><small>{html.escape(repr(explanation))}</small></p>", *lines, more])


def _explained(one: ShownExplanation, heading: str, what_it_gives: str = "prediction") -> str:
    """Return the way from the base rate to the prediction of one set, as a table."""
    parts = ExplainedParts.of(one, 80)
    places, rest, rest_adds = parts.named(_MOST_PARTS)
    scores, without = parts.scores[places], parts.without[places]
    largest = float(np.nanmax(np.abs(scores), initial=0.0)) or 1.0
    prediction, base = float(one.prediction[0]), float(one.base[0])
    added = said_alike([*parts.contributions[places].tolist(), rest_adds, base, prediction], signs=True)
    removable = bool((~np.isnan(without)).any())
    rows = [["base rate", "", "", added[-2].lstrip("+"), ""]]
    for place, score, number, left in zip(places.tolist(), scores, added, without.tolist(), strict=False):
        known = not np.isnan(score).any()
        rows.append(
            [
                f"<bdi>{html.escape(parts.texts[place])}</bdi>",
                ", ".join(f"{value:+.3f}" for value in score) if known else "",
                bar_svg(score / largest) if known else "",
                number,
                "" if np.isnan(left) else said(left),
            ]
        )
    if rest:
        rows.append([rest, "", "", added[-3], ""])
    what = what_it_gives if one.label is None else f"<bdi>{html.escape(unit_of(one))}</bdi>"
    total = [f'<span class="total">{cell}</span>' for cell in (what, added[-1].lstrip("+"))]
    rows.append([total[0], "", "", total[1], ""])
    head = ["token", "score", "", "contribution", f"{what_it_gives} without it"]
    width = len(head) if removable else len(head) - 1
    table = table_html(head[:width], [row[:width] for row in rows], right={1, 3, 4})
    return f"{_heading(one, heading)}{table}"


def _read(one: ShownExplanation, heading: str) -> str:
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
    table = table_html(head, rows, right={1, 2, 3}) + more_html(len(one.features) - len(rows), "feature")
    return f"{_heading(one, heading)}<p><small>the base rate is {said(float(one.base[0]))}</small></p>{table}"


def _heading(one: ShownExplanation, heading: str) -> str:
    of = "" if one.label is None else f" for {name_html(one.label[0])}"
    return f"<h4>{heading}: {said(float(one.prediction[0]))}{of}</h4>"


def _curve(values: Any, prediction: Any, base: float) -> str:
    """Return a curve and the base rate as SVG, with numbers at the ends of its axes in the text colour of the page."""
    places = Scale.of(values).apart(values)
    low, high = float(prediction.min()), float(prediction.max())
    x = 80 + 320 * (places - places[0]) / (places[-1] - places[0])
    y = 130 - 120 * (prediction - low) / ((high - low) or 1.0)
    points = " L".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))

    def text(a: float, b: float, anchor: str, number: float) -> str:
        return f'<text x="{a}" y="{b}" text-anchor="{anchor}">{html.escape(said(number))}</text>'

    level = 130 - 120 * (base - low) / ((high - low) or 1.0)
    line = f'<path d="M80,{level:.1f}H404" stroke="#888" stroke-dasharray="4 3"/>' if low <= base <= high else ""
    words = text(72, 14, "end", high) + (text(72, 134, "end", low) if high > low else "")
    words += text(80, 152, "start", float(values[0])) + text(400, 152, "end", float(values[-1]))
    return (
        '<svg width="410" height="158" role="img" aria-label="curve" font-size="11" fill="currentColor">'
        '<path d="M80,4V136H404" fill="none" stroke="#888"/>'
        f'{line}<path d="M{points}" fill="none" stroke="{RAISES}" stroke-width="2"/>{words}</svg>'
    )
