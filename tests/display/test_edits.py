"""Edits in the report, in a real browser."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

from ..random_models import HOSTILE
from .conftest import said


def test_the_report_of_an_edited_model(page: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    stars = [rng.uniform(1, 5, rng.integers(1, 5)).tolist() for _ in range(60)]
    X = pa.table({"stars": stars})
    y = np.array([np.sin(sum(row)) for row in stars])
    model = cs.SetRegressor(["stars"], epochs=20, early_stopping=False, random_state=0, n_jobs=1).fit(X, y)
    edited = model.edit().cap("stars", high=3.3).flatten("stars", 1.7, 2.1).model
    edited.report(tmp_path / "report.html", X.slice(0, 1), y[:1])
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator("#edits li").all_inner_texts() == [
        "Feature 'stars' capped above 3.3",
        "Feature 'stars' flattened between 1.7 and 2.1",
    ]
    assert said(page) == pytest.approx(edited.predict(X.slice(0, 1))[0], abs=1e-9)
    assert said(page) != pytest.approx(model.predict(X.slice(0, 1))[0], abs=1e-9)


@pytest.mark.parametrize("refine", [True, False])
def test_the_page_reads_pinned_and_dropped_tokens(page: Any, tmp_path: Path, refine: bool) -> None:
    recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "chili"], ["feta", "olives"]] * 10
    options: dict[str, Any] = {"refine": refine, "epochs": 5, "random_state": 0, "n_jobs": 1}
    model = cs.SemanticClassifier(cs.Items(), **options).fit(recipes, ["thai", "greek", "thai", "greek"] * 10)
    edited = model.edit().pin_token("salt", 0.9, label="greek").drop_token("chili").model
    example = [["salt", "chili"]]
    edited.report(tmp_path / "report.html", example)
    page.goto((tmp_path / "report.html").as_uri())
    assert said(page) == pytest.approx(edited.predict_proba(example).max(), abs=1e-9)
    assert (edited.predict(example), model.predict(example)) == (["greek"], ["thai"])


def test_names_are_text_and_other_reports_have_no_edits(page: Any, tmp_path: Path) -> None:
    recipes = [[*HOSTILE[:3], "salt"], ["salt"], [HOSTILE[3]]] * 10
    options: dict[str, Any] = {"epochs": 2, "random_state": 0, "n_jobs": 1}
    model = cs.SemanticClassifier(cs.Items(), **options).fit(recipes, ["a", "b", "a"] * 10)
    editor = model.edit()
    for name in HOSTILE[:4]:
        editor.drop_token(name)
    editor.model.report(tmp_path / "edited.html")
    model.report(tmp_path / "report.html")
    page.goto((tmp_path / "edited.html").as_uri())
    assert page.locator("#edits li").count() == 4
    assert HOSTILE[0] in page.locator("#edits").inner_text()
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator("#edits").count() == 0
