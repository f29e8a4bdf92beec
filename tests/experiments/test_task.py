import numpy as np
import pyarrow as pa
import pytest
from sklearn.dummy import DummyRegressor

from clearset.datasets import Labelled
from clearset.experiments._all_tasks import TASKS, task_named
from clearset.experiments._task import FULL, QUICK, Effort, Measure, Method, Parts, Task, fit, sample, split


def _numbers(n):
    return Labelled(pa.table({"x": np.arange(float(n))}), np.arange(float(n)))


class _Recorder(DummyRegressor):
    def fit(self, X, y, validation_data=None):
        self.validation_data = validation_data
        return super().fit(X, y)


def _mean_error(model, X, y):
    return {"error": float(np.mean(model.predict(X) - y))}


def _task(**options):
    def load(folder, seed, most):
        return split(_numbers(100), seed, most)

    return Task(
        name="numbers",
        title="Numbers",
        text="",
        measures=(Measure("error", 2),),
        methods=(Method("mean", lambda seed: _Recorder(), "numbers"),),
        inputs={"numbers": load},
        score=_mean_error,
        loaders=(),
        **options,
    )


def test_split_is_disjoint_and_complete():
    parts = split(_numbers(100), 3, None)
    assert [part.n for part in parts] == [70, 10, 20]
    assert sorted(np.concatenate([part.y for part in parts])) == list(range(100))


def test_split_of_at_most_so_many():
    parts = split(_numbers(100), 0, 30)
    whole = split(_numbers(100), 0, None)
    assert [part.n for part in parts] == [30, 10, 10]
    for small, large in zip(parts, whole, strict=True):
        assert set(small.y) <= set(large.y)


def test_sample_of_all_is_all():
    data = _numbers(5)
    assert sample(data, None) is data
    assert sample(data, 5) is data


def test_validation_data_go_to_those_that_take_them():
    training, validation, _ = split(_numbers(100), 0, None)
    model = fit(_Recorder(), training, validation)
    assert model.validation_data[1].tolist() == validation.y.tolist()
    assert fit(_Recorder(), training, None).validation_data is None
    assert fit(DummyRegressor(), training, validation).constant_ == pytest.approx(training.y.mean())


def test_run_measures_validation_and_test_parts():
    task = _task()
    outcome = task.run(task.method("mean"), {"strategy": "constant", "constant": 1.0}, 0, None, FULL)
    parts = split(_numbers(100), 0, None)
    assert outcome["test"]["error"] == pytest.approx(1.0 - parts.test.y.mean())
    assert outcome["validation"]["error"] == pytest.approx(1.0 - parts.validation.y.mean())
    assert outcome["seconds"] > 0


def test_run_without_validation_part():
    def load(folder, seed, most):
        return Parts(_numbers(10), None, _numbers(4))

    task = _task()
    task = Task(**{**{name: getattr(task, name) for name in task.__dataclass_fields__}, "inputs": {"numbers": load}})
    outcome = task.run(task.methods[0], {}, 0, None, Effort("all", 1, 1, None, 100))
    assert outcome["validation"] == {}
    assert outcome["test"]["error"] == pytest.approx(4.5 - 1.5)


@pytest.mark.parametrize("task", [task for tasks in TASKS.values() for task in tasks], ids=lambda task: task.name)
def test_tasks_are_well_formed(task):
    assert task_named(task.name) is task
    names = [method.name for method in task.methods]
    assert len(set(names)) == len(names)
    assert set(task.highlights.values()) <= set(names)
    measures = {measure.name for measure in task.measures}
    for method in task.methods:
        assert set(method.paper) <= measures
        if task.name != "ablations":
            assert method.inputs in task.inputs
            parameters = method.make(0).get_params(deep=True)
            assert set(method.space) <= set(parameters)
    assert QUICK.seeds < FULL.seeds
