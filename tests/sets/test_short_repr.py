"""Declarations are written as one would make them."""

import pytest

import clearset as cs
from clearset.tokens import Choices, Setting


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("MinCount(5)", cs.MinCount(5)),
        ("MaxInterval(0.2)", cs.MaxInterval(0.2)),
        ("MaxInterval(0.2, level=0.9)", cs.MaxInterval(0.2, 0.9)),
        ("MinCount(5) | (MinCount(2) & MaxSize(1))", cs.MinCount(5) | (cs.MinCount(2) & cs.MaxSize(1))),
        ("(MinCount(5) | MaxSize(2)) & MaxInterval(0.5)", (cs.MinCount(5) | cs.MaxSize(2)) & cs.MaxInterval(0.5)),
        ("AnyOf(MinCount(5))", cs.AnyOf(cs.MinCount(5))),
        ("Items()", cs.Items()),
        ("Subsets()", cs.Subsets()),
        ("Subsets(max_size=2)", cs.Subsets(2)),
        ("NGrams()", cs.NGrams()),
        ("NGrams(max_order=2, split=str.split)", cs.NGrams(2, split=str.split)),
        ("Cross()", cs.Cross()),
        ("Difference(left='a', right='b')", cs.Difference("a", "b")),
        ("Trust('stars', by='votes')", cs.Trust("stars", by="votes")),
        ("Feature('stars', monotonic='increasing')", cs.Feature("stars", monotonic="increasing")),
        ("Setting(Items())", Setting(cs.Items())),
        (
            "Setting(Subsets(max_size=2), filters=(MinCount(5),), width=2)",
            Setting(cs.Subsets(2), (cs.MinCount(5),), width=2),
        ),
    ],
)
def test_what_is_written_would_make_the_same(text, value):
    assert repr(value) == text


def test_own_functions_are_joined_by_name():
    def long_ones(statistics):
        return statistics.sizes > 2

    assert repr(cs.MinCount(5) | long_ones).startswith("AnyOf(MinCount(5), <function")


def test_estimators_show_what_differs_from_defaults():
    model = cs.SemanticClassifier(cs.Subsets(2), [cs.MinCount(5)], epochs=20)
    assert (
        "".join(repr(model).split()) == "SemanticClassifier(epochs=20,filters=[MinCount(5)],tokens=Subsets(max_size=2))"
    )


def test_settings_that_were_tried_are_a_table():
    tried = [{"setting": "a, width 1", "validation_loss": 0.25}, {"setting": "b", "validation_loss": float("inf")}]
    assert Choices(tried) == tried
    assert repr(Choices(tried)).splitlines() == [
        "validation loss | setting",
        "         0.2500 | a, width 1",
        "            inf | b",
    ]
    model = cs.SemanticClassifier(epochs=2, random_state=0).fit([["a", "b"], ["c"]] * 60, [0, 1] * 60)
    assert len(repr(model.choices_).splitlines()) == 1 + len(model.as_model().choices)
