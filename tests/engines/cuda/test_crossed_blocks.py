"""Tokens that are placed in blocks on the CPU: a GPU has them all at once."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clearset.engines import Refinement, TrainingSets, available_engines, engine
from clearset.engines.cuda import _corrections, _general_phi, _rho, _trainer
from clearset.sets import CrossedBlocks

from ..crossed_example import CrossedExample, in_single_precision, schedule

REFINEMENT = Refinement(0.1, 1.0)


def in_blocks(data: TrainingSets) -> TrainingSets:
    """The same sets, placed when they are asked for."""
    positions = data.positions

    def place(start, stop):
        return positions.take(np.arange(start, stop))

    return replace(data, positions=CrossedBlocks(place, positions.offsets, positions.n_classes))


def problems(n_classes, *, corrections):
    example = CrossedExample.random(n_classes, n_sets=200)
    data = example.labelled()
    at_once = replace(data, positions=in_single_precision(data.positions))
    function = example.function(example.corrections() if corrections else None)
    return [replace(example.problem(function, each), validation=each) for each in (at_once, in_blocks(at_once))]


@pytest.mark.parametrize("corrections", [False, True])
@pytest.mark.parametrize("n_classes", [1, 3])
def test_what_is_copied_to_the_device(monkeypatch, n_classes, corrections):
    """Without any GPU: what kernels are handed of sets in blocks is what they are handed of the same sets."""

    class Nothing:
        """Kernels that are never started."""

        def __init__(self, *_arguments, **_definitions):
            pass

        def launch(self, *_arguments, **_options):
            pass

    for module in (_corrections, _general_phi, _rho, _trainer):
        monkeypatch.setattr(module, "Module", Nothing)
    one, other = (
        _trainer.CudaTrainer(problem, options, np.random.default_rng(0), torch.device("cpu"))
        for options in [schedule(refinement=REFINEMENT)]
        for problem in problems(n_classes, corrections=corrections)
    )
    assert one._sets.tokens.arrays.keys() == other._sets.tokens.arrays.keys()
    for name, tensor in one._sets.tokens.arrays.items():
        assert torch.equal(tensor, other._sets.tokens.arrays[name]), name
    assert torch.equal(one._sets.targets, other._sets.targets)
    assert torch.equal(one._pace, other._pace)


@pytest.mark.skipif("cuda" not in available_engines(), reason="there is no NVIDIA GPU, or torch does not see it")
@pytest.mark.parametrize("corrections", [False, True])
@pytest.mark.parametrize("n_classes", [1, 3])
def test_the_same_bits_as_at_once(n_classes, corrections):
    kept, losses = [], []
    for problem in problems(n_classes, corrections=corrections):
        trainer = engine("cuda").trainer(
            problem, schedule(batch_size=64, refinement=REFINEMENT), np.random.default_rng(0)
        )
        losses.append([value for _ in range(4) for value in (trainer.epoch(), trainer.validation_loss())])
        kept.append(trainer.kept())
    assert losses[0] == losses[1]
    for name, table in kept[0].tables.items():
        np.testing.assert_array_equal(table, kept[1].tables[name], err_msg=name)
    np.testing.assert_array_equal(kept[0].corrections, kept[1].corrections)
