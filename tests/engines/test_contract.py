"""What every engine promises: set functions applied as they are when written out token by token."""

from dataclasses import replace

import numpy as np
import pytest

from clearset.engines import Engine, available_engines, engine
from clearset.functions import Layout

from .cases import crossed_case, expected_means, expected_rho, expected_scores, plain_case

LAYOUTS = [
    Layout.full((2,)),
    Layout.full((4,)),
    Layout.full((2, 2, 2)),
    Layout.full((3, 2, 4)),
    Layout(sizes=(2, 3, 2, 2), subsets=((0, 2, 3), (3, 1), (2,))),
    Layout.full((3, 3, 3)),
    Layout.full((2, 3, 2, 2, 3)),
    # The next two have too many vertices beside those of one cell to be read in rows.
    Layout.full((5, 4)),
    Layout.full((2, 9)),
    Layout(sizes=(2, 3, 9, 4), subsets=((3, 0, 1), (1, 2), (1,), (0, 3))),
]
SIZES = [(1, 1), (2, 1), (1, 3), (3, 2)]
PLAIN = [plain_case(1, layout, width=2, outputs=2) for layout in LAYOUTS]
PLAIN += [plain_case(2, LAYOUTS[2], width=width, outputs=outputs) for width, outputs in SIZES]
PLAIN += [plain_case(3, LAYOUTS[2], set_sizes=[1]), plain_case(4, LAYOUTS[4], most_slots=40)]
CROSSED = [
    crossed_case(seed, n_features, classes=classes, width=width, corrected=corrected)
    for seed, (n_features, classes, width) in enumerate([(1, 1, 1), (1, 3, 2), (3, 2, 1), (4, 20, 2)])
    for corrected in (0, 7)
]


def named(case):
    function, sets = case
    corrected = "" if function.corrections is None else ", corrected"
    layout = f"sizes {function.layout.sizes}, {len(function.layout.subsets)} lattices"
    return f"{sets!r}, {layout}, width {function.width}{corrected}"


@pytest.fixture(params=available_engines())
def one(request) -> Engine:
    return engine(request.param)


@pytest.fixture(params=PLAIN + CROSSED, ids=named)
def case(request):
    return request.param


@pytest.fixture(params=[plain_case(5, LAYOUTS[2]), crossed_case(5, 3, corrected=7)], ids=named)
def small(request):
    """One case of each kind, for what does not depend on sizes."""
    return request.param


def close(ours, expected):
    assert ours.shape == expected.shape
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


class TestValues:
    def test_scores_are_those_of_brute_force(self, one, case):
        close(one.scores(*case), expected_scores(*case))

    def test_means_are_those_of_brute_force(self, one, case):
        close(one.means(*case), expected_means(*case))

    def test_outputs_are_those_of_brute_force(self, one, case):
        function, _ = case
        close(one.outputs(*case), expected_rho(function.rho, expected_means(*case)))

    @pytest.mark.parametrize(("width", "outputs"), SIZES)
    def test_rho_of_means_anywhere(self, one, width, outputs):
        rho = plain_case(width, LAYOUTS[0], width=width, outputs=outputs)[0].rho
        rng = np.random.default_rng(0)
        means = rng.uniform(-1.3, 1.3, (200, outputs, width))
        means[:3] = np.array([-1.0, 0.0, 1.0])[:, None, None]
        close(one.rho(rho, means), expected_rho(rho, means))
        # One function serves any number of classes.
        alone = plain_case(width, LAYOUTS[0], width=width)[0].rho
        many = rng.uniform(-1.3, 1.3, (40, 5, width))
        close(one.rho(alone, many), expected_rho(alone, many))

    def test_a_huge_set_has_the_mean_of_what_it_repeats(self, one, small):
        function, sets = small
        times = 20_000
        repeated = {"slots": np.tile(sets.slots, times), "fractions": np.tile(sets.fractions, times)}
        for name in ("rows", "corrected"):
            if hasattr(sets, name):
                repeated[name] = np.tile(getattr(sets, name), times)
        offsets = np.array([0, times * sets.n_tokens])
        huge = replace(sets, offsets=offsets, **repeated)
        close(one.means(function, huge)[0], expected_scores(function, sets).mean(axis=0))

    def test_single_precision(self, one, small):
        function, sets = small
        tables = {name: table.astype(np.float32) for name, table in function.tables.items()}
        single = function.with_tables(tables)
        if function.corrections is not None:
            single = replace(single, corrections=function.corrections.astype(np.float32))
        names = [name for name in ("fractions", "values", "keypoints") if hasattr(sets, name)]
        sets = replace(sets, **{name: getattr(sets, name).astype(np.float32) for name in names})
        for ours, expected in (
            (one.scores(single, sets), expected_scores(function, sets)),
            (one.outputs(single, sets), expected_rho(function.rho, expected_means(function, sets))),
        ):
            assert ours.dtype == np.float32
            np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-5)

    def test_missing_values_count_as_the_last_slot_of_their_feature(self, one):
        function, sets = crossed_case(6, 2, classes=3)
        missing = np.array([len(sets.keypoints), function.calibration.shape[1] - 1])
        sets = replace(
            sets,
            slots=np.full_like(sets.slots, missing[1]),
            fractions=np.zeros_like(sets.fractions),
            rows=np.full_like(sets.rows, -1),
        )
        x, y = np.clip(function.calibration[0, missing], 0.0, 1.0)
        corners = np.array([(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y])
        expected = float(corners @ function.vertices[0])
        np.testing.assert_allclose(one.scores(function, sets), expected, rtol=1e-12)

    def test_arrays_need_not_be_contiguous(self, one, small):
        function, sets = small
        turned = function.with_tables({name: t.T.copy().T for name, t in function.tables.items()})
        names = [name for name in ("slots", "fractions", "values") if hasattr(sets, name)]
        loose = replace(sets, **{name: getattr(sets, name).T.copy().T for name in names})
        close(one.outputs(turned, loose), one.outputs(function, sets))
        means = one.means(function, sets)
        close(one.rho(function.rho, means.T.copy().T), one.rho(function.rho, means))

    def test_nothing_is_changed(self, one, small):
        function, sets = small
        arrays = [*function.tables.values(), *(a for a in vars(sets).values() if isinstance(a, np.ndarray))]
        before = [array.copy() for array in arrays]
        one.outputs(function, sets)
        one.scores(function, sets)
        for array, copied in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, copied)

    def test_not_a_number_stays_visible(self, one, small):
        function, sets = small
        lost = function.copy()
        lost.vertices[:] = np.nan
        assert np.isnan(one.scores(lost, sets)).all()
        assert np.isnan(one.outputs(lost, sets)).all()


