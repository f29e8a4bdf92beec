"""The networks: fully connected, Deep Sets, and an embedding of categories."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# Spread of the embedding's first values: small, so that what a category means comes from the labels.
EMBEDDING_SCALE = 0.05


class Hidden(nn.Module):
    """Fully connected layers, each followed by ReLU; `sizes` holds the number of inputs, then of each layer's units.

    The initial weights are uniform, of a variance that keeps that of the signal (He et al., 2015).
    """

    def __init__(self, sizes: Sequence[int], generator: torch.Generator) -> None:
        super().__init__()
        self.layers = nn.ModuleList([_linear(a, b, (6.0 / a) ** 0.5, generator) for a, b in pairwise(sizes)])

    def forward(self, values: Tensor) -> Tensor:
        """Return the last layer's units."""
        for layer in self.layers:
            # In place: the gradient of a linear layer does not need its output.
            values = functional.relu_(layer(values))
        return values


class FullyConnected(nn.Module):
    """Hidden layers of these `sizes`, and a linear output; without hidden layers a linear model."""

    def __init__(self, sizes: Sequence[int], n_outputs: int, generator: torch.Generator) -> None:
        super().__init__()
        self.hidden = Hidden(sizes, generator)
        self.output = _linear(sizes[-1], n_outputs, (3.0 / sizes[-1]) ** 0.5, generator)

    def forward(self, values: Tensor) -> Tensor:
        """Return the outputs of each row."""
        outputs: Tensor = self.output(self.hidden(values))
        return outputs


class DeepSets(nn.Module):
    """rho(mean over the tokens of phi(token)); phi's last hidden layer is what is averaged.

    A linear output layer of phi would add nothing: a linear map of a mean is the mean of the maps, and rho begins with
    a linear map.
    """

    def __init__(
        self, n_inputs: int, width: int, hidden_layers: int, n_outputs: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.phi = Hidden([n_inputs] + [width] * hidden_layers, generator)
        self.rho = FullyConnected([width] * (hidden_layers + 1), n_outputs, generator)

    @property
    def output(self) -> nn.Linear:
        """The last layer."""
        return self.rho.output

    def forward(self, values: Tensor, offsets: Tensor) -> Tensor:
        """Return the outputs of each set."""
        outputs: Tensor = self.rho(segment_mean(self.phi(values), offsets))
        return outputs


class MultiHot(nn.Module):
    """The sum or mean of the embeddings of an example's categories, and fully connected layers; none are zeros."""

    def __init__(
        self,
        n_categories: int,
        embedding: int,
        combiner: str,
        width: int,
        hidden_layers: int,
        n_outputs: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        table = torch.empty(n_categories, embedding).uniform_(-EMBEDDING_SCALE, EMBEDDING_SCALE, generator=generator)
        self.embedding = nn.Parameter(table)
        self.combiner = combiner
        self.dense = FullyConnected([embedding] + [width] * hidden_layers, n_outputs, generator)

    @property
    def output(self) -> nn.Linear:
        """The last layer."""
        return self.dense.output

    def forward(self, categories: Tensor, offsets: Tensor) -> Tensor:
        """Return the outputs of each example."""
        combined = functional.embedding_bag(
            categories, self.embedding, offsets, mode=self.combiner, include_last_offset=True
        )
        outputs: Tensor = self.dense(combined)
        return outputs


def _linear(n_inputs: int, n_outputs: int, bound: float, generator: torch.Generator) -> nn.Linear:
    # Made without torch's own initial values, which would draw from the generator that users may have seeded.
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, n_inputs, n_outputs)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=generator)
        # Not 0: the units of few inputs would all bend at one place.
        layer.bias.uniform_(-(n_inputs**-0.5), n_inputs**-0.5, generator=generator)
    return layer


class _SegmentMean(torch.autograd.Function):
    """Sums by an embedding bag whose table are the tokens themselves: of torch's ways the quickest by far.

    Its own gradient would count how often each row of the table was used; here that is once, so that the gradient is a
    copy of each set's, divided by its size.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, offsets: Tensor) -> Tensor:
        sizes = torch.diff(offsets)
        share = (1.0 / sizes.to(values.dtype)).unsqueeze(1)
        ctx.save_for_backward(sizes, share)
        places = torch.arange(len(values))
        sums = functional.embedding_bag(places, values, offsets, mode="sum", include_last_offset=True)
        return sums * share

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        sizes, share = ctx.saved_tensors
        sets = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        return (gradients[0] * share).index_select(0, sets), None


def segment_mean(values: Tensor, offsets: Tensor) -> Tensor:
    """Return the ``(B, K)`` means of ``(T, K)`` values over the tokens of each set, of which none is empty.

    Examples
    --------
    >>> segment_mean(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 2, 3]))
    tensor([[2.],
            [5.]])
    """
    means: Tensor = _SegmentMean.apply(values, offsets)  # type: ignore[no-untyped-call]
    return means
