"""What is said where PySpark is not installed; these tests need neither it nor Java."""

import pytest

import clearset as cs
from clearset.spark import _frames
from clearset.tokens.spark import _engine


def test_functions_name_the_extra(monkeypatch):
    monkeypatch.setattr(_frames, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"clearset\[spark\]"):
        cs.spark.predict(None, None)


def test_counting_names_the_extra(monkeypatch):
    monkeypatch.setattr(_engine, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"clearset\[spark\]"):
        cs.TokenTable.build([["a"]], [1], engine=object())


def test_an_engine_that_is_none():
    with pytest.raises(ValueError, match="'auto', 'local' or a SparkSession"):
        cs.TokenTable.build([["a"]], [1], engine="spark")
