"""What notebooks show of models, certificates and explanations: small tables in HTML, names always as text."""

import html
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from clearset.explain._spelling import said, shown, token_texts
from clearset.explain.plots._axis import Scale
from clearset.explain.plots._waterfall import contributions_of

# Colours are between light and dark, and text keeps the page's own, so that both themes are readable.
_STYLE = """<style>
.clearset{font:13px/1.45 system-ui,sans-serif;max-width:60em}
.clearset table{font:inherit;color:inherit;border-collapse:collapse;margin:.4em 0}
.clearset th,.clearset td{text-align:left;padding:.2em .8em .2em 0;border-bottom:1px solid #8884;vertical-align:middle}
.clearset td.n,.clearset th.n{text-align:right;font-variant-numeric:tabular-nums}
.clearset small,.clearset summary{opacity:.7}
.clearset pre{white-space:pre-wrap}
.clearset h4{margin:.6em 0 .2em;font-size:1.08em}
.clearset svg{display:block;overflow:visible}
.clearset .bad{color:#d55e00;font-weight:bold}
</style>"""
_UP, _DOWN = "#3a8fc7", "#d9722e"
_MOST_FEATURES, _MOST_SETS, _MOST_TOKENS, _MOST_CHECKS = 30, 10, 20, 50


def model_html(model: Any) -> str:
    """Show a fitted model: its features with their curves, what it promises, and how training went."""
    function = model.set_function_
    lines = [f"<h4>{type(model).__name__}</h4><p>{_facts(model)}</p>"]
    curves = model.calibrators()
    rows = [
        [
            name_html(feature.name),
            html.escape(_declared(feature)),
            html.escape(_range(curves[feature.name])),
            _sparkline(curves[feature.name], function.width),
        ]
        for feature in model.binning_.features[:_MOST_FEATURES]
    ]
    lines.append(_table(["feature", "declared", "values", "calibrator"], rows))
    lines.append(_more(len(model.binning_.features) - len(rows), "features"))
    lines.append(_details("Certificate", certificate_body(model.certificate_)))
    lines.append(_details("Parameters", f"<pre>{html.escape(shown_block(repr(model)))}</pre>"))
    return _block(lines)


def certificate_html(certificate: Any) -> str:
    """Show a certificate."""
    return _block([certificate_body(certificate)])


def explanation_html(explanation: Any, path: str | PathLike[str] | None = None) -> str:
    """Show what the tokens of each set add, and write it to a file if a path is given."""
    lines = [_explained(explanation[number], number) for number in range(min(len(explanation), _MOST_SETS))]
    lines.append(_more(len(explanation) - _MOST_SETS, "sets"))
    block = _block([f"<p><small>{html.escape(repr(explanation))}</small></p>", *lines])
    if path is not None:
        page = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
            f"<title>Explanation</title></head><body>{block}</body></html>\n"
        )
        Path(path).write_text(page, encoding="utf-8")
    return block


def certificate_body(certificate: Any) -> str:
    """Give the checks as a table, one row for each constraint and what it holds for."""
    if not certificate.checks:
        return "<p>No constraints are declared.</p>"
    failed = sum(not check.holds for check in certificate.checks)
    total = f"{len(certificate.checks):,}"
    head = (
        f"All {total} checks hold."
        if not failed
        else f'<span class="bad">{failed:,} of {total} checks fail.</span>'
    )
    shown_checks = certificate.checks[:_MOST_CHECKS]
    rows = [
        [
            "yes" if check.holds else '<span class="bad">no</span>',
            name_html(check.constraint, 60),
            html.escape(check.scope),
            html.escape(shown(check.evidence, 60)),
            f"{check.violation:.3g}",
        ]
        for check in shown_checks
    ]
    table = _table(["holds", "constraint", "of", "seen in", "largest violation"], rows, right={4})
    return f"<p>{head}</p>{table}{_more(len(certificate.checks) - len(rows), 'checks')}"


def name_html(name: Any, most: int = 40) -> str:
    """Give a name as text that neither is read as HTML nor turns what stands around it."""
    return f"<bdi>{html.escape(shown(name, most))}</bdi>"


def shown_block(text: str, most: int = 2000) -> str:
    """Shorten a text of several lines."""
    return text if len(text) <= most else text[:most] + "…"


