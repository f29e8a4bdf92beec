"""What tests and examples of doc strings share: modules that need torch, an extra, are skipped where it is missing."""

import sys
import traceback
from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest

HAS_TORCH = find_spec("torch") is not None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    """Skip modules that cannot be imported without torch."""
    report = yield
    if not HAS_TORCH and report.failed:
        error = report.call.excinfo.value
        if isinstance(error.__cause__ or error, ImportError):
            report.outcome, report.longrepr = "skipped", (report.fspath, 1, "Skipped: torch is not installed")
            # pytest leaves what was made of modules until they failed, which others would import.
            for frame, _ in traceback.walk_tb((error.__cause__ or error).__traceback__):
                if frame.f_code.co_name == "<module>":
                    sys.modules.pop(frame.f_globals["__name__"], None)
    return report
