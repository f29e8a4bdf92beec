"""What the pages of the reference show is there, and nothing is left out."""

import re
from importlib import import_module

import pytest
from tests.documents import ROOT

SHOWN = re.findall(
    r"^::: (\S+)$", "\n".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md")), re.MULTILINE
)
PACKAGES = ["clearset.baselines", "clearset.datasets", "clearset.spark"]


def test_nothing_is_shown_twice() -> None:
    assert len(SHOWN) == len(set(SHOWN))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_these_packages_is_shown(package: str) -> None:
    # The site shows what is left of the names of `clearset` itself on a page of its own.
    assert {f"{package}.{name}" for name in import_module(package).__all__} <= set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_is_there(name: str) -> None:
    package, _, last = name.rpartition(".")
    assert getattr(import_module(package), last).__doc__


# These are answers, which the examples of what answers show.
WITHOUT_EXAMPLE = {"clearset.Check", "clearset.datasets.PuzzleData"}


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown_has_an_example(name: str) -> None:
    package, _, last = name.rpartition(".")
    assert (">>> " in getattr(import_module(package), last).__doc__) == (name not in WITHOUT_EXAMPLE)