def _facts(model: Any) -> str:
    """Say in a line what was fitted."""
    facts = []
    if hasattr(model, "token_table_"):
        facts.append(f"{len(model.token_table_):,} tokens")
    facts.append(f"{len(model.binning_.features)} features, width {model.set_function_.width}")
    if hasattr(model, "classes_"):
        classes = model.classes_.tolist()
        names = ", ".join(name_html(label, 20) for label in classes[:5])
        facts.append(f"{len(classes):,} classes: {names}" + (", …" if len(classes) > 5 else ""))
    if model.history_:
        last = model.history_[-1]
        key = "validation_loss" if "validation_loss" in last else "loss"
        best = min(row[key] for row in model.history_ if key in row)
        facts.append(f"{len(model.history_):,} epochs, best {key.replace('_', ' ')} {best:.4g}")
    return " · ".join(facts)


def _declared(feature: Any) -> str:
    parts = [] if feature.monotonic is None else [_direction(feature.monotonic)]
    parts += [feature.shape] if feature.shape else []
    return ", ".join(parts) or "-"


def _direction(monotonic: Any) -> str:
    return monotonic if isinstance(monotonic, str) else f"{len(monotonic)} ordered pairs"


def _range(curve: Any) -> str:
    if curve.keypoints is not None:
        return f"{said(curve.keypoints[0])} to {said(curve.keypoints[-1])}"
    names = ", ".join(shown(category, 14) for category in curve.categories[:4])
    return names + (f", … ({len(curve.categories):,})" if len(curve.categories) > 4 else "")


def _sparkline(curve: Any, width: int) -> str:
    """Draw a calibrator in the size of a line of text: curves of numbers, points of categories."""
    if curve.keypoints is None:
        x = np.linspace(4, 86, max(curve.values.shape[1], 1))
    else:
        places = Scale.of(curve.keypoints).apart(curve.keypoints)
        x = 1 + 88 * (places - places[0]) / (places[-1] - places[0])
    drawn = []
    for row, opacity in zip(curve.values[:width], (1.0, 0.75, 0.55, 0.4), strict=False):
        points = [f"{a:.1f},{b:.1f}" for a, b in zip(x, 21 - 20 * np.clip(row, 0, 1), strict=False)]
        if curve.keypoints is None:
            path = " ".join(f"M{point}h0" for point in points)
            style = 'stroke-width="5" stroke-linecap="round"'
        else:
            path, style = f"M{' L'.join(points)}", 'stroke-width="1.6"'
        drawn.append(f'<path d="{path}" fill="none" stroke="{_UP}" {style} stroke-opacity="{opacity}"/>')
    return f'<svg width="90" height="22" role="img" aria-label="calibrator">{"".join(drawn)}</svg>'


def _explained(one: Any, number: int) -> str:
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
            _bar(parts[place] / largest),
            f"{shares[place]:.0%}",
            "-" if without[place] is None else said(without[place]),
        ]
        for place in order.tolist()
    ]
    what = "" if one.label is None else f" for {name_html(one.label[0])}"
    mean = ", ".join(f"{value:.4f}" for value in one.aggregate[0])
    head = f"<h4>Set {number}: {said(float(one.prediction[0]))}{what}</h4>"
    body = _table(["token", "contribution", "", "share", "prediction without it"], rows, right={1, 3, 4})
    return f"{head}{body}{_more(len(parts) - len(rows), 'tokens')}<small>mean score {mean}</small>"


def _bar(shares: Any) -> str:
    """Draw contributions as bars to the left and right of a middle line."""
    height = 12 / len(shares)
    bars = "".join(
        f'<rect x="{40 if share >= 0 else 40 + 40 * share:.1f}" y="{place * height:.1f}" '
        f'width="{40 * abs(share):.1f}" height="{max(height - 1, 1):.1f}" fill="{_UP if share >= 0 else _DOWN}"/>'
        for place, share in enumerate(shares)
    )
    line = '<line x1="40" x2="40" y1="-1" y2="13" stroke="#888"/>'
    return f'<svg width="80" height="12" aria-hidden="true">{bars}{line}</svg>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Put cells, which are HTML already, into a table."""
    places = set(right)

    def cells(kind: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{kind} class="n">{cell}</{kind}>' if place in places else f"<{kind}>{cell}</{kind}>"
            for place, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def _details(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>{body}</details>"


def _more(n: int, what: str) -> str:
    return f"<p><small>and {n:,} more {what}</small></p>" if n > 0 else ""


def _block(lines: Iterable[str]) -> str:
    return f'{_STYLE}<div class="clearset">{"".join(lines)}</div>'
