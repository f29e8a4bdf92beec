"""Beginning where each correction has many examples: with a linear model of the tokens, written as corrections."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from clearset.engines import TrainingSets
from clearset.functions import Loss, SetFunction
from clearset.sets import Binning, CrossedBlocks, CrossedPositions, Trust
from clearset.training._initial_tokens import NUMBER, POWERS, beginnings, place_of_neutral

FloatArray = npt.NDArray[np.float64]

# Losses of which linear models are found.
LINEAR = ("log_loss", "squared_error")
# So many examples for each correction are many: a linear model of the tokens is found almost without chance. Its
# curvature is a matrix of all corrections.
MANY, MOST_EFFECTS = 100, 2000
# What is known of tokens besides: what people add to it may say more than the tokens themselves.
USUAL = {"count", "entropy", "size", "items", "tokens", "kind"}
# So large a share of the tokens may have no correction, as those that are frequent enough in some folds only.
UNCORRECTED = 0.02
# Tokens that are looked at, at most: for the power of their number, and then for the corrections.
FEW_TOKENS, MOST_TOKENS = 400_000, 8_000_000
# What is added to the information of each token's effect.
RIDGE = 2.0
# Steps of the search, at most; in which of them curvature is found again, by how many sets, and what is added to that
# of the height; the shortest part of a step.
STEPS, RENEWED, CURVATURE_SETS, LEAST_RIDGE, SHORTEST = 25, (0, 2, 5), 10_000, 1e-3, 1e-3
# The share of the loss that is worth another step: for the power, and for the corrections.
ROUGHLY, CLOSELY = 1e-3, 1e-5
# Scores differ between tokens of one value by so small a share of what they differ by between values: enough for
# several scores to come to differ.
OTHERS = 1e-4
# Corrected values stay so far inside of the keypoints, as a share of their distance, that training can move them.
ROOM = 0.05


@dataclass(frozen=True, eq=False)
class _Linear:
    """Sets of corrected tokens, as a linear model sees them."""

    counts: sparse.csr_array  # how often a set has each token
    n_tokens: FloatArray  # of each set
    values: FloatArray  # of each token, the mean over its occurrences, counted from the first keypoint to the last
    distance: float  # from the first keypoint to the last
    labels: FloatArray
    weights: FloatArray
    of_classes: bool  # whether labels are 0 and 1, and outputs log-odds

    @classmethod
    def of(cls, data: TrainingSets, loss: Loss, n_corrections: int) -> "_Linear | None":
        """Look at sets, those that stand first where there are many; None where many tokens have no correction."""
        counts, sizes, seen = [], [], np.zeros((2, n_corrections))
        distance, n_sets, n_tokens, n_uncorrected = 1.0, 0, 0, 0
        for piece in data.pieces():
            placed = piece.placed if piece.chosen is None else piece.placed.take(piece.chosen)
            assert isinstance(placed, CrossedPositions)  # noqa: S101
            known = placed.corrected >= 0
            corrected = placed.corrected[known]
            rows = np.repeat(np.arange(len(placed)), np.diff(placed.offsets))[known]
            shape = (len(placed), n_corrections)
            counts.append(sparse.csr_array((np.ones(len(corrected)), (rows, corrected)), shape=shape))
            sizes.append(np.diff(placed.offsets))
            for sums, amounts in zip(seen, (None, placed.values[placed.rows[known], 0]), strict=True):
                sums += np.bincount(corrected, amounts, n_corrections)
            n_uncorrected += int(np.count_nonzero((placed.rows >= 0) & ~known))
            distance = float(placed.keypoints[-1])
            n_sets, n_tokens = n_sets + len(placed), n_tokens + placed.n_tokens
            if n_tokens >= MOST_TOKENS:
                break
        if n_uncorrected > UNCORRECTED * n_tokens:
            return None
        labels, of_classes = data.targets[:n_sets], loss.name == "log_loss"
        return cls(
            sparse.vstack(counts).tocsr(),
            np.concatenate(sizes).astype(np.float64),
            seen[1] / np.maximum(seen[0], 1.0) / distance,
            distance,
            (labels > 0).astype(np.float64) if of_classes else labels,
            data.weights[:n_sets],
            of_classes,
        )

    def few(self) -> "_Linear":
        """Return some of the sets."""
        some = slice(None, None, max(self.counts.nnz // FEW_TOKENS, 1))
        taken = (self.counts[some], self.n_tokens[some]), (self.labels[some], self.weights[some])
        return _Linear(*taken[0], self.values, self.distance, *taken[1], self.of_classes)

    def solved(self, power: float, tolerance: float) -> tuple[float, FloatArray, float]:
        """Return the loss, the effects and the height where each set counts times a power of its tokens.

        Found by steps of Newton's method, whose curvature is that of some of the sets, until a step lowers the loss by
        no more than a share of it.
        """
        times = self.n_tokens ** (power - 1.0)
        usual = float(times.mean())
        times /= usual
        ridge = np.append(np.full(self.counts.shape[1], RIDGE), 0.0)  # the height is the last
        some = slice(None, None, max(len(times) // CURVATURE_SETS, 1))
        columns = sparse.diags_array(times[some]) @ self.counts[some]

        def penalised(outputs: FloatArray, effects: FloatArray) -> float:
            if self.of_classes:
                losses = np.logaddexp(0.0, outputs) - self.labels * outputs
            else:
                losses = (outputs - self.labels) ** 2 / 2.0
            return float(self.weights @ losses + ridge @ effects**2 / 2.0)

        effects, outputs = np.zeros(len(ridge)), np.zeros(len(times))
        reached = penalised(outputs, effects)
        for step in range(STEPS):
            means = expit(outputs) if self.of_classes else outputs
            if step in RENEWED:
                information = self.weights * (means * (1.0 - means) if self.of_classes else 1.0)
                curvature = _curvature(columns, information[some], ridge, len(times))
            residuals = self.weights * (means - self.labels)
            slopes = np.append(self.counts.T @ (times * residuals), residuals.sum()) + ridge * effects
            way = -cho_solve(curvature, slopes)
            along, share = times * (self.counts @ way[:-1]) + way[-1], 1.0
            while (now := penalised(outputs + share * along, effects + share * way)) > reached and share > SHORTEST:
                share /= 2.0
            if not now < reached:
                break
            gained, reached = reached - now, now
            outputs, effects = outputs + share * along, effects + share * way
            if gained < tolerance * reached:
                break
        return reached, effects[:-1] / usual, float(effects[-1])


def _curvature(
    columns: sparse.csr_array, information: FloatArray, ridge: FloatArray, n_sets: int
) -> tuple[FloatArray, bool]:
    """Return the factors of the curvature of all sets, found by some of them."""
    dense = np.ones((columns.shape[0], len(ridge)), np.float32)
    dense[:, :-1] = columns.toarray()
    dense *= np.sqrt(information)[:, None].astype(np.float32)
    curvature = (dense.T @ dense).astype(np.float64) * (n_sets / len(dense))
    curvature[np.diag_indices_from(curvature)] += np.maximum(ridge, LEAST_RIDGE)
    factors, lower = cho_factor(curvature)
    return np.asarray(factors), bool(lower)


def are_many(n_examples: int, n_corrections: int) -> bool:
    """Return whether there are many examples for each correction.

    Examples
    --------
    >>> are_many(100_000, 1000), are_many(100_000, 1001), are_many(100_000, 0)
    (True, False, False)
    """
    return 0 < n_corrections <= min(n_examples // MANY, MOST_EFFECTS)


def first_corrections(
    initial: SetFunction,
    binning: Binning,
    trusts: tuple[Trust, ...],
    neutral: float,
    data: TrainingSets,
    loss: Loss,
    n_corrections: int,
) -> SetFunction | None:
    """Return a set function that is a linear model of the tokens: their values, corrected, count by their number.

    Where there are many examples for each token the model hardly depends on chance, and what is known of a token
    besides is of little use: to learn first what values are worth, and then how they are wrong, takes many steps more.
    It is a set function: of the product of value and a power of the number of tokens, the one of least loss.

    Parameters
    ----------
    initial : SetFunction
        Initial values of tokens crossed with classes, whose first feature is the value.
    binning : Binning
        The features and their keypoints.
    trusts : tuple of Trust
        Which features say how far to trust which.
    neutral : float
        The value of a token that makes no difference.
    data : TrainingSets
        Labelled sets with one output, in random order where they are many.
    loss : Loss
        What to minimise.
    n_corrections : int
        The number of tokens that have a correction.

    Returns
    -------
    SetFunction or None
        The function; None where there are few examples for a correction, tokens without one, or features that are
        declared or not the usual ones.
    """
    one_output = isinstance(data.positions, CrossedPositions | CrossedBlocks) and data.positions.n_classes == 1
    plain = not trusts and all(feature.name in USUAL and not feature.direction for feature in binning.features[1:])
    if loss.name not in LINEAR or not one_output or not plain or not are_many(len(data), n_corrections):
        return None
    begun = dict(zip(POWERS, beginnings(_even(initial), binning, trusts, neutral), strict=False))
    linear = _Linear.of(data, loss, n_corrections)
    if linear is None:
        return None
    few = linear.few()
    power = min(begun, key=lambda power: few.solved(power, ROUGHLY)[0])
    return _written(begun[power], binning, power, place_of_neutral(binning, neutral), linear)


def _even(function: SetFunction) -> SetFunction:
    """Return initial values that hardly depend on anything but the value."""
    vertices = function.vertices.reshape(len(function.vertices), 2, -1)
    steep = (vertices[:, 1] - vertices[:, 0]).mean(axis=1)[:, None, None]
    alone = steep * np.array([-0.5, 0.5])[None, :, None]
    return replace(function, vertices=(alone + OTHERS * (vertices - alone)).reshape(function.vertices.shape))


def _written(
    function: SetFunction, binning: Binning, power: float, middle: float, linear: _Linear
) -> SetFunction | None:
    """Return the linear model as a set function whose scores are (value - middle) * (number / its last) ** power."""
    _, effects, height = linear.solved(power, CLOSELY)
    vertices = function.vertices.reshape(len(function.vertices), 2, -1)
    steep = float((vertices[:, 1, -1] - vertices[:, 0, -1]).mean())
    names = [feature.name for feature in binning.features]
    if power:
        numbers = binning.keypoints[names.index(NUMBER)]
        assert numbers is not None  # noqa: S101
        effects = effects * max(float(numbers[-1]), 1.0) ** power
    effects = effects / steep
    # The flattest output, for which corrected values fill the keypoints: what differs between folds says least then.
    slope = 0.0
    for way, room in ((1.0, 1.0 - middle - ROOM), (-1.0, middle - ROOM)):
        furthest = float((way * effects).max())
        if furthest > 0.0:
            if room <= 0.0:
                return None
            slope = max(slope, furthest / room)
    if slope <= 0.0:
        return None
    values = linear.values - middle
    corrections = (effects / slope - values) * linear.distance
    if not power:
        height += slope * steep * (0.5 - middle)
    calibration = function.calibration.copy()
    calibration[:, binning.slots_of(names[0]).stop] = middle  # a missing value makes no difference
    written = replace(function, calibration=calibration, corrections=corrections[:, None])
    return written.rescaled(height, slope)
