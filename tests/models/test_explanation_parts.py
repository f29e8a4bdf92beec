"""Explanations of some of the sets: by number, by slice, one after the other."""

import numpy as np
import pyarrow as pa
import pytest

import clearset as cs

SETS = pa.table({"stars": [[5.0, 4.0], [1.0], [], [5.0, 5.0, 5.0], [2.0, 3.0]]})
LABELS = ["a", "b", "c", "a", "b"]
QUICK = {"epochs": 1, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def model():
    return cs.SetClassifier(**QUICK).fit(SETS, LABELS)


@pytest.fixture(scope="module")
def explanation(model):
    return model.explain(SETS, "b", effects=True)


@pytest.mark.parametrize(
    "part", [slice(0, 2), slice(None), slice(-2, None), slice(None, None, -1), slice(1, None, 2), slice(3, 3), slice(9)]
)
def test_slices_are_explanations_of_these_sets(model, explanation, part):
    chosen = explanation[part]
    places = list(range(5))[part]
    assert len(chosen) == len(places)
    np.testing.assert_array_equal(chosen.prediction, explanation.prediction[places])
    np.testing.assert_array_equal(chosen.aggregate, explanation.aggregate[places])
    stars = [star for place in places for star in (SETS["stars"][place].as_py() or [None])]
    assert chosen.tokens["stars"].to_pylist() == stars
    sizes = [max(len(SETS["stars"][place].as_py()), 1) for place in places]
    assert chosen.tokens["set"].to_pylist() == np.repeat(np.arange(len(places)), sizes).tolist()
    if places:
        alone = model.explain(SETS.take(pa.array(places)), "b", effects=True)
        assert chosen.to_json()["sets"] == alone.to_json()["sets"]


@pytest.mark.parametrize("number", [3, -2, np.int64(3), np.int32(-2), np.uint8(3)])
def test_whole_numbers_are_one_set(explanation, number):
    assert explanation[number].tokens["stars"].to_pylist() == [5.0, 5.0, 5.0]
    assert repr(explanation[number]) == "Explanation(1 set, 3 tokens)"


def test_sets_one_after_the_other(explanation):
    parts = list(explanation)
    assert [part.prediction[0] for part in parts] == explanation.prediction.tolist()
    assert repr(parts[1]) == "Explanation(1 set, 1 token)"
    assert repr(parts[2]) == "Explanation(1 set, 0 tokens)"


@pytest.mark.parametrize("number", ["a", None, 1.5, [0, 1], ("a", 0), slice("a", 2), "x" * 10_000])
def test_what_is_neither_is_refused_in_one_way(explanation, number):
    with pytest.raises(TypeError, match=r"Choose a set by a whole number, such as \[0\], or several") as caught:
        explanation[number]
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("number", [5, -6])
def test_sets_that_are_not_there(explanation, number):
    with pytest.raises(IndexError, match=f"no set {number}: there are 5 sets, counted from 0"):
        explanation[number]
    with pytest.raises(IndexError, match="there is 1 set,"):
        explanation[0][1]


def test_no_sets_are_refused(model):
    arrays = cs.SetRegressor(**QUICK).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    for fitted in (model, arrays):
        for X in ([], ()):
            with pytest.raises(ValueError, match=r"X holds 0 sample\(s\), that is, no sets"):
                fitted.explain(X)


def test_partial_dependence_says_what_it_is():
    frame = pa.table({"x" * 10_000: [1.0, 2.0, 3.0]})
    model = cs.SetRegressor(**QUICK).fit(frame, [1.0, 2.0, 3.0])
    shown = repr(model.partial_dependence("x" * 10_000, frame[:1], n=2))
    assert shown.endswith("2 values, 1 set)")
    assert len(shown) < 100


def test_dependence_says_what_it_is_the_mean_over() -> None:
    products = pa.table({"stars": [[5.0, 4.0], [1.0], [2.0]]})
    model = cs.SetRegressor(random_state=0, epochs=2).fit(products, [3.0, 1.0, 2.0])
    given, drawn = model.partial_dependence("stars", products), model.partial_dependence("stars")
    assert (given.made_up, given.said_of) == (False, "3 sets")
    assert (drawn.made_up, drawn.said_of) == (True, f"{len(drawn.sets)} made-up sets of one token")
    for dependence in (given, drawn):
        assert dependence.said_of in repr(dependence)
        assert f"mean over {dependence.said_of}" in dependence._repr_html_()
        assert dependence.plot().axes[0].get_title(loc="left").startswith(f"mean over {dependence.said_of}")
