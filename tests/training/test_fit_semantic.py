"""What a fit tries: which parts of a setting the parameters leave open, and what it learns from."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from clearset.engines import Schedule
from clearset.functions import Loss
from clearset.tokens import Items, MinCount, NGrams, Setting, Subsets, TokenTable
from clearset.training import LabelledExamples, Learning, Plan, Sources
from clearset.training._fit_tokens import _as_many_steps

OPEN = {
    "tokens": None,
    "filters": None,
    "cover": None,
    "width": None,
    "refine": None,
    "cross_fit": 5,
    "early_stopping": True,
    "validation_fraction": None,
    "verbose": False,
}
WORDS = np.random.default_rng(0).integers(0, 10, (400, 3)).astype(str)


@dataclass(frozen=True, eq=False)
class Recorded(Learning):
    """A learning that tries nothing: each setting is said to be better the larger it is."""

    tried: list[Setting] = field(default_factory=list)
    draws: list[float] = field(default_factory=list)
    sources: list[Sources] = field(default_factory=list)
    worth_of_size: float = 1.0

    def attempt(self, setting: Setting, sources: Sources, rng: np.random.Generator, **how: Any) -> Any:
        self.tried.append(setting)
        self.draws.append(rng.random())
        self.sources.append(sources)
        size = getattr(setting.tokens, "max_size", 1)
        loss = 5.0 - setting.width - min(setting.refine, 1) - self.worth_of_size * size
        progress = SimpleNamespace(interrupted=False)
        return SimpleNamespace(
            setting=setting, loss=loss, fitted=SimpleNamespace(progress=progress, validation_losses=None)
        )


def learning(n=400, groups=None, table=None, worth_of_size=1.0, **parameters) -> Recorded:
    rows = LabelledExamples(WORDS.tolist()[:n] * (n // 400 or 1), np.arange(n) % 2.0, np.ones(n))
    plan = Plan(np.array(["no", "yes"]), table, None, (), (), Loss("log_loss"), {**OPEN, **parameters}, 1.0, 1)
    return Recorded(rows, groups, plan, np.random.default_rng(0), worth_of_size=worth_of_size)


def tried(**options) -> list[Setting]:
    one = learning(**options)
    one.choose(one.split(None)[0])
    return one.tried


def changed(settings: list[Setting]) -> set[str]:
    """Name what of the first setting some other one changes."""
    names = ("tokens", "filters", "cover", "width", "refine", "pull")
    return {name for name in names if any(getattr(s, name) != getattr(settings[0], name) for s in settings)}


def test_where_all_is_open_everything_is_tried():
    settings = tried()
    assert settings[0] == Setting(Items(), (), cover=False, width=1, refine=0)
    assert changed(settings) == {"tokens", "filters", "refine", "pull"}
    assert max(getattr(setting.tokens, "max_size", 1) for setting in settings) == 3


def test_where_single_items_are_best_a_width_is_tried_beside_them():
    assert changed(tried(worth_of_size=-1.0)) == {"tokens", "filters", "width", "refine", "pull"}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"refine": 0}, {"tokens", "filters", "width"}),
        ({"refine": 1}, {"tokens", "filters", "width", "refine", "pull"}),
        ({"width": 3}, {"tokens", "filters", "refine", "pull"}),
        ({"cover": True}, {"tokens", "filters", "width", "refine", "pull"}),
        ({"filters": [MinCount(7)]}, {"tokens", "width", "refine", "pull"}),
        ({"tokens": Items()}, {"refine", "pull"}),
        ({"tokens": Items(), "refine": 0}, set()),
        ({"early_stopping": False}, set()),
        ({"early_stopping": False, "refine": 1}, {"refine"}),
    ],
)
def test_what_is_named_is_not_tried(parameters, expected):
    settings = [*tried(**parameters), *tried(**parameters, worth_of_size=-1.0)]
    assert changed(settings) == expected
    if parameters.get("width"):
        assert {setting.width for setting in settings} == {3}
    if parameters.get("filters"):
        assert {setting.filters for setting in settings} == {(MinCount(7),)}
    if parameters.get("cover"):
        assert all(setting.cover for setting in settings)


def test_refinement_that_was_asked_for_never_ends_up_smaller():
    # The attempt without it is only the start that the others go on from.
    assert {setting.refine for setting in tried(refine=2, tokens=Items())[1:]} == {2}


def test_named_tokens_are_covered_and_not_filtered():
    first = tried(tokens=Subsets(2))[0]
    assert first == Setting(Subsets(2), (), cover=True)


def test_a_table_made_elsewhere_brings_its_tokens():
    labels = np.repeat(["no", "yes"], 200)
    table = TokenTable.build(WORDS.tolist(), labels, Subsets(2), [MinCount(3)])
    settings = tried(table=table)
    assert {setting.tokens for setting in settings} == {Subsets(2)}
    assert {setting.filters for setting in settings} == {table.filters}
    assert changed(settings) == {"refine", "pull"}


def test_texts_are_tried_as_words():
    one = learning()
    texts = [" ".join(["the", *words, str(n)]) for n, words in enumerate(WORDS)]
    rows = LabelledExamples(texts, one.rows.labels, one.rows.weights)
    one = Recorded(rows, None, one.plan, np.random.default_rng(0))
    one.choose(one.split(None)[0])
    assert one.tried[0].tokens == NGrams(max_order=1)


def test_all_settings_have_the_same_luck():
    one = learning()
    one.choose(one.split(None)[0])
    assert len(set(one.draws)) == 1


def test_many_examples_are_sampled_while_choosing():
    one = learning(20_000)
    sources, _ = one.split(None)
    one.choose(sources)
    assert len(sources.training) == 18_000
    assert len(one.sources[0].training) == 12_000
    assert len(one.sources[0].validation) == 2_000
    assert one.sources[0].folds is not None
    assert len(one.sources[0].folds) == 12_000
    # With one setting there is nothing to choose.
    one = learning(20_000, tokens=Items(), refine=0)
    one.choose(one.split(None)[0])
    assert len(one.sources[0].training) == 18_000


class TestSplit:
    def test_examples_validate_or_train(self):
        one = learning()
        sources, order = one.split(None)
        assert len(sources.training) + len(sources.validation) == 400
        assert sorted(order.tolist()) == list(range(400))
        assert np.bincount(sources.folds, minlength=5).min() > 50
        chosen = [one.rows.X[row] for row in order[: len(sources.training)]]
        assert chosen == sources.training.X

    def test_examples_that_are_held_leave_all_others_to_training(self):
        one = learning()
        held = one.rows.take(np.arange(10))
        sources, order = one.split(held)
        assert sources.validation is held
        assert len(sources.training) == 400
        assert order.tolist() == list(range(400))

    def test_groups_stay_together(self):
        groups = np.repeat(np.arange(40), 10)
        sources, order = learning(groups=groups).split(None)
        training, validation = np.split(groups[order], [len(sources.training)])
        assert not set(training) & set(validation)
        for group in np.unique(training):
            assert len(set(sources.folds[training == group])) == 1

    def test_too_few_groups_are_refused(self):
        with pytest.raises(ValueError, match="groups has 3 distinct values, but cross_fit=5 needs so many"):
            learning(groups=np.arange(400) % 3).split(None)

    def test_a_table_made_elsewhere_needs_no_folds(self):
        table = TokenTable.build(WORDS.tolist(), np.repeat(["no", "yes"], 200), Items(), [])
        assert learning(table=table).split(None)[0].folds is None

    def test_folds_partition_the_examples(self):
        pairs = list(learning().folds(4))
        assert len(pairs) == 4
        assert sorted(np.concatenate([inside for _, inside in pairs]).tolist()) == list(range(400))
        assert all(len(outside) + len(inside) == 400 for outside, inside in pairs)


def test_more_examples_take_as_many_steps_and_fewer_epochs():
    schedule = Schedule(learning_rate=0.1, epochs=60, batch_size=2048, patience=None, stop_after=45)
    shorter = _as_many_steps(schedule, "auto", 12_000, 150_000)
    assert shorter.batch_size == 374
    assert shorter.stop_after * -(-150_000 // 374) == pytest.approx(45 * 65, rel=0.1)
    assert shorter.epochs / 60 == pytest.approx(shorter.stop_after / 45, rel=0.15)
    # Hardly more examples, or a batch size that was asked for, change nothing.
    assert _as_many_steps(schedule, "auto", 12_000, 13_000) == schedule
    assert _as_many_steps(schedule, 2048, 12_000, 150_000) == schedule
