import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from clearset.artifact import locked
from clearset.cli import main
from clearset.datasets import Labelled
from clearset.experiments import reproduce
from clearset.experiments._all_tasks import TASKS
from clearset.experiments._churn import CHURN
from clearset.experiments._fingerprints import of_data, of_method
from clearset.experiments._task import FULL, QUICK, split


@pytest.fixture
def data(tmp_path):
    """A folder with puzzles: 40 products to learn from and 20 to test on."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "data" / "puzzles"
    folder.mkdir(parents=True)
    for name, label, n in (("train", "Sales12-18MonthsAgo", 40), ("test", "SalesLastSixMonths", 20)):
        lines = [f"puzzle_name,star_rating,word_count,is_amazon,includes_photo,num_helpful,{label}"]
        for product in range(n):
            sales = rng.integers(1, 200)
            lines += [
                f"p{product},{rng.integers(1, 6)},{rng.integers(1, 90)},1,0,{rng.integers(9)},{sales}"
                for _ in range(rng.integers(1, 6))
            ]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "data"


def test_reproduce_goes_on_where_it_stopped(data, tmp_path):
    output = tmp_path / "results"
    done = []
    reproduce(["puzzles"], data, output, quick=True, jobs=1, on_job=lambda job, seconds: done.append(str(job)))
    assert len(done) == 18
    table = json.loads((output / "puzzles.json").read_text())
    assert all(list(outcome["runs"]) == ["0"] for outcome in table["methods"].values())
    assert "Deep Sets" in (output / "puzzles.md").read_text()
    assert "[Sales of puzzles" in (output / "summary.md").read_text()

    done.clear()
    del table["methods"]["Deep Sets, tuned"]
    table["methods"]["averaged, linear"]["runs"] = {}
    before = table["methods"]["averaged, DNN, tuned"]
    (output / "puzzles.json").write_text(json.dumps(table))
    reproduce(["puzzles"], data, output, quick=True, jobs=1, on_job=lambda job, seconds: done.append(str(job)))
    assert sorted(done) == [
        "puzzles: Deep Sets, tuned, seed 0",
        "puzzles: Deep Sets, tuned, tuning",
        "puzzles: averaged, linear, seed 0",
    ]
    assert json.loads((output / "puzzles.json").read_text())["methods"]["averaged, DNN, tuned"] == before


def test_a_task_that_another_run_works_on_is_refused(data, tmp_path, capsys):
    output = tmp_path / "results"
    script = """
        import sys
        from clearset.experiments import reproduce
        def wait(jobs, kept):
            print("started", flush=True)
            sys.stdin.readline()
        reproduce(["puzzles"], sys.argv[1], sys.argv[2], quick=True, jobs=1, on_start=wait)
        """
    command = [sys.executable, "-c", textwrap.dedent(script), str(data), str(output)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout.readline() == "started\n"
        files = {file: file.read_bytes() for file in output.iterdir()}
        options = ["--data", str(data), "--output", str(output), "--quick", "--fresh"]
        assert main(["reproduce", "puzzles", *options]) == 1
        error = " ".join(capsys.readouterr().err.split())
        assert f"puzzles.json' is in use by another run (process {process.pid} on " in error
        assert error.endswith("Wait until it has ended, or name another folder with --output.")
        assert {file: file.read_bytes() for file in output.iterdir()} == files
        process.kill()

    class Reached(Exception):  # noqa: N818
        pass

    def reached(jobs, kept):
        raise Reached

    with pytest.raises(Reached), locked(output / "wine.json", "go away"):  # another task's is no hindrance
        reproduce(["puzzles"], data, output, quick=True, jobs=1, on_start=reached)


def test_other_data_are_not_taken_for_the_same(data, tmp_path):
    task = TASKS["puzzles"][0]
    method = task.methods[0]
    before = of_method(task, method, of_data(task, data), QUICK)
    assert before == of_method(task, method, of_data(task, data), QUICK)
    assert before != of_method(task, method, of_data(task, data), FULL)
    assert before != of_method(task, task.methods[1], of_data(task, data), QUICK)
    path = data / "puzzles" / "train.csv"
    text = path.read_text()
    path.write_text(text.replace("p3,5", "p3,4").replace("p3,1", "p3,2"))
    assert path.read_text() != text
    assert before != of_method(task, method, of_data(task, data), QUICK)


def test_missing_data_are_said_before_work(tmp_path, capsys):
    assert main(["reproduce", "recipes", "--data", str(tmp_path), "--output", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "train.json" in error
    assert "Kaggle" in error
    assert not (tmp_path / "out").exists()


def test_wrong_calls(tmp_path):
    with pytest.raises(ValueError, match="no task 'tea'; choose among puzzles"):
        reproduce(["tea"])
    with pytest.raises(ValueError, match="jobs must be at least 1; received 0"):
        reproduce(["puzzles"], tmp_path, jobs=0)


def test_churn_compares_three_trainings():
    """A model that says a class at random by its seed, and one that always says the same."""
    import pyarrow as pa

    class Fickle:
        def __init__(self, seed):
            self.seed = seed

        def set_params(self):
            return self

        def fit(self, X, y):
            self.classes_ = np.array(["a", "b"])
            self.rows = X.to_pylist()
            return self

        def predict(self, X):
            rng = np.random.default_rng(0)
            flip = rng.random(len(X)) < (0.25 if self.seed >= 1000 else 0.0)
            return np.where(flip, "b", "a")

    class Method:
        inputs = "recipes"
        make = Fickle

    def load(folder, seed, most):
        return split(Labelled(pa.array(range(2000)), np.array(["a", "b"] * 1000)), seed, most)

    task = type(CHURN)(**{**{n: getattr(CHURN, n) for n in CHURN.__dataclass_fields__}, "inputs": {"recipes": load}})
    measures = task.run(Method, {}, 0, None, QUICK)["test"]
    assert measures["changed by other data"] == 0.0
    assert measures["changed by another seed"] == pytest.approx(0.25, abs=0.06)
    assert measures["accuracy"] == pytest.approx(0.5, abs=0.1)
