"""Model cards: the same for the same data however they come, kept in files, and without values of the data."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import clearset as cs
from clearset.cli import main
from clearset.functions import Certificate
from clearset.models import Origin
from clearset.models.documents import report_document

SETS = pa.table({"stars": [[5.0, 4.0], [1.0], [3.0, 2.0], [4.5]] * 30, "sales": np.arange(120.0)})
FEATURES = [cs.Feature("stars", monotonic="increasing")]
WORDS = [["zebra", "lime"], ["zebra", "feta"], ["lime"], ["feta"]] * 10
LABELS = ["thai", "greek"] * 20


@pytest.fixture(scope="module")
def model() -> cs.SetModel:
    return cs.SetRegressor(FEATURES, epochs=3, random_state=0).fit(SETS, SETS["sales"].to_numpy()).as_model()


def test_what_it_says(model: cs.SetModel) -> None:
    card = model.card(SETS, SETS["sales"].to_numpy())
    data, features = dict(card.sections["Data"]), dict(card.sections["Features"])
    assert (data["sets"], data["tokens"], data["stars"]) == ("120", "180", "numeric, one for each token")
    assert features == {"stars": "numeric, increasing"}
    assert dict(card.sections["Constraints"])["certificate"] == "holds"
    metrics = dict(card.sections["Metrics"])
    assert metrics["loss on training data"] == f"{model.record.history[model.record.best_epoch - 1]['loss']:.6g}"
    errors = model.predict(SETS) - SETS["sales"].to_numpy()
    assert float(metrics["typical error (RMSE) on given data"]) == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-4)
    assert dict(card.sections["Versions"])["numpy"] == np.__version__
    assert dict(model.card().sections["Metrics"])["on other data"].startswith("not measured")
    with pytest.raises(ValueError, match="belong together"):
        model.card(SETS)


def test_each_promise_is_one_row_with_the_worst_that_was_found(model: cs.SetModel) -> None:
    row = "stars increasing (of the output)"
    found = dict(model.card().sections["Constraints"])
    assert set(found) == {
        "certificate",
        row,
        "values within their ranges (of the output)",
        "everything after the mean increasing (of the output)",
    }
    assert found[row] == "holds, largest violation 0 in the parameters, 0 by probing"
    checks = model.certificate.checks
    place = next(place for place, check in enumerate(checks) if check.constraint == "stars increasing")
    broken = replace(model, certificate=Certificate((*checks, replace(checks[place], violation=0.25))))
    told = dict(broken.card().sections["Constraints"])
    assert told[row] == "does not hold, largest violation 0.25 in the parameters, 0 by probing"
    assert told["certificate"] == "does not hold"


def test_it_says_where_the_order_of_tokens_matters(model: cs.SetModel) -> None:
    placed = cs.SetRegressor([*FEATURES, cs.PLACE], epochs=1, random_state=0).fit(SETS, SETS["sales"].to_numpy())
    assert "order of tokens matters" in dict(placed.card().sections["Limits"])["order"]
    assert "order" not in dict(model.card().sections["Limits"])


def test_files_and_frames_have_one_fingerprint(model: cs.SetModel, tmp_path: Path) -> None:
    pa.parquet.write_table(SETS, tmp_path / "sets.parquet", row_group_size=7)
    estimator = cs.SetRegressor(FEATURES, epochs=1, random_state=0)
    of_files = estimator.fit(str(tmp_path / "sets.parquet"), "sales").as_model()
    of_pandas = estimator.fit(SETS.select(["stars"]).to_pandas(), SETS["sales"].to_numpy()).as_model()
    assert of_files.origin.data == model.origin.data == of_pandas.origin.data
    other = estimator.fit(SETS, SETS["sales"].to_numpy() + 1).as_model()
    assert other.origin.data.sha256 != model.origin.data.sha256


def test_it_is_kept_in_the_file(model: cs.SetModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m", notes="For planning only. CC BY 4.0.")
    again = cs.load(tmp_path / "m")
    assert again.origin == Origin(model.origin.data, None, model.origin.versions, "For planning only. CC BY 4.0.")
    again.save(tmp_path / "n")
    assert cs.load(tmp_path / "n").card().to_dict() == again.card().to_dict()
    with pytest.raises(TypeError, match="notes is a int"):
        model.save(tmp_path / "m", notes=5)


def test_older_files_say_what_is_not_known() -> None:
    golden = Path(__file__).parents[2] / "golden"
    card = cs.load(golden / "number.clearset").card()
    assert "not known" in card.to_markdown()
    assert card.sections["Features"]


def test_strings(tmp_path: Path) -> None:
    classifier = cs.SemanticClassifier(cs.Items(), features=["log_odds", "count"], epochs=2, random_state=0)
    model = classifier.fit(WORDS, LABELS).as_model()
    told = model.card(WORDS, LABELS).to_markdown()
    assert model.origin.data.n_tokens == 60
    assert classifier.fit(pa.table({"words": WORDS}), LABELS).as_model().origin.data.sha256 == model.origin.data.sha256
    editor = model.edit()
    editor.drop_token(["zebra"])
    texts = [told, editor.model.card().to_markdown(), editor.model.card()._repr_html_()]
    assert not any("zebra" in text or "greek" in text for text in texts)
    assert ("drop_token", "1") in editor.model.card().sections["Edits by hand"]
    frozen = model.freeze()
    frozen.save(tmp_path / "f")
    assert cs.FrozenModel.load(tmp_path / "f").origin == frozen.origin == model.origin
    assert model.origin.data.sha256 in frozen.card().to_markdown()
    refreshed = classifier.refresh_table(WORDS[:20], LABELS[:20]).as_model()
    assert refreshed.origin.data.sha256 == model.origin.data.sha256
    assert refreshed.origin.table_data.n_sets == 20


def test_joint_models(tmp_path: Path) -> None:
    frame = pa.table({"words": WORDS, "price": np.arange(40.0)})
    joint = cs.JointModel({"words": cs.SemanticFeatureEngine(cs.Items(), epochs=1)}, cs.SetRegressor(epochs=1))
    joint.fit(frame, np.arange(40.0)).save(tmp_path / "j")
    card = cs.load(tmp_path / "j").card()
    assert {"words: Data", "follow-on: Data", "words: Limits"} <= card.sections.keys()


def test_markdown_and_html_hold_texts_as_texts(model: cs.SetModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m", notes="a | b\n<script>")
    card = cs.load(tmp_path / "m").card()
    assert r"a \| b <script>" in card.to_markdown()
    assert "<script>" not in card._repr_html_()


def test_the_command(model: cs.SetModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model.save(tmp_path / "m")
    assert main(["card", str(tmp_path / "m")]) == 0
    assert capsys.readouterr().out == model.card().to_markdown()
    assert main(["card", str(tmp_path / "m"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == model.card().to_dict()


def test_the_report_has_it(model: cs.SetModel, tmp_path: Path) -> None:
    model.report(tmp_path / "r.html")
    assert model.origin.data.sha256 in (tmp_path / "r.html").read_text()


def test_reports_tell_in_the_card_what_they_measured(model: cs.SetModel) -> None:
    sales = SETS["sales"].to_numpy()
    document = report_document(model, SETS, sales)
    assert document["card"] == json.loads(json.dumps(model.card(SETS, sales).to_dict()["sections"]))
    assert ["given sets", "120"] in document["card"]["Metrics"]
