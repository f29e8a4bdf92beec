"""Check the site that was built, and end with status 1 where something is wrong.

Links lead to files and places in it, nothing is fetched from the network, and the pages of estimators describe all
their parameters.
"""

import inspect
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import clearset

SITE = Path(__file__).resolve().parents[1] / "build" / "site"
FETCHES = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "link": "href"}


class Links(HTMLParser):
    """What a page names, links to, and fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the names and addresses of a tag."""
        found = dict(attrs)
        self.names |= {name for name in (found.get("id"), found.get("name")) if name}
        if tag == "a" and (target := found.get("href")):
            self.links.append(target)
        if address := found.get(FETCHES.get(tag, "")):
            self.fetched.append(address)


def faults() -> list[str]:
    """Return what is wrong with the site."""
    pages = {path: Links(path.read_text()) for path in SITE.rglob("*.html")}
    for made in [
        SITE / "404.html",
        *(path for path in pages if path.parent.name == "gallery" and path.name != "index.html"),
    ]:
        pages.pop(made, None)  # the first is shown at any address, so that its links begin at the top of a server
    found = []
    for path, page in pages.items():
        place = path.relative_to(SITE)
        outside = [address for address in page.fetched if urlsplit(address).netloc]
        found += [f"{place}: fetches {address}" for address in outside if not address.startswith("data:")]
        for target in [*page.links, *page.fetched]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if to.is_dir():
                to /= "index.html"
            if not to.exists():
                found.append(f"{place}: {target} is nowhere")
            elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].names:
                found.append(f"{place}: {target} has no such place")
    styles = [path for path in SITE.rglob("*.css") if "url(http" in path.read_text() or "@import" in path.read_text()]
    return found + [f"{path.relative_to(SITE)}: fetches a font or a style" for path in styles]


def undescribed() -> list[str]:
    """Return the parameters of estimators that their pages do not describe."""
    found = []
    for path in sorted((SITE / "reference").glob("*.html")):
        text = path.read_text()
        if (title := re.search(r"<h1[^>]*>(\w+)<", text)) and inspect.isclass(getattr(clearset, title[1], None)):
            wanted = inspect.signature(getattr(clearset, title[1])).parameters
            rows = set(re.findall(r"<td>\s*<code>(\w+)</code>", text))
            found += [f"{path.relative_to(SITE)}: {name} is not described" for name in wanted if name not in rows]
    return found


if __name__ == "__main__":
    wrong = faults() + undescribed()
    print("\n".join(wrong[:50]) or f"The site is in {SITE}, {sum(1 for _ in SITE.rglob('*.html'))} pages.")
    sys.exit(1 if wrong else 0)
