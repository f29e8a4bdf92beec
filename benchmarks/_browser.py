"""A server and a browser, for measurements and pictures of pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from playwright.sync_api import Page, sync_playwright


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application while the block runs, at the address given."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.1)
    try:
        yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def opened(address: str, height: int = 1000) -> Iterator[Page]:
    """Show a page while the block runs."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium")
        page = browser.new_page(viewport={"width": 1200, "height": height})
        page.goto(address)
        yield page
        browser.close()
