"""What the report says in words fits the model it shows."""

from typing import Any

import numpy as np
import pytest

import clearset as cs
from clearset.explain import render_report, report_document

from .random_models import HOSTILE, Neighbours

QUICK: dict[str, Any] = {"epochs": 2, "random_state": 0, "n_jobs": 1}
X = np.random.default_rng(0).normal(size=(60, 2))


def opened(page: Any, model: Any, *data: Any, **options: Any) -> Any:
    page.goto("about:blank")
    page.set_content(render_report(report_document(model, *data, **options)))
    return page


@pytest.mark.parametrize(
    ("labels", "loss", "unit"),
    [
        ([False, True], "log_loss", "log-odds of True"),
        ([False, True], "hinge", "margin of True"),
        (["a", "b", "c"], "log_loss", "output"),
        (["a", "b", "c"], "hinge", "margin of c"),
    ],
)
def test_the_output_is_called_what_it_is(page: Any, labels: list[Any], loss: str, unit: str) -> None:
    model = cs.SetClassifier(loss=loss, **QUICK).fit(X, np.resize(labels, 60))
    opened(page, model, X[:3])
    if len(labels) > 2:
        page.locator("button.class", has_text="c").click()
    assert page.locator(".averaged .chart text").last.text_content() == unit
    assert f"the {unit} that follows" in page.locator(".averaged .note").inner_text()
    assert ("log-odds" in page.locator("main").inner_text()) == unit.startswith("log-odds")


def test_a_title_of_ones_own(page: Any) -> None:
    model = cs.SetRegressor(**QUICK).fit(X, X[:, 0])
    opened(page, model)
    assert page.locator("h1").inner_text() == "SetRegressor"
    assert page.locator(".facts li", has_text="SetRegressor").count() == 0
    for title in ("House prices", HOSTILE[1]):
        opened(page, model, title=title)
        assert page.title() == f"{title} · clearset report"
        assert page.locator("h1").inner_text() == title
        assert page.locator(".facts li").first.inner_text() == "SetRegressor"
