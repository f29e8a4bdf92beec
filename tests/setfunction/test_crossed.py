"""Set functions of tokens crossed with classes, against plain set functions on tokens x classes written out."""

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from clearset.kernels import CrossedTokens, Layout, TokenPositions
from clearset.setfunction import (
    CrossedSets,
    CrossedTrainingSets,
    Loss,
    RefinedSetFunction,
    Refinement,
    Schedule,
    SetFunction,
    ShapeConstraints,
    Smoothness,
    fill_missing_crossed,
    initial_crossed_set_function,
    train,
)
from clearset.setfunction import _crossed as crossed_module
from clearset.setfunction._training import _Trainer, mean_loss
from clearset.sets import Binning, Feature, Positions

LOSSES = {1: Loss("log_loss"), 4: Loss("log_loss")}


@dataclass
class Case:
    """Random tokens with a value for each class, a count and a size; some tokens have no value at all."""

    binning: Binning
    layout: Layout
    values: np.ndarray
    rows: np.ndarray
    refined: np.ndarray
    plain: dict[str, np.ndarray]
    offsets: np.ndarray
    width: int

    @classmethod
    def random(cls, n_classes=4, width=2, seed=0, n_sets=40, missing=0.1):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, n_sets)
        n = int(sizes.sum())
        binning = Binning(
            (Feature("value", monotonic="increasing"), Feature("count"), Feature("size")),
            (np.linspace(-2, 2, 6), np.array([1.0, 3.0, 10.0, 50.0]), np.array([1.0, 2.0])),
            (None, None, None),
        )
        plain = {"count": rng.uniform(0, 60, n), "size": rng.integers(1, 3, n).astype(float)}
        plain["count"][rng.uniform(size=n) < 0.1] = np.nan
        return cls(
            binning,
            Layout.full((2, 2, 2)),
            rng.normal(size=(15, n_classes)),
            np.where(rng.uniform(size=n) < missing, -1, rng.integers(0, 15, n)),
            rng.integers(-1, 7, n),
            plain,
            np.concatenate([[0], np.cumsum(sizes)]),
            width,
        )

    @property
    def n_classes(self):
        return self.values.shape[1]

    def crossed(self, dtype=np.float64):
        places = [self.binning.place(name, self.plain[name], dtype) for name in ("count", "size")]
        tokens = CrossedTokens(
            torch.from_numpy(np.stack([slots for slots, _ in places])),
            torch.from_numpy(np.stack([fractions for _, fractions in places])),
            torch.from_numpy(self.offsets),
            torch.from_numpy(self.rows.astype(np.int32)),
            torch.from_numpy(np.where(self.rows < 0, -1, self.refined).astype(np.int32)),
        )
        keypoints = torch.from_numpy(self.binning.keypoints[0].astype(dtype))
        return CrossedSets(tokens, torch.from_numpy(self.values.astype(dtype)), keypoints)

    def written_out(self, c, corrections=None):
        """The tokens of one class, as a plain set function takes them."""
        values = np.where(self.rows < 0, np.nan, self.values[self.rows, c])
        if corrections is not None:
            values = values + np.where(self.refined < 0, 0.0, corrections[self.refined, c])
        columns = {"value": values, **self.plain}
        places = [self.binning.place(name, column, np.float64) for name, column in columns.items()]
        return Positions(
            np.stack([slots for slots, _ in places]),
            np.stack([fractions for _, fractions in places]),
            self.offsets,
        )

    def model(self, seed=0, corrections=None, noise=0.2):
        """A set function that obeys its constraints, away from the start of training."""
        rng = np.random.default_rng(seed)
        sizes = {"width": self.width, "rho_keypoints": 7}
        model = initial_crossed_set_function(self.binning, self.layout, **sizes, rng=rng)
        with torch.no_grad():
            for table in model.tables.values():
                table.add_(torch.from_numpy(rng.normal(0, noise, tuple(table.shape))))
        ShapeConstraints(self.binning, (), self.layout, **sizes).project_exactly(model)
        if corrections is not None:
            return RefinedSetFunction(model.phi, model.rho, torch.from_numpy(corrections.copy()))
        return model

    def reference(self, model, corrections=None):
        """Outputs class by class through the plain set function, (B, C)."""
        plain = SetFunction(model.phi, model.rho)
        columns = []
        for c in range(self.n_classes):
            positions = self.written_out(c, corrections)
            tokens = TokenPositions(
                *map(torch.from_numpy, (positions.slots, positions.fractions, self.offsets))
            )
            columns.append(plain(tokens))
        return torch.cat(columns, dim=1)

    def training(self, seed=0, dtype=np.float64, sets=None):
        rng = np.random.default_rng(seed)
        n = len(self.offsets) - 1
        targets = rng.integers(0, max(2, self.n_classes), n).astype(float)
        weights = rng.uniform(0.5, 2, n)
        sets = np.arange(n) if sets is None else sets
        return CrossedTrainingSets(
            self.crossed(dtype), sets, targets[sets], weights[sets] / weights[sets].mean()
        )

    def trainer(self, model, data, **changes):
        sizes = {"width": self.width, "rho_keypoints": 7}
        shape = ShapeConstraints(self.binning, (), self.layout, **sizes)
        smoothness = Smoothness(self.binning, self.layout, 0.0, len(data.targets), **sizes)
        return model, shape, smoothness, Loss("log_loss"), data, schedule(**changes)


