"""The site of the documentation: pages made from other files of the project, and links that work here and in the files.

MkDocs calls these functions while it builds (`hooks` in mkdocs.yml).
"""

import inspect
import re
from functools import cache
from pathlib import Path
from posixpath import dirname, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from site_commands import commands_page
from site_http import http_page

import clearset

ROOT = Path(__file__).resolve().parents[1]
GALLERY = ROOT / "build" / "gallery"
# Files outside of docs/ that are pages, and where they stand in the site.
PAGES = {
    "CONTRIBUTING.md": "contributing/index.md",
    "CODE_OF_CONDUCT.md": "contributing/conduct.md",
    "SECURITY.md": "contributing/security.md",
    "CHANGELOG.md": "changelog.md",
}
RESULTS = {"benchmarks/results": "benchmarks", "experiments/results": "experiments"}
NOT_PAGES = {"summary.md"}  # stands in benchmarks/paper.md
ALL_RESULTS = re.compile(r"<!-- all results: .* -->")  # in a page, stands for the table of them
COMMAND = re.compile(r"`((?:python -m benchmarks|clearset reproduce)[^`]*)`")
# Blocks of code, in which nothing is a link; and links and pictures.
FENCED = re.compile(r"^(```.*?^```$)", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def further_names() -> str:
    """Return the page of the public names that no page of the reference shows, as Markdown."""
    pages = (ROOT / "docs" / "reference").glob("*.md")
    shown = {name for page in pages for name in re.findall(r"^::: clearset\.(\w+)$", page.read_text(), re.MULTILINE)}
    left = sorted(name for name in clearset._HOMES if name not in shown and inspect.getdoc(getattr(clearset, name)))
    blocks = "\n".join(f"::: clearset.{name}\n" for name in left if name.upper() != name)
    return f"# Further names\n\n{blocks}" if blocks else ""


MADE = {"reference/commands.md": commands_page, "reference/http.md": http_page, "reference/further.md": further_names}


@cache
def _made() -> dict[str, str]:
    """Return the pages that are made, by their names; those that would be empty are left out."""
    return {name: text for name, make in MADE.items() if (text := make())}


def _outside() -> dict[str, Path]:
    """Return the files outside of docs/ that belong to the site, by their names in it."""
    found = {page: ROOT / name for name, page in PAGES.items() if (ROOT / name).exists()}
    for folder, name in RESULTS.items():
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in (".md", ".png", ".svg") and path.name not in NOT_PAGES:
                found[f"{name}/{path.name}"] = path
    if GALLERY.exists():
        found.update({f"gallery/{path.name}": path for path in sorted(GALLERY.glob("*.html"))})
    return found


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace entries of the navigation that end in * by the pages that no other entry names."""
    docs = Path(config.docs_dir)
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} | {*_made(), *_outside()}
    named: set[str] = set()

    def name(entry: Any) -> None:
        if isinstance(entry, str):
            named.add(entry)
        else:
            for each in entry if isinstance(entry, list) else entry.values():
                name(each)

    def expanded(entries: list[Any]) -> list[Any]:
        found: list[Any] = []
        for entry in entries:
            if isinstance(entry, dict):
                found.append({title: expanded(of) if isinstance(of, list) else of for title, of in entry.items()})
            elif entry.endswith("*"):
                folder = entry.rstrip("*").rstrip("/")
                found += sorted(page for page in pages - named if page.endswith(".md") and dirname(page) == folder)
            else:
                found.append(entry)
        return found

    name(config.nav)
    config.nav = expanded(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from other files, commands, and the HTTP interface."""
    for name, path in _outside().items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    for name, text in _made().items():
        files.append(File.generated(config, name, content=text))
    return files


def results_table() -> str:
    """Return a table of all pages of results with their commands, as Markdown."""
    rows = ["| page | command |", "| --- | --- |"]
    for folder in RESULTS:
        for path in sorted((ROOT / folder).glob("*.md")):
            text, link = path.read_text(), f"../../{path.relative_to(ROOT).as_posix()}"
            command, title = COMMAND.search(text), re.match(r"# (.+)", text)
            if command is None or title is None:
                raise ValueError(f"{path} has no title, or does not say which command wrote it")
            if path.name not in NOT_PAGES:
                rows.append(f"| [{title[1]}]({link}) | `{command[1]}` |")
    return "\n".join(rows)


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Let links to files of the project lead to their pages; what has no page is named, not linked."""
    source = page.file.abs_src_path
    if source is None:
        return markdown
    markdown = ALL_RESULTS.sub(lambda _: results_table(), markdown)
    places = {Path(file.abs_src_path).resolve(): file.src_uri for file in files if file.abs_src_path}
    places[ROOT / "README.md"] = "index.md"
    for folder, index in (("benchmarks", "benchmarks/index.md"), ("experiments", "benchmarks/paper.md")):
        places[ROOT / folder / "results"] = index

    def led(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        path, mark, anchor = target.partition("#")
        if not path or ":" in path:
            return match[0]
        to = (Path(source).parent / path).resolve()
        if to in places:
            return f"{picture}[{text}]({relpath(places[to], dirname(page.file.src_uri) or '.')}{mark}{anchor})"
        # MkDocs reports what is nowhere.
        return text if to.exists() and ROOT in to.parents and not picture else match[0]

    parts = FENCED.split(markdown)
    parts[::2] = [LINK.sub(led, part) for part in parts[::2]]
    return "".join(parts)
