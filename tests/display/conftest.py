from collections.abc import Iterator
from typing import Any

import pytest

from clearset.display._report_page import TEMPLATES

EXPLORER = TEMPLATES.parents[1] / "serve" / "templates" / "explorer.js"
MODULES = "https://modules.test/"


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Open a page on which anything unusual is an error: a script's failure, a dialog, a request."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page, seen = context.new_page(), []
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: seen.append(f"error: {error}"))
    page.on("console", lambda message: seen.append(f"console: {message.text}"))
    page.on("dialog", lambda dialog: (seen.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: request.url.startswith(("file:", "data:", "about:", MODULES)) or seen.append(request.url),
    )
    yield page
    context.close()
    assert seen == []


@pytest.fixture
def modules(page: Any) -> Any:
    """Open an empty page that can import the report's modules by their names, each as it is."""

    def fulfil(route: Any) -> None:
        name = route.request.url.removeprefix(MODULES)
        if name:
            route.fulfill(path=TEMPLATES / name, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route(f"{MODULES}**", fulfil)
    page.goto(MODULES)
    return page


def said(page: Any) -> float:
    """Return the prediction that a page shows."""
    return float(page.locator("#prediction").get_attribute("data-value"))