class TestThreads:
    @pytest.mark.parametrize(
        "large",
        [
            plain_case(7, LAYOUTS[3], width=2, set_sizes=np.arange(2000) % 50 + 1),
            crossed_case(7, 4, classes=3, width=2, corrected=7, set_sizes=np.arange(1000) % 50 + 1),
        ],
        ids=named,
    )
    def test_bits_do_not_depend_on_their_number(self, one, large):
        for apply in (one.means, one.scores, one.outputs):
            alone = apply(*large, 1)
            for threads in (2, 5):
                np.testing.assert_array_equal(apply(*large, threads), alone)

    def test_there_is_at_least_one(self, one, small):
        with pytest.raises(ValueError, match="threads is 0; it must be at least 1"):
            one.outputs(*small, 0)


class TestNoSets:
    def test_nothing_comes_of_nothing(self, one, small):
        function, sets = small
        names = [name for name in ("slots", "fractions", "rows", "corrected") if hasattr(sets, name)]
        none = {name: getattr(sets, name)[..., :0] for name in names}
        empty = replace(sets, offsets=np.zeros(1, np.int64), **none)
        classes = getattr(sets, "n_classes", function.outputs)
        assert one.means(function, empty).shape == (0, classes, function.width)
        assert one.scores(function, empty).shape == (0, classes, function.width)
        assert one.outputs(function, empty).shape == (0, classes)


