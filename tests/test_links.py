"""Links between the pages of the documentation, and from the README, lead somewhere: file and heading."""

import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from tests.documents import ROOT, name_of, pages

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", flags=re.MULTILINE | re.DOTALL)
# What the site makes (.ci/site.py).
MADE = {ROOT / "docs" / "reference" / "commands.md", ROOT / "docs" / "reference" / "http.md"}
OTHERS = [path for path in sorted(ROOT.glob("*.md")) if path.name != "README.md"]


@cache
def _anchors(page: Path) -> set[str]:
    """Return the names of the headings of a page, as both GitHub and the site make them."""
    text = FENCED.sub("", page.read_text())
    found = set(re.findall(r"\{ ?#([\w-]+) ?\}|<a id=\"([\w-]+)\">", text))
    anchors = {name for pair in found for name in pair}
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        plain = unicodedata.normalize("NFKD", re.sub(r"[`*]", "", heading)).encode("ascii", "ignore").decode()
        anchors.add(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return anchors


@pytest.mark.parametrize("page", [*pages(), *OTHERS], ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCED.sub("", page.read_text())):
        path, _, anchor = target.partition("#")
        if ":" in path:
            continue
        to = (page.parent / path).resolve() if path else page
        if to in MADE or (to.suffix == ".html" and to.parent == ROOT / "docs" / "gallery"):
            continue
        assert to.exists(), f"{target} is nowhere"
        if anchor:
            assert anchor in _anchors(to), f"{target}: {to.name} has no such heading"
