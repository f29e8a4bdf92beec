"""phi for many classes: one feature has a value per class, the others are shared."""

from __future__ import annotations

import torch
from torch import Tensor

from clearset.engines.torch._dispatch import choose_kernel
from clearset.engines.torch._inputs import CrossedInputs, CrossedTokens
from clearset.functions import Layout


def crossed_mean(inputs: CrossedInputs, *, threads: int = 1, kernel: str | None = None) -> Tensor:
    """Score every token of the chosen sets for every class, and take the mean over each set.

    Feature 0 of the layout is crossed: a token has a value of it for each of C classes. All other features are the
    same for all classes, so that for one token and output the lattice folds to a line over the calibrated value.

    Parameters
    ----------
    inputs : CrossedInputs
        The tokens, which sets of them to read, and the tables.
    threads : int, default=1
        Threads of the native kernel. The result has the same bits for any number of them.
    kernel : {"native", "reference"}, optional
        By default the fastest one that can take the tensors.

    Returns
    -------
    Tensor of shape (b, C, K)
        Differentiable in `calibration`, `vertices` and `corrections`. The gradient through a clamped value is 0.

    Examples
    --------
    Two classes, no plain feature, keypoints at 0 and 10; the second set's only token has no value:

    >>> from clearset.functions import Layout
    >>> tokens = CrossedTokens(
    ...     slots=torch.empty((0, 3), dtype=torch.int32),
    ...     fractions=torch.empty((0, 3)),
    ...     offsets=torch.tensor([0, 2, 3]),
    ...     rows=torch.tensor([0, 1, -1], dtype=torch.int32),
    ...     corrected=torch.tensor([-1, -1, -1], dtype=torch.int32),
    ... )
    >>> inputs = CrossedInputs(
    ...     tokens,
    ...     sets=torch.tensor([0, 1]),
    ...     values=torch.tensor([[0.0, 10.0], [5.0, 25.0]]),
    ...     corrections=None,
    ...     keypoints=torch.tensor([0.0, 10.0]),
    ...     calibration=torch.tensor([[0.0, 1.0, 0.5]]),
    ...     vertices=torch.tensor([[-1.0, 1.0]]),
    ...     layout=Layout.full((2,)),
    ... )
    >>> crossed_mean(inputs)[:, :, 0]
    tensor([[-0.5000,  1.0000],
            [ 0.0000,  0.0000]])
    """
    _check(inputs, threads)
    return choose_kernel(kernel, inputs.calibration.device).crossed_mean(inputs, threads)


def crossed_scores(inputs: CrossedInputs, *, threads: int = 1, kernel: str | None = None) -> Tensor:
    """Score every token of the chosen sets for every class.

    Parameters and gradients are those of `crossed_mean`.

    Returns
    -------
    Tensor of shape (N, C, K)
        The scores of the N tokens of the chosen sets, set after set.
    """
    _check(inputs, threads)
    return choose_kernel(kernel, inputs.calibration.device).crossed_scores(inputs, threads)


def _check(inputs: CrossedInputs, threads: int) -> None:
    """Raise the error that says what does not fit, if something does not; what tokens hold is left to the kernel."""
    tokens, sets, values, corrections, keypoints, calibration, vertices, layout = inputs
    if threads < 1:
        raise ValueError(f"threads is {threads}; it must be at least 1.")
    if layout != Layout.full((2,) * layout.n_features):
        raise ValueError(
            f"layout has the sizes {layout.sizes} and the subsets {layout.subsets}; with classes it must be the full "
            f"lattice of size 2 in every feature, Layout.full({(2,) * layout.n_features})."
        )
    floats = {
        "fractions": tokens.fractions,
        "values": values,
        "keypoints": keypoints,
        "calibration": calibration,
        "vertices": vertices,
    }
    if corrections is not None:
        floats["corrections"] = corrections
    _check_dtypes(tokens, sets, floats)
    devices = {str(tensor.device) for tensor in (*tokens, sets, *floats.values())}
    if len(devices) > 1:
        raise ValueError(
            f"Tensors are on {sorted(devices)}; move tokens, tables and parameters to one device."
        )
    _check_token_shapes(tokens, sets, layout.n_features - 1)
    _check_table_shapes(values, corrections, keypoints, calibration, vertices, layout.n_vertices)


def _check_dtypes(tokens: CrossedTokens, sets: Tensor, floats: dict[str, Tensor]) -> None:
    small, large = (tokens.slots, tokens.rows, tokens.corrected), (tokens.offsets, sets)
    if {t.dtype for t in small} != {torch.int32} or {t.dtype for t in large} != {torch.int64}:
        raise TypeError(
            f"slots, rows, corrected, offsets and sets are {', '.join(str(t.dtype) for t in (*small, *large))}; "
            "the first three must be torch.int32, the last two torch.int64."
        )
    dtypes = {tensor.dtype for tensor in floats.values()}
    if len(dtypes) > 1 or not dtypes <= {torch.float32, torch.float64}:
        received = ", ".join(f"{name} {tensor.dtype}" for name, tensor in floats.items())
        raise TypeError(
            f"Received {received}; all must be torch.float32 or all torch.float64. Convert with .to(dtype)."
        )


def _check_token_shapes(tokens: CrossedTokens, sets: Tensor, n_plain: int) -> None:
    shape = (n_plain, tokens.rows.shape[0]) if tokens.rows.ndim == 1 else None
    if not (
        tokens.slots.shape == tokens.fractions.shape == shape and tokens.corrected.shape == tokens.rows.shape
    ):
        shapes = [tuple(t.shape) for t in (tokens.slots, tokens.fractions, tokens.rows, tokens.corrected)]
        raise ValueError(
            f"slots, fractions, rows and corrected have the shapes {', '.join(map(str, shapes))}; with the layout's "
            f"{n_plain} plain features they must be ({n_plain}, T) twice and (T,) twice, for T tokens."
        )
    if tokens.offsets.ndim != 1 or tokens.offsets.shape[0] == 0 or sets.ndim != 1:
        raise ValueError(
            f"offsets and sets have the shapes {tuple(tokens.offsets.shape)} and {tuple(sets.shape)}; "
            "they must be (number of sets + 1,) and (number of chosen sets,)."
        )


def _check_table_shapes(
    values: Tensor,
    corrections: Tensor | None,
    keypoints: Tensor,
    calibration: Tensor,
    vertices: Tensor,
    n_vertices: int,
) -> None:
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"values have the shape {tuple(values.shape)}; it must be (rows, classes).")
    if corrections is not None and (corrections.ndim != 2 or corrections.shape[1] != values.shape[1]):
        raise ValueError(
            f"corrections have the shape {tuple(corrections.shape)}; with values {tuple(values.shape)} "
            f"it must be (rows, {values.shape[1]})."
        )
    if keypoints.ndim != 1 or len(keypoints) < 2 or not bool((keypoints.diff() > 0).all()):
        raise ValueError(
            f"keypoints must be at least 2, each larger than the one before; received {keypoints}."
        )
    if calibration.ndim != 2 or calibration.shape[1] <= len(keypoints):
        raise ValueError(
            f"calibration has the shape {tuple(calibration.shape)}; it must be (outputs, slots) with at least "
            f"{len(keypoints) + 1} slots: one per keypoint and one for missing values."
        )
    if vertices.shape != (len(calibration), n_vertices):
        raise ValueError(
            f"vertices have the shape {tuple(vertices.shape)}; with calibration {tuple(calibration.shape)} "
            f"and the layout's {n_vertices} vertices it must be {(len(calibration), n_vertices)}."
        )
