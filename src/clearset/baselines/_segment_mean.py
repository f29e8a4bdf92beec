"""The mean over each set's tokens, in torch."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


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
