import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start Debian's chromium; it ends with the module, for a process can hold but one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine (apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


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
        lambda request: request.url.startswith(("file:", "data:", "about:")) or seen.append(request.url),
    )
    yield page
    context.close()
    assert seen == []


def said(page: Any) -> float:
    """Give the prediction that a page shows."""
    return float(page.locator("#prediction").get_attribute("data-value"))
