import json

import pytest

import clearset as cs
from clearset.experiments._results import Results
from clearset.experiments._summary import summary_table
from clearset.experiments._task import FULL, QUICK, Measure, Method, Task
from clearset.experiments._tuning import as_options, as_plain

ONE = Method("one", lambda seed: None, "x", {"width": (1, 4)}, {"error": 3.25})
TWO = Method("two", lambda seed: None, "x")
TASK = Task(
    name="made-up",
    title="Made up",
    text="Some text.",
    measures=(Measure("error", 2, lower_is_better=True),),
    methods=(ONE, TWO),
    inputs={},
    score=lambda model, X, y: {},
    loaders=(),
    highlights=dict.fromkeys(("width 1", "wider", "Deep Sets", "averaged or DNN", "today's alternative"), "one"),
)


def _run(error, seconds=1.0):
    return {"test": {"error": error}, "validation": {"error": error + 1}, "seconds": seconds}


def _filled(folder):
    results = Results(TASK, folder, FULL)
    results.add_tuning(ONE, {"options": {"width": 3, "rate": 0.123456}, "trials": 4})
    for seed, error in enumerate((1.0, 2.0, 3.0)):
        results.add_run(ONE, seed, _run(error))
    return results


def test_what_is_missing(tmp_path):
    results = Results(TASK, tmp_path, FULL)
    assert results.tuning_of(ONE) is None
    assert results.missing_seeds(ONE) == [0, 1, 2]
    results.add_tuning(ONE, {"options": {}, "trials": 0})
    results.add_run(ONE, 1, _run(1.0))
    assert results.missing_seeds(ONE) == [0, 2]


def test_results_are_found_again(tmp_path):
    _filled(tmp_path)
    again = Results(TASK, tmp_path, FULL)
    assert again.missing_seeds(ONE) == []
    assert again.tuning_of(ONE)["options"]["width"] == 3
    assert again.mean("one", "error") == 2.0
    assert again.mean("two", "error") is None


def test_results_of_another_effort_are_not_replaced_unasked(tmp_path):
    _filled(tmp_path)
    with pytest.raises(ValueError, match=r"holds results of a full run.*--output.*--fresh"):
        Results(TASK, tmp_path, QUICK)
    assert Results(TASK, tmp_path, QUICK, fresh=True).methods == {}
    assert Results(TASK, tmp_path, FULL, fresh=True).methods == {}


def test_results_of_other_data_or_options_are_forgotten(tmp_path):
    before = {"one": "a", "two": "b"}
    results = Results(TASK, tmp_path, FULL, before)
    for method in (ONE, TWO):
        results.add_tuning(method, {"options": {}, "trials": 0})
        results.add_run(method, 0, _run(1.0))
    assert Results(TASK, tmp_path, FULL, before).n_runs == 2
    assert list(Results(TASK, tmp_path, FULL, {"one": "a", "two": "c"}).methods) == ["one"]


def test_figures_keep_the_machine_they_were_measured_on(tmp_path, monkeypatch):
    monkeypatch.setattr("clearset.experiments._results.machine", lambda: "an abacus")
    _filled(tmp_path)
    monkeypatch.undo()
    again = Results(TASK, tmp_path, FULL)
    again.write()
    assert "an abacus" in again.path.with_suffix(".md").read_text()
    assert "torch" not in again.path.with_suffix(".md").read_text()


def test_other_options_forget_runs(tmp_path):
    results = _filled(tmp_path)
    results.add_tuning(ONE, {"options": {}, "trials": 0})
    assert results.missing_seeds(ONE) == [0, 1, 2]


def test_a_method_that_is_no_more_is_dropped(tmp_path):
    results = _filled(tmp_path)
    content = json.loads(results.path.read_text())
    content["methods"]["gone"] = content["methods"]["one"]
    results.path.write_text(json.dumps(content))
    assert list(Results(TASK, tmp_path, FULL).methods) == ["one"]


def test_a_broken_file_is_said(tmp_path):
    for content in ("{", "[1]", "{}x"):
        (tmp_path / "made-up.json").write_text(content)
        with pytest.raises(ValueError, match=r"made-up\.json.*--fresh"):
            Results(TASK, tmp_path, FULL)


def test_table(tmp_path):
    results = _filled(tmp_path)
    assert results.table() == [
        "| method | error | paper | validation error | seconds |",
        "| --- | --- | --- | --- | --- |",
        "| one | 2.00 ± 1.00 | 3.25 | 3.00 | 1.0 |",
    ]
    text = (tmp_path / "made-up.md").read_text()
    assert "# Made up" in text
    assert "`clearset reproduce made-up`" in text
    assert "- one: width 3, rate 0.123" in text
    assert "torch" in text
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["made-up.json", "made-up.md"]


def test_summary(tmp_path):
    lines = summary_table([_filled(tmp_path)])
    assert lines[2].startswith("| [Made up](made-up.md) | error (lower is better) | 2.00 (3.25) | 2.00 (3.25) |")


def test_options_in_words_and_back():
    space = {
        "tokens": [cs.Items(), cs.Subsets(2)],
        "filters": [[cs.MinCount(2)], [cs.MinCount(5) | cs.MaxInterval(0.2)]],
        "width": (1, 4),
        "cover": [True, False],
    }
    chosen = {"tokens": cs.Subsets(2), "filters": space["filters"][1], "width": 2, "cover": False}
    plain = json.loads(json.dumps({name: as_plain(value) for name, value in chosen.items()}))
    assert as_options(space, plain) == chosen


def test_an_option_that_is_no_longer_searched():
    with pytest.raises(ValueError, match="--fresh"):
        as_options({}, {"tokens": "Subsets(2)"})
    with pytest.raises(ValueError, match="--fresh"):
        as_options({"tokens": [cs.Items()]}, {"tokens": "Subsets(2)"})
