import json
import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import clearset as cs

from .bowl import FITTED, HOOKS, SPACE, Bowl, X, Y


def tuned(path, budget, estimator=None, *, X=X, y=Y, **options):
    options = {"space": SPACE, "random_state": 0, "verbose": 0, **options}
    return cs.tune(estimator or Bowl(), X, y, budget=budget, storage=path, **options)


def records(tuning):
    return [(trial["number"], *trial["params"].values(), trial["score"]) for trial in tuning.trials]


@pytest.mark.parametrize("first", [1, 5, 13])
def test_resumed_is_as_in_one_go(tmp_path, first):
    whole = tuned(None, 16)
    FITTED.clear()
    assert len(tuned(tmp_path / "a.jsonl", first).trials) == first
    resumed = tuned(str(tmp_path / "a.jsonl"), 16)
    assert records(resumed) == records(whole)
    assert resumed.best_params_ == whole.best_params_
    again = len(FITTED) - 16
    assert again == (whole.best_trial_ < first)  # the best of an earlier call is fitted once more


def test_a_spent_budget_only_fits_the_best_again(tmp_path):
    before = tuned(tmp_path / "a", 9)
    FITTED.clear()
    after = tuned(tmp_path / "a", 9)
    assert records(after) == records(before)
    assert [tuple(before.best_params_.values())] == FITTED
    assert after.best_score_ == before.best_score_
    assert after.best_estimator_.n_features_in_ == 1


def test_an_interrupted_trial_is_made_again(tmp_path):
    whole = tuned(None, 15)
    FITTED.clear()
    HOOKS[13] = KeyboardInterrupt()
    with pytest.warns(UserWarning, match=r"after 12 of 15 trials.*The same call goes on from there"):
        tuned(tmp_path / "a", 15)
    HOOKS.clear()
    assert records(tuned(tmp_path / "a", 15)) == records(whole)


def test_failures_are_kept(tmp_path):
    HOOKS[3] = ValueError("no")
    first = tuned(tmp_path / "a", 4)
    assert records(tuned(tmp_path / "a", 4)) == records(first)
    assert tuned(tmp_path / "a", 4).trials[2]["error"] == "no"


def test_what_cannot_be_fitted_as_given_leaves_no_trial(tmp_path):
    HOOKS[1] = ValueError("no")
    with pytest.raises(ValueError, match="as given cannot be fitted: no"):
        tuned(tmp_path / "a", 2)
    HOOKS.clear()
    # Corrected examples, or another estimator, are no other search.
    assert len(tuned(tmp_path / "a", 3, Bowl(x=1.0), y=np.ones(20)).trials) == 3


def test_without_a_seed_that_of_the_file_counts(tmp_path):
    first = tuned(tmp_path / "a", 4, random_state=None)
    assert records(tuned(tmp_path / "a", 8, random_state=None))[:4] == records(first)
    with pytest.raises(ValueError, match="seed was"):
        tuned(tmp_path / "a", 8, random_state=0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"estimator": Ridge(), "space": {"alpha": [1.0]}}, "estimator was Bowl, and is now Ridge"),
        ({"estimator": Bowl(x=1.0)}, "parameter x was 0.0, and is now 1.0"),
        ({"space": {**SPACE, "kind": ["bad", "good"]}}, "space of kind was"),
        ({"space": {"kind": SPACE["kind"]}}, "space of n was .*, and is now nothing"),
        ({"scoring": "r2"}, "metric was mean squared error, and is now r2"),
        ({"random_state": 5}, "seed was 0, and is now 5"),
        ({"y": np.ones(20)}, "training was 16 examples"),
        ({"X": X + 1.0}, r"training was 16 examples \(X "),
        ({"sample_weight": np.ones(20)}, "training was .*, and is now .*weights"),
        ({"validation_data": (X, Y)}, "training was 16 examples .*, and is now 20 examples"),
    ],
)
def test_trials_of_another_search_are_refused(tmp_path, changed, message):
    tuned(tmp_path / "a", 2)
    content = (tmp_path / "a").read_bytes()
    with pytest.raises(ValueError, match=rf"'.*a' holds trials of another search: .*{message}"):
        tuned(tmp_path / "a", 4, **changed)
    assert (tmp_path / "a").read_bytes() == content


def test_other_weights_are_another_search(tmp_path):
    def search(weights):
        cs.tune(
            Ridge(), X, Y, budget=1, space={"alpha": [1.0]}, sample_weight=weights, random_state=0, verbose=0,
            storage=tmp_path / "a",
        )  # fmt: skip

    search(np.ones(20))
    search(np.ones(20))
    with pytest.raises(ValueError, match=r"training was .*weights"):
        search(np.arange(20.0))