def schedule(**changes):
    defaults = {
        "optimizer": "adam",
        "constraints": "project",
        "learning_rate": 0.02,
        "epochs": 10,
        "batch_size": 1000,
        "patience": 10,
        "threads": 1,
        "refinement": Refinement(0.1, 0.0),
    }
    return Schedule(**{**defaults, **changes})


def random_corrections(case, seed=1, scale=0.7):
    return np.random.default_rng(seed).normal(0, scale, (7, case.n_classes))


@pytest.mark.parametrize("n_classes", [1, 2, 4, 20])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("refine", [False, True])
def test_outputs_are_those_of_a_plain_set_function_for_every_class(n_classes, width, refine):
    case = Case.random(n_classes, width, seed=n_classes)
    corrections = random_corrections(case) if refine else None
    model = case.model(corrections=corrections)
    with torch.no_grad():
        outputs = case.crossed().outputs(model, None, 1)
        torch.testing.assert_close(outputs, case.reference(model, corrections), rtol=1e-12, atol=1e-12)
        some = np.array([7, 3, 3, 0])
        torch.testing.assert_close(
            case.crossed().outputs(model, some, 1), outputs[some], rtol=1e-12, atol=1e-12
        )
        means = case.crossed().means(model, 1)
        again = model.rho(means.reshape(-1, width)).reshape(len(means), n_classes)
        torch.testing.assert_close(again, outputs, rtol=1e-12, atol=1e-12)
        scores = case.crossed().scores(model, 1)
        assert scores.shape == (len(case.rows), n_classes, width)
        for b in range(len(means)):
            torch.testing.assert_close(scores[case.offsets[b] : case.offsets[b + 1]].mean(dim=0), means[b])


def test_outputs_do_not_depend_on_the_pieces_they_are_computed_in(monkeypatch):
    case = Case.random()
    model = case.model()
    with torch.no_grad():
        whole = [case.crossed().outputs(model, None, 1), case.crossed().scores(model, 1)]
        for tokens in (1, 4, 17):
            monkeypatch.setattr(crossed_module, "PIECE_TOKENS", tokens)
            assert torch.equal(case.crossed().outputs(model, None, 1), whole[0])
            assert torch.equal(case.crossed().scores(model, 1), whole[1])


def test_no_sets_have_no_outputs():
    case = Case.random(n_sets=0)
    crossed = case.crossed()
    assert len(crossed) == 0
    assert crossed.outputs(case.model(), None, 1).shape == (0, 4)


