"""The choice of a setting, with an attempt that only says what losses are."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from clearset.sets import FileRows, as_stream
from clearset.tokens import Filter, Items, MaxSize, MinCount, NGrams, Setting, Subsets, TokenLimitError, Union, Words
from clearset.training import (
    are_phrases,
    are_phrases_in_files,
    choose,
    for_more_examples,
    larger_tokens,
    smallest_tokens,
)

FIRST = Setting(Items())
EVERYTHING = frozenset({"tokens", "filters", "width", "refine", "pull"})
LARGER: tuple[Filter, ...] = (MinCount(10) | MaxSize(1),)


class Attempts:
    """Tries settings by a function that gives their losses, and remembers them."""

    def __init__(self, loss: Callable[[Setting], float], interrupt_at: int | None = None) -> None:
        self._loss, self._interrupt_at = loss, interrupt_at
        self.settings: list[Setting] = []
        self.starts: list[Setting | None] = []
        self.rivals: list[Setting | None] = []

    def __call__(self, setting, start, rival):
        self.settings.append(setting)
        self.starts.append(None if start is None else start.setting)
        self.rivals.append(None if rival is None else rival.setting)
        loss = self._loss(setting)
        progress = SimpleNamespace(interrupted=len(self.settings) == self._interrupt_at)
        return SimpleNamespace(
            setting=setting, loss=loss, fitted=SimpleNamespace(progress=progress, validation_losses=self._losses(loss))
        )

    def _losses(self, loss):
        return None


class NoisyAttempts(Attempts):
    """The losses of single examples differ from setting to setting by much more than their means do."""

    def _losses(self, loss):
        noise = np.random.default_rng(len(self.settings)).normal(size=400)
        return loss + noise - noise.mean()


def run(loss, *, first=FIRST, free=EVERYTHING, largest=3, interrupt_at=None, phrases=False):
    attempts = Attempts(loss, interrupt_at)
    best, losses = choose(first, free=frozenset(free), largest=largest, attempt=attempts, phrases=phrases)
    return best, losses, attempts


def size_of(setting: Setting) -> int:
    return getattr(setting.tokens, "max_size", 1)


def constant(setting: Setting) -> float:
    return 1.0


def test_where_nothing_is_free_the_first_setting_is_all():
    best, losses, attempts = run(constant, free=())
    assert attempts.settings == [FIRST]
    assert losses == [(FIRST, 1.0)]
    assert best.setting == FIRST


def test_refinement_is_tried_first_and_goes_on_from_the_start():
    best, losses, attempts = run(lambda s: 1.0 - 0.1 * s.refine, free={"refine", "pull", "width"})
    strong, freer = replace(FIRST, refine=1, pull=8.0), replace(FIRST, refine=1, pull=2.0)
    assert attempts.settings == [FIRST, strong, freer, replace(strong, width=2)]
    assert attempts.starts == [None, FIRST, FIRST, None]
    assert best.setting == strong
    assert [setting for setting, _ in losses] == attempts.settings


def test_the_rival_is_the_best_so_far():
    _, _, attempts = run(lambda s: 1.0 - 0.1 * s.refine, free={"refine", "pull", "width"})
    strong = replace(FIRST, refine=1, pull=8.0)
    assert attempts.rivals == [None, FIRST, strong, strong]


def test_refinement_that_was_asked_for_is_kept_even_where_it_is_worse():
    first = replace(FIRST, refine=2)
    best, losses, attempts = run(lambda s: 1.0 + s.refine, first=first, free=())
    assert attempts.settings == [FIRST, first]
    assert attempts.starts == [None, FIRST]
    assert best.setting == first
    assert losses == [(first, 3.0)]  # the start does not take part


def test_of_refinement_that_was_asked_for_the_pull_is_free():
    first = replace(FIRST, refine=1)
    best, _, attempts = run(lambda s: s.pull, first=first, free={"pull"})
    assert [setting.pull for setting in attempts.settings] == [2.0, 8.0, 2.0, 0.5]
    assert [setting.refine for setting in attempts.settings] == [0, 1, 1, 1]
    assert attempts.starts == [None, FIRST, FIRST, FIRST]
    assert best.setting == replace(first, pull=0.5)


@pytest.mark.parametrize(
    ("start", "loss", "taken"),
    [(1.0, 0.9981, False), (1.0, 0.9979, True), (-1.0, -1.0019, False), (-1.0, -1.0021, True)],
)
def test_a_more_complex_setting_must_gain_a_five_hundredth(start, loss, taken):
    best, _, _ = run(lambda s: loss if s.width == 2 else start, free={"width"})
    assert (best.setting.width == 2) is taken


def test_a_gain_must_be_larger_than_its_standard_error():
    for gain, taken in ((0.01, False), (0.5, True)):
        attempts = NoisyAttempts(lambda s, gain=gain: 1.0 - gain * (s.width - 1))
        best, _ = choose(FIRST, free=frozenset({"width"}), largest=1, attempt=attempts)
        assert (best.setting.width == 2) == taken


def test_every_setting_must_gain_on_the_best_so_far():
    best, losses, _ = run(lambda s: {1: 0.9, 2: 0.899}[size_of(s)] / s.width**0.001, free={"tokens", "width"})
    assert [loss for _, loss in losses][:2] == [0.9, 0.899]
    assert best.setting == FIRST  # neither pairs nor width gain enough on it


def test_larger_tokens_while_they_help():
    best, _, attempts = run(lambda s: 1.0 - 0.1 * size_of(s), free={"tokens"}, largest=4)
    assert [size_of(setting) for setting in attempts.settings] == [1, 2, 3, 4]
    assert best.setting.tokens == Subsets(max_size=4)
    assert best.setting.filters == FIRST.filters


def test_larger_tokens_end_where_they_do_not_help():
    best, _, attempts = run(lambda s: [1.0, 0.9, 0.95, 0.1][size_of(s) - 1], free={"tokens"}, largest=4)
    assert [size_of(setting) for setting in attempts.settings] == [1, 2, 3]
    assert best.setting.tokens == Subsets(max_size=2)


def test_larger_tokens_have_filters_of_their_own_where_these_are_free():
    _, _, attempts = run(constant, free={"tokens", "filters"})
    assert attempts.settings[-1].filters == LARGER


def test_larger_words_keep_how_texts_are_split():
    words = NGrams(max_order=1, split=str.split)
    _, _, attempts = run(constant, first=replace(FIRST, tokens=words), free={"tokens"})
    assert attempts.settings[-1].tokens == NGrams(max_order=2, split=str.split)


def test_larger_tokens_are_refined_where_small_ones_were():
    def loss(setting):
        return 2.0 - 0.5 * (setting.refine > 0) - 0.1 * size_of(setting)

    _, _, attempts = run(loss, free={"refine", "tokens"})
    refined = [(size_of(setting), setting.refine) for setting in attempts.settings]
    assert refined == [(1, 0), (1, 1), (1, 1), (2, 2), (3, 3)]
    # Where refinement does harm none of the larger tokens is refined.
    _, _, attempts = run(lambda s: 2.0 - 0.1 * size_of(s) + s.refine, free={"refine", "tokens"})
    assert [(size_of(s), s.refine) for s in attempts.settings] == [(1, 0), (1, 1), (2, 0), (3, 0)]


def test_pulls_become_weaker_while_that_helps():
    for best_pull, tried in ((8.0, [8.0, 2.0]), (2.0, [8.0, 2.0, 0.5]), (0.5, [8.0, 2.0, 0.5])):
        distance = lambda s, best=best_pull: abs(np.log(s.pull / best))  # noqa: E731
        best, _, attempts = run(lambda s, d=distance: 0.5 + 0.0001 * d(s) if s.refine else 1.0, free={"refine", "pull"})
        assert [setting.pull for setting in attempts.settings[1:]] == tried
        assert best.setting.pull == best_pull


def test_corrections_are_kept_unless_they_do_harm_by_more_than_chance():
    for harm, kept in ((0.01, True), (0.5, False)):
        attempts = NoisyAttempts(lambda s, harm=harm: 1.0 + harm * (s.refine > 0))
        best, _ = choose(FIRST, free=frozenset({"refine"}), largest=1, attempt=attempts)
        assert (best.setting.refine == 1) == kept
    # Where nothing is known of single examples, they have to be as good.
    assert run(lambda s: 1.0, free={"refine"})[0].setting.refine == 1
    best, _, attempts = run(lambda s: 1.0 + 0.001 * s.refine, free={"refine"})
    assert best.setting.refine == 0
    assert len(attempts.settings) == 2


def test_what_the_start_has_found_of_the_shrinkage_goes_on():
    attempts = Attempts(lambda s: 1.0 - 0.1 * s.refine - 0.1 * size_of(s))

    def attempt(setting, start, rival):
        found = replace(setting, shrinkage=10.0) if np.isnan(setting.shrinkage) else setting
        return attempts(found, start, rival)

    best, _ = choose(replace(FIRST, shrinkage=np.nan), free=EVERYTHING, largest=3, attempt=attempt)
    assert {setting.shrinkage for setting in attempts.settings} == {10.0}
    assert best.setting.shrinkage == 10.0


def test_larger_tokens_stay_as_rare_as_they_were_where_there_are_more_examples():
    pairs = Setting(Subsets(2), LARGER)
    assert for_more_examples(pairs, 6.2).filters == (MinCount(62) | MaxSize(1),)
    assert for_more_examples(pairs, 1.3) == pairs
    assert for_more_examples(replace(pairs, filters=(MinCount(5),)), 6.2).filters == (MinCount(5),)


def test_larger_tokens_keep_the_cover_that_was_asked_for():
    for cover in (False, True):
        _, _, attempts = run(lambda s: 1.0 - 0.1 * size_of(s), first=replace(FIRST, cover=cover))
        assert {setting.cover for setting in attempts.settings} == {cover}


def test_a_larger_width_comes_last_and_only_for_single_items():
    best, _, attempts = run(lambda s: 2.0 + 0.1 * size_of(s) - 0.2 * s.width)
    assert [setting.width for setting in attempts.settings] == [1] * (len(attempts.settings) - 1) + [2]
    assert (best.setting.width, size_of(best.setting)) == (2, 1)
    best, _, attempts = run(lambda s: 2.0 - 0.1 * size_of(s) - 0.2 * s.width)
    assert {setting.width for setting in attempts.settings} == {1}
    assert size_of(best.setting) == 3


def test_too_many_tokens_are_as_bad_as_can_be():
    def loss(setting):
        if size_of(setting) == 2:
            raise TokenLimitError("too many")
        return 1.0

    best, losses, attempts = run(loss, free={"tokens", "width"})
    assert losses == [(FIRST, 1.0), (replace(FIRST, tokens=Subsets(2)), float("inf")), (attempts.settings[-1], 1.0)]
    assert [size_of(setting) for setting in attempts.settings] == [1, 2, 1]  # no larger ones, but the width
    assert best.setting == FIRST


def test_too_many_tokens_of_the_first_setting_are_an_error():
    def loss(setting):
        raise TokenLimitError("too many")

    with pytest.raises(TokenLimitError):
        run(loss)


@pytest.mark.parametrize("at", [1, 2, 4])
def test_an_interrupt_ends_it(at):
    best, losses, attempts = run(lambda s: 2.0 - 0.1 * size_of(s) - s.refine, interrupt_at=at)
    assert len(attempts.settings) == len(losses) == at
    # Whichever trial it was, the best one tells.
    assert best.fitted.progress.interrupted


def test_an_interrupt_before_refinement_that_was_asked_for():
    best, losses, attempts = run(constant, first=replace(FIRST, refine=1), interrupt_at=1)
    assert attempts.settings == [FIRST]
    assert best.setting == FIRST
    assert losses == [(FIRST, 1.0)]


def test_without_an_interrupt_there_is_none():
    assert not run(constant)[0].fitted.progress.interrupted


class TestTokens:
    def test_texts_are_made_of_words(self):
        texts = [f"a review of wine number {n}" for n in range(20)]
        assert smallest_tokens(texts) == NGrams(max_order=1)

    def test_lists_are_made_of_items(self):
        assert smallest_tokens([["red wine", "cork and glass"], ["white wine with ice"]]) == Items()

    def test_single_words_are_categories(self):
        assert smallest_tokens([f"word{n}" for n in range(20)]) == Items()

    def test_texts_that_repeat_are_categories(self):
        assert smallest_tokens(["New York City", "Rio de Janeiro", "Cape Town South"] * 20) == Items()

    def test_larger_ones_are_of_the_same_kind(self):
        assert larger_tokens(Items(), 3) == Subsets(max_size=3)
        assert larger_tokens(NGrams(1, split=str.split), 2) == NGrams(2, split=str.split)


WITH_WORDS, PAIRS_AND_WORDS = Union(Items(), Words()), Union(Subsets(2), Words())


def test_words_of_phrases_are_tried_and_pairs_beside_them_if_they_gain():
    losses = {Items(): 1.0, WITH_WORDS: 0.8, PAIRS_AND_WORDS: 0.7, Union(Subsets(3), Words()): 0.9}
    best, _, attempts = run(lambda s: losses[s.tokens], free={"tokens"}, phrases=True)
    assert [setting.tokens for setting in attempts.settings] == list(losses)
    assert best.setting.tokens == PAIRS_AND_WORDS


def test_words_that_gain_nothing_are_left_out():
    losses = {Items(): 1.0, WITH_WORDS: 1.1, Subsets(2): 0.9, Subsets(3): 0.95}
    best, _, attempts = run(lambda s: losses[s.tokens], free={"tokens"}, phrases=True)
    assert [setting.tokens for setting in attempts.settings] == list(losses)
    assert best.setting.tokens == Subsets(2)


def test_words_are_tried_with_the_corrections_that_gained():
    best, _, attempts = run(lambda s: 1.0 - 0.1 * s.refine, free={"tokens", "refine"}, largest=1, phrases=True)
    assert attempts.settings[-1] == replace(FIRST, tokens=WITH_WORDS, refine=1, pull=8.0)
    assert best.setting.tokens == Items()


def test_no_words_where_tokens_are_given_or_items_are_none():
    for free, phrases in (({"refine"}, True), (EVERYTHING, False)):
        _, _, attempts = run(constant, free=free, phrases=phrases)
        assert not any(setting.tokens.kinds for setting in attempts.settings)


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([["olive oil", "black olive"], ["olive oil", None], None, ["black oil", "oil"]], True),
        ([["olive oil", "salt", "lime"]] * 3, False),  # 4 words of 3 items
        ([["oil", "olive", "salt", "salt lime oil"]], False),  # as many words as items
        ([["Bags under eyes", "Rosy cheeks", "Big nose"]], False),  # no word is shared
        (["New York", "York", "New Jersey", "New"], True),
        ([[], []], False),
        ([1, 2, 3], False),
    ],
)
def test_phrases_have_several_words_and_share_them(X, expected):
    assert are_phrases(X) is expected
    if X != [1, 2, 3]:
        for rows in (1, 2, 10):  # in a table
            pieces = [pa.table({"X": pa.array(X[start : start + rows])}) for start in range(0, len(X), rows)]
            stream = as_stream(ds.dataset(pa.concat_tables(pieces, promote_options="permissive")))
            assert are_phrases_in_files(FileRows(stream, 10**6)) is expected