class TestRefusals:
    """Contents that cannot be are refused by name, by every engine alike."""

    @pytest.mark.parametrize(
        ("offsets", "message"),
        [
            ([0, 2, 2, 14], "Set 1 has no token; an empty set must be given as one token"),
            ([0, 15, 14], "Set 1 has no token"),
            ([1, 14], "offsets must go from 0 to the number of tokens, 14"),
            ([0, 5, 13], "offsets must go from 0 to the number of tokens, 14"),
            ([], r"offsets have the shape \(0,\)"),
        ],
    )
    def test_offsets(self, one, offsets, message):
        for function, sets in (plain_case(8, LAYOUTS[2], set_sizes=[14]), crossed_case(8, 3, set_sizes=[14])):
            wrong = replace(sets, offsets=np.array(offsets, np.int64))
            for apply in (one.means, one.scores, one.outputs):
                with pytest.raises(ValueError, match=message):
                    apply(function, wrong)

    @pytest.mark.parametrize("token", [0, 300, 999])
    @pytest.mark.parametrize("slot", [-1, 10_000, 2**31 - 1])
    def test_slots(self, one, slot, token):
        for function, sets in (
            plain_case(9, LAYOUTS[2], set_sizes=[300, 700]),
            crossed_case(9, 3, set_sizes=[300, 700]),
        ):
            sets.slots[1, token] = slot
            for apply in (one.means, one.scores):
                with pytest.raises(ValueError, match="slots hold a number outside 0 to"):
                    apply(function, sets)

    @pytest.mark.parametrize("classes", [1, 20])
    @pytest.mark.parametrize(
        ("field", "number", "message"),
        [
            ("rows", -2, "rows hold a number outside -1 to 39"),
            ("rows", 40, "rows hold a number outside -1 to 39"),
            ("corrected", -2, "corrected hold a number outside -1 to 6"),
            ("corrected", 7, "corrected hold a number outside -1 to 6"),
        ],
    )
    def test_rows(self, one, field, number, message, classes):
        function, sets = crossed_case(10, 3, classes=classes, corrected=7, set_sizes=[100, 1, 99])
        getattr(sets, field)[170] = number
        for apply in (one.means, one.scores):
            with pytest.raises(ValueError, match=message):
                apply(function, sets)

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"fractions": np.zeros((3, 14), np.float32)}, TypeError, "fractions float32; all must be"),
            ({"slots": np.zeros((3, 14), np.int64)}, TypeError, "slots int64 and offsets int64"),
            ({"offsets": np.array([0, 14], np.int32)}, TypeError, "offsets int32"),
            ({"slots": np.zeros((2, 14), np.int32)}, ValueError, r"shapes \(2, 14\) and \(3, 14\)"),
        ],
    )
    def test_types_and_shapes_of_positions(self, one, changes, error, message):
        function, sets = plain_case(11, LAYOUTS[2], set_sizes=[14])
        for apply in (one.means, one.scores):
            with pytest.raises(error, match=message):
                apply(function, replace(sets, **changes))

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"values": np.zeros((40, 2), np.float32)}, TypeError, "values float32"),
            ({"rows": np.zeros(14, np.int64)}, TypeError, "rows int64"),
            ({"values": np.zeros(40)}, ValueError, r"values have the shape \(40,\)"),
            ({"values": np.zeros((40, 3))}, ValueError, r"corrections have the shape \(7, 2\).*\(rows, 3\)"),
            ({"rows": np.zeros(13, np.int32)}, ValueError, r"\(13,\) and \(14,\)"),
            ({"keypoints": np.array([1.0])}, ValueError, "keypoints must be at least 2"),
            ({"keypoints": np.array([0.0, 1.0, 1.0])}, ValueError, "each larger than the one before"),
            ({"keypoints": np.arange(99.0)}, ValueError, "at least 100 slots"),
        ],
    )
    def test_types_and_shapes_of_crossed_positions(self, one, changes, error, message):
        function, sets = crossed_case(12, 3, corrected=7, set_sizes=[14])
        for apply in (one.means, one.scores):
            with pytest.raises(error, match=message):
                apply(function, replace(sets, **changes))

    def test_functions_that_do_not_fit(self, one):
        function, sets = plain_case(13, LAYOUTS[2])
        with pytest.raises(ValueError, match=r"calibration and vertices have the shapes .*\(outputs, 8\)"):
            one.means(replace(function, vertices=function.vertices[:, :4]), sets)
        crossed = crossed_case(13, 3)[1]
        with pytest.raises(ValueError, match="with classes it must be the full lattice of size 2"):
            one.means(replace(function, layout=Layout.full((2, 2, 3))), crossed)

    @pytest.mark.parametrize("shape", [(5, 2), (5, 2, 1), (5, 3, 2), (4, 1, 2)])
    def test_means_that_rho_does_not_take(self, one, shape):
        rho = plain_case(14, LAYOUTS[0], width=2, outputs=2)[0].rho
        with pytest.raises(ValueError, match=r"they must be \(sets, C, K\), \(C \* K, V\)"):
            one.rho(rho, np.zeros(shape))
        with pytest.raises(TypeError, match="means float32"):
            one.rho(rho, np.zeros((5, 2, 2), np.float32))


def test_pieces_do_not_show(monkeypatch):
    """Torch scores sets in pieces; how large these are must not change a bit."""
    from clearset.engines.torch import _engine

    function, sets = crossed_case(15, 3, classes=3, corrected=7)
    one = engine("torch")
    whole = one.means(function, sets), one.scores(function, sets)
    for tokens in (1, 4, 9):
        monkeypatch.setattr(_engine, "PIECE_TOKENS", tokens)
        np.testing.assert_array_equal(one.means(function, sets), whole[0])
        np.testing.assert_array_equal(one.scores(function, sets), whole[1])


class TestChoice:
    def test_the_fastest_comes_first(self):
        assert type(engine()) is type(engine(available_engines()[0]))
        assert engine("torch") is engine("torch")

    def test_an_engine_that_is_not_there_is_named(self):
        with pytest.raises(ImportError, match="engine 'abacus' is not installed; there is"):
            engine("abacus")