@pytest.mark.parametrize("n_classes", [1, 4])
def test_gradients_are_those_of_the_plain_set_function(n_classes):
    case = Case.random(n_classes)
    data = case.training()
    models = [case.model(), case.model()]
    mean_loss(models[0], Loss("log_loss"), data, 1).backward()
    losses = Loss("log_loss")(case.reference(models[1]), torch.from_numpy(data.targets))
    (losses * torch.from_numpy(data.weights)).mean().backward()
    for (name, a), b in zip(models[0].tables.items(), models[1].tables.values(), strict=True):
        assert b.grad.abs().max() > 0, name
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-9, atol=1e-12, msg=name)


@pytest.mark.parametrize("n_classes", [1, 4])
def test_gradients_of_corrections_by_finite_differences(n_classes):
    case = Case.random(n_classes)
    data, corrections = case.training(), random_corrections(case)
    model = case.model(corrections=corrections)
    mean_loss(model, Loss("log_loss"), data, 1).backward()

    def loss_at(changed):
        with torch.no_grad():
            losses = Loss("log_loss")(case.reference(model, changed), torch.from_numpy(data.targets))
            return float((losses * torch.from_numpy(data.weights)).mean())

    step = 1e-6
    expected = np.zeros_like(corrections)
    for place in np.ndindex(*corrections.shape):
        moved = np.zeros_like(corrections)
        moved[place] = step
        expected[place] = (loss_at(corrections + moved) - loss_at(corrections - moved)) / (2 * step)
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(model.corrections.grad.numpy(), expected, atol=1e-8)


def test_steps_of_corrections_are_those_of_adagrad_with_a_pull():
    case = Case.random()
    data, pull, rate = case.training(), 3.0, 0.1
    arguments = case.trainer(
        case.model(corrections=random_corrections(case)), data, refinement=Refinement(rate, pull), epochs=8
    )
    trainer = _Trainer(*arguments, np.random.default_rng(0))
    everything, squares = np.arange(len(data.targets)), 0.0
    for step in range(3):
        model = copy.deepcopy(trainer._model)
        model.zero_grad()
        mean_loss(model, Loss("log_loss"), data, 1).backward()
        now = model.corrections.detach()
        gradient = model.corrections.grad + 2 * pull / len(data.targets) * now
        squares = squares + gradient.square()
        decay = 0.05 + 0.95 * (1 + np.cos(np.pi * step / 8)) / 2
        trainer._train_on(everything)
        expected = now - rate * decay * gradient / (squares.sqrt() + 1e-10)
        torch.testing.assert_close(trainer._model.corrections.detach(), expected, rtol=1e-9, atol=1e-12)


def test_corrections_are_averaged_with_the_rest():
    case = Case.random()
    data = case.training()
    trainer = _Trainer(
        *case.trainer(case.model(corrections=random_corrections(case)), data), np.random.default_rng(0)
    )
    everything, averages = np.arange(len(data.targets)), None
    for step in range(1, 5):
        trainer._train_on(everything)
        iterate = [parameter.detach().clone() for parameter in trainer._model.parameters()]
        share = 4.0 / (step + 3.0)
        if averages is None:
            averages = iterate
        averages = [(1 - share) * a + share * b for a, b in zip(averages, iterate, strict=True)]
    kept = list(trainer.average.parameters())
    assert len(kept) == 6
    for a, b in zip(kept, averages, strict=True):
        torch.testing.assert_close(a.detach(), b, rtol=1e-9, atol=1e-9)


def identity_case():
    """Two tokens of the same value and count, of which only a correction can tell which class they speak for."""
    case = Case.random(n_classes=1, width=1, n_sets=200, missing=0.0)
    n = 200
    tokens = np.arange(n) % 2
    case = replace(
        case,
        values=np.zeros((15, 1)),
        rows=tokens,
        refined=tokens,
        plain={"count": np.full(n, 3.0), "size": np.ones(n)},
        offsets=np.arange(n + 1),
    )
    return case, CrossedTrainingSets(case.crossed(), np.arange(n), tokens.astype(float), np.ones(n))


def fit(case, data, corrections, **changes):
    model, *rest = case.trainer(case.model(corrections=corrections, noise=0.0), data, **changes)
    return train(model, *rest[:3], data, None, rest[4], np.random.default_rng(0))