def test_a_lambda_has_no_name_to_compare(tmp_path):
    with pytest.raises(ValueError, match="scoring is a lambda"):
        tuned(tmp_path / "a", 2, scoring=lambda model, X, y: 1.0)
    assert not (tmp_path / "a").exists()


def test_what_changes_no_result_may_change(tmp_path):
    tuned(tmp_path / "a", 2)
    assert len(tuned(tmp_path / "a", 3, Bowl(verbose=1)).trials) == 3


def test_objects_are_not_pickled(tmp_path):
    baskets, labels = [["bread", "milk"], ["beer", "milk"], ["milk"], ["beer"]] * 20, [0, 1, 0, 1] * 20
    space = {"tokens": [cs.Items(), cs.Subsets(2)], "filters": [[cs.MinCount(2)], [cs.MinCount(5)]]}
    model = cs.SemanticClassifier(refine=False, epochs=2, n_jobs=1)

    def search():
        return cs.tune(model, baskets, labels, budget=3, space=space, storage=tmp_path / "a", random_state=0, verbose=0)

    first, second = search(), search()
    lines = [json.loads(line) for line in (tmp_path / "a").read_text().splitlines()]
    assert any("Subsets(2)" in json.dumps(line) for line in lines)
    assert [trial["params"] for trial in first.trials] == [trial["params"] for trial in second.trials]
    assert first.trials[0]["params"] == {"tokens": "auto", "filters": "auto"}
    np.testing.assert_array_equal(
        first.best_estimator_.predict_proba(baskets), second.best_estimator_.predict_proba(baskets)
    )


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "notes.jsonl"
    for content in (
        "a note\nanother\n",
        '{"a": 1}\n[2]\n',
        "[1]\n",
        "id,points\n1,90\n2,85",
        "one line",
        '{"study_name": "other", "op_code": 0}\n{"op',
        '{"study_name": "clearset"}',
    ):
        path.write_text(content)
        with pytest.raises(ValueError, match=r"'.*notes.jsonl' is no file of a search"):
            tuned(path, 2)
        assert path.read_text() == content
    path.write_bytes(b"PK\x03\x04\xff\n\xfe\n\x80 no text")
    with pytest.raises(ValueError, match="is no file of a search"):
        tuned(path, 2)
    assert path.read_bytes() == b"PK\x03\x04\xff\n\xfe\n\x80 no text"
    path.write_bytes(b"")
    assert len(tuned(path, 2).trials) == 2
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        tuned(tmp_path / "no" / "a", 2)


def test_a_line_that_was_not_finished_is_dropped(tmp_path):
    tuned(tmp_path / "a", 3)
    with (tmp_path / "a").open("a") as file:
        file.write('{"op_code": 4, "worker')
    assert records(tuned(tmp_path / "a", 6)) == records(tuned(None, 6))
    assert records(tuned(tmp_path / "a", 6)) == records(tuned(None, 6))


def test_a_file_may_end_anywhere_in_its_last_lines(tmp_path):
    whole = tuned(tmp_path / "a", 4)
    content = (tmp_path / "a").read_bytes()
    for end in range(content.index(b"\n") + 1, len(content), 97):
        (tmp_path / "a").write_bytes(content[:end])
        assert records(tuned(tmp_path / "a", 4)) == records(whole)


def test_trials_that_runs_without_a_lock_have_mixed_up(tmp_path):
    outside = Bowl(x=11.0)  # so that the first trial lacks a parameter
    tuned(tmp_path / "a", 3, outside)
    lines = (tmp_path / "a").read_text().splitlines(keepends=True)
    first = next(line for line in lines if '"op_code":4' in line)
    # The other run, which was started at the same time, had its own first trial.
    # Files of that time had no checksums.
    mixed = re.sub(',"sha256":"[0-9a-f]{64}"', "", "".join([*lines, first]))
    (tmp_path / "a").write_text(mixed)
    with pytest.raises(
        ValueError, match=r"'.*a' holds trials that several runs .* Use another file, or remove this one"
    ):
        tuned(tmp_path / "a", 6, outside)
    assert (tmp_path / "a").read_text() == mixed


def test_a_file_that_was_cut_off_anywhere_goes_on(tmp_path):
    """At every byte of the first lines, and here and there in what follows."""
    path = tmp_path / "a"
    expected = records(tuned(path, 6))
    content = path.read_bytes()
    first = content.index(b"\n")
    places = [*range(0, first + 3, 7), first, first + 1, *np.random.default_rng(0).integers(first, len(content), 25)]
    for place in places:
        path.write_bytes(content[:place])
        assert records(tuned(path, 6)) == expected
