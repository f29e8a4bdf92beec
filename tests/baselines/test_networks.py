"""Networks with weights set by hand, against NumPy."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from clearset.baselines._network_inputs import RaggedInput
from clearset.baselines._networks import DeepSets, FullyConnected, MultiHot, segment_mean

GENERATOR = torch.Generator().manual_seed(0)
OFFSETS = np.array([0, 2, 3, 7])


def set_by_hand(network: nn.Module) -> list[np.ndarray]:
    """Set the weights of a network to numbers of one decimal, and return them."""
    rng = np.random.default_rng(3)
    values = []
    with torch.no_grad():
        for parameter in network.double().parameters():
            values.append(rng.integers(-9, 10, tuple(parameter.shape)) / 10.0)
            parameter.copy_(torch.from_numpy(values[-1]))
    return values


def dense(x: np.ndarray, layers: list[np.ndarray]) -> np.ndarray:
    """Apply linear layers with ReLU between them."""
    for place in range(0, len(layers), 2):
        x = x @ layers[place].T + layers[place + 1]
        x = x if place == len(layers) - 2 else np.maximum(x, 0.0)
    return x


def tokens() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(7, 2))


def test_fully_connected() -> None:
    network = FullyConnected([2, 3, 3], 2, GENERATOR)
    weights = set_by_hand(network)
    assert [w.shape for w in weights] == [(3, 2), (3,), (3, 3), (3,), (2, 3), (2,)]
    np.testing.assert_allclose(network(torch.from_numpy(tokens())).detach(), dense(tokens(), weights))


def test_deep_sets() -> None:
    network = DeepSets(2, 4, 3, 2, GENERATOR)
    weights = set_by_hand(network)
    assert [w.shape for w in weights[::2]] == [(4, 2), (4, 4), (4, 4), (4, 4), (4, 4), (4, 4), (2, 4)]
    phi = np.maximum(dense(tokens(), weights[:6]), 0.0)
    means = np.array([phi[a:b].mean(axis=0) for a, b in pairwise(OFFSETS)])
    found = network(torch.from_numpy(tokens()), torch.from_numpy(OFFSETS)).detach()
    np.testing.assert_allclose(found, dense(means, weights[6:]))


def test_multi_hot() -> None:
    network = MultiHot(3, 2, "mean", 4, 2, 1, GENERATOR)
    embedding, *weights = set_by_hand(network)
    means = np.array([(embedding[0] + embedding[2]) / 2, np.zeros(2), embedding[1]])
    found = network(torch.tensor([0, 2, 1]), torch.tensor([0, 2, 2, 3])).detach()
    np.testing.assert_allclose(found, dense(means, weights))


def test_the_mean_has_the_right_gradient() -> None:
    values = torch.from_numpy(tokens()).requires_grad_()
    offsets = torch.from_numpy(OFFSETS)
    expected = torch.stack([values[a:b].mean(dim=0) for a, b in pairwise(OFFSETS)])
    torch.testing.assert_close(segment_mean(values, offsets), expected)
    assert torch.autograd.gradcheck(lambda v: segment_mean(v, offsets), values)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_order_of_tokens_does_not_matter(dtype: Any) -> None:
    network = DeepSets(2, 8, 3, 1, GENERATOR).to(dtype)
    order = np.array([1, 0, 2, 6, 4, 3, 5])
    values, offsets = torch.from_numpy(tokens()).to(dtype), torch.from_numpy(OFFSETS)
    torch.testing.assert_close(network(values[order], offsets), network(values, offsets))


def test_batches_and_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = RaggedInput(tokens(), OFFSETS)
    values, offsets = examples.batch(np.array([2, 0]))
    np.testing.assert_array_equal(values, tokens()[[3, 4, 5, 6, 0, 1]])
    assert offsets.tolist() == [0, 4, 6]
    monkeypatch.setattr("clearset.baselines._network_inputs.PIECE_VALUES", 6)
    assert [piece.tolist() for piece in examples.pieces(np.array([0, 1, 2, 1, 0]))] == [[0, 1], [2], [1, 0]]
