import inspect

import pytest

import clearset as cs


@pytest.mark.parametrize("estimator", [cs.SetRegressor, cs.SetClassifier])
def test_every_parameter_is_documented(estimator):
    text = inspect.getdoc(estimator)
    parameters = text[text.index("Parameters") : text.index("Attributes")]
    documented = {
        name.strip()
        for line in parameters.splitlines()
        if line and line[0] != " "
        for name in line.split(",")
    }
    assert set(inspect.signature(estimator).parameters) <= documented


@pytest.mark.parametrize("name", cs.__all__)
def test_every_public_name_is_there_and_documented(name):
    value = getattr(cs, name)
    assert name in dir(cs)
    assert isinstance(value, str) or inspect.getdoc(value)