def test_corrections_tell_apart_what_values_do_not():
    case, data = identity_case()
    zeros = np.zeros((7, 1))
    options = {"epochs": 60, "batch_size": 20}
    plain = fit(case, data, None, **options)
    refined = fit(case, data, zeros, **options)
    assert plain.history[-1]["loss"] > 0.65
    assert refined.history[-1]["loss"] < 0.5
    learned = refined.best.corrections.detach().numpy()[:, 0]
    assert learned[0] < -0.3 < 0.3 < learned[1]
    assert (learned[2:] == 0).all()  # tokens that never occur


def test_a_pull_draws_corrections_to_zero():
    case, data = identity_case()
    sizes = []
    for pull in (0.0, 1.0, 10.0):
        best = fit(case, data, np.zeros((7, 1)), refinement=Refinement(0.1, pull), epochs=40).best
        sizes.append(best.corrections.detach().abs().max().item())
    assert sizes[0] > sizes[1] > sizes[2]


def test_without_refinement_corrections_stay():
    case, data = identity_case()
    best = fit(case, data, np.full((7, 1), 0.25), refinement=None, epochs=5).best
    assert (best.corrections == 0.25).all()


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(refine, dtype):
    case = Case.random(n_sets=300)
    data = case.training(dtype=dtype)
    corrections = random_corrections(case) if refine else None
    fits = [
        fit(case, data, corrections, epochs=3, batch_size=64, threads=threads).best for threads in (1, 2, 5)
    ]
    assert len(list(fits[0].parameters())) == (6 if refine else 5)
    for other in fits[1:]:
        for a, b in zip(fits[0].parameters(), other.parameters(), strict=True):
            assert torch.equal(a, b)


def test_some_of_the_sets():
    case = Case.random()
    chosen = np.array([5, 2, 30])
    part, everything = case.training(sets=chosen), case.training()
    model = case.model()
    with torch.no_grad():
        outputs = everything.outputs(model, None, 1)
        torch.testing.assert_close(part.outputs(model, None, 1), outputs[chosen])
        torch.testing.assert_close(part.outputs(model, np.array([2, 0]), 1), outputs[[30, 5]])
    assert part.dtype == torch.float64


def nothing(case):
    """One set without tokens: everything missing."""
    missing = [[slot] for slot in case.binning.slot_offsets[2:] - 1]
    tokens = CrossedTokens(
        torch.tensor(missing, dtype=torch.int32),
        torch.zeros((len(missing), 1), dtype=torch.float64),
        torch.tensor([0, 1]),
        torch.tensor([-1], dtype=torch.int32),
        torch.tensor([-1], dtype=torch.int32),
    )
    return replace(case.crossed(), tokens=tokens)


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_a_set_without_tokens_is_the_prior_where_none_was_seen(share):
    case = Case.random(missing=0.0)
    model = case.model()
    calibration = model.phi.calibration.detach().clone().numpy()
    outputs = []
    for value in (0.0, 1.0):  # between these the missing value can bring the output
        with torch.no_grad():
            model.phi.calibration[:, 6] = value
            # The other features that were never missing count as average.
            model.phi.calibration[:, 14] = torch.from_numpy(
                np.array(
                    [np.interp(case.plain["size"], [1.0, 2.0], row[12:14]).mean() for row in calibration]
                )
            )
            outputs.append(float(nothing(case).outputs(model, None, 1)[0, 0]))
    prior = outputs[0] + share * (outputs[1] - outputs[0])
    fill_missing_crossed(model, case.binning, case.crossed(), nothing(case), prior)
    with torch.no_grad():
        assert float(nothing(case).outputs(model, None, 1)[0, 0]) == pytest.approx(prior, abs=1e-9)
    filled = model.phi.calibration.detach().numpy()
    np.testing.assert_array_equal(np.delete(filled, [6, 14], axis=1), np.delete(calibration, [6, 14], axis=1))


def test_values_that_were_missing_keep_what_was_learned():
    case = Case.random(missing=0.3)
    model = case.model()
    before = model.phi.calibration.detach().clone()
    fill_missing_crossed(model, case.binning, case.crossed(), nothing(case), 0.0)
    assert torch.equal(model.phi.calibration[:, :12], before[:, :12])
