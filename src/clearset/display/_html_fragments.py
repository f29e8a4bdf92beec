"""Pieces of the HTML that notebooks show: names always as text, and colours that suit light and dark pages."""

import html
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from clearset.artifact import write_file
from clearset.display._protocols import ShownCurve
from clearset.display._short_text import counted, shown
from clearset.display.plots._axis import Scale

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
.clearset .total{font-weight:bold}
.clearset .bad{color:#d55e00;font-weight:bold}
</style>"""
RAISES, LOWERS = "#3a8fc7", "#98a1ab"


def name_html(name: Any, most: int = 40) -> str:
    """Return a name as text that is not read as HTML and does not change the direction of the text around it."""
    return f"<bdi>{html.escape(shown(name, most))}</bdi>"


def facts_html(facts: Iterable[str]) -> str:
    """Return a line of a few facts, which are HTML already."""
    return f"<p>{' · '.join(facts)}</p>"


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Return a table of cells, which are HTML already; the columns `right` are aligned to the right."""
    places = set(right)

    def cells(kind: str, row: Sequence[str]) -> str:
        return "".join(
            f'<{kind} class="n">{cell}</{kind}>' if place in places else f"<{kind}>{cell}</{kind}>"
            for place, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>"


def details_html(summary: str, body: str) -> str:
    """Return a body that is shown when people click on its summary."""
    return f"<details><summary>{summary}</summary>{body}</details>"


def more_html(n: int, what: str) -> str:
    """Return a line about the n things that are not shown; nothing for none."""
    return f"<p><small>and {counted(n, f'more {what}')}</small></p>" if n > 0 else ""


def block_html(lines: Iterable[str]) -> str:
    """Return one block of HTML with its style."""
    return f'{_STYLE}<div class="clearset">{"".join(lines)}</div>'


def write_page(title: str, block: str, path: str | PathLike[str]) -> None:
    """Write a block of HTML as a page to a file.

    Parameters
    ----------
    title, block : str
        The title and the block, both HTML already.
    path : path-like
        The file.
    """
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f"<title>{title}</title></head><body>{block}</body></html>\n"
    )
    write_file(path, page.encode())


def bar_svg(shares: Any) -> str:
    """Return scores, from -1 to 1, as bars to the left and right of a middle line; NaN has none."""
    height = 12 / len(shares)
    bars = "".join(
        f'<rect x="{40 if share >= 0 else 40 + 40 * share:.1f}" y="{place * height:.1f}" '
        f'width="{40 * abs(share):.1f}" height="{max(height - 1, 1):.1f}" fill="{RAISES if share >= 0 else LOWERS}"/>'
        for place, share in enumerate(shares)
        if share == share
    )
    line = '<line x1="40" x2="40" y1="-1" y2="13" stroke="#888"/>'
    return f'<svg width="80" height="12" aria-hidden="true">{bars}{line}</svg>'


def sparkline_svg(curve: ShownCurve, width: int, largest: float) -> str:
    """Return the effects of a feature in the size of a line of text: curves of numbers, bars of categories.

    The line in the middle is the base rate, and `largest` the effect at the upper or lower edge.
    """
    rows = 11 - 10 * curve.effects[:width] / (largest or 1.0)
    if curve.keypoints is None:
        x = np.linspace(4, 86, max(rows.shape[1], 1))
    else:
        places = Scale.of(curve.keypoints).apart(curve.keypoints)
        x = 1 + 88 * (places - places[0]) / (places[-1] - places[0])
    drawn = ['<path d="M1,11H89" stroke="#888" stroke-opacity="0.5"/>']
    for row, opacity in zip(rows, (1.0, 0.75, 0.55, 0.4), strict=False):
        if curve.keypoints is None:
            path = " ".join(f"M{a:.1f},11V{b:.1f}" for a, b in zip(x, row, strict=False))
            style = f'stroke-width="{min(5.0, 60 / len(x)):.1f}"'
        else:
            path = f"M{' L'.join(f'{a:.1f},{b:.1f}' for a, b in zip(x, row, strict=False))}"
            style = 'stroke-width="1.6"'
        drawn.append(f'<path d="{path}" fill="none" stroke="{RAISES}" {style} stroke-opacity="{opacity}"/>')
    return f'<svg width="90" height="22" role="img" aria-label="effect on the score">{"".join(drawn)}</svg>'
