"""Initial values of the trainings of one fit: near what least squares say before any training."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from clearset.engines import TrainingSets, engine
from clearset.functions import SetFunction
from clearset.training._first_look import FirstLook
from clearset.training._first_shapes import with_first_shapes
from clearset.training._fitting import Fitting
from clearset.training._initial import initial_set_function, leanings
from clearset.training._looks import some_sets

FloatArray = npt.NDArray[np.float64]

# So many sets say which way the label goes with a feature, and how far.
LEANING_SETS = 10_000
# The first slope of the output is this power of the one of least loss, divided by the width: the steeper it is, the
# less scores that bend cost, and the less well several scores come to differ.
OUTPUT_SLOPE = 0.7


@dataclass(frozen=True, eq=False)
class Beginnings:
    """What initial values are made of."""

    fitting: Fitting  # what is to be trained
    sets: TrainingSets  # labelled sets
    targets: FloatArray  # (n, C) what each output is to go with
    leanings: FloatArray  # (C, D) how it goes with each feature
    look: FirstLook | None  # which bends and pairs the labels show, if they show any
    free: npt.NDArray[np.bool_]  # (D,) the features of which nothing is declared

    @classmethod
    def of(
        cls, fitting: Fitting, sample: TrainingSets, outputs: int, look: FirstLook | None, free: npt.NDArray[np.bool_]
    ) -> "Beginnings":
        """Look at some of the sets of a sample."""
        some = sample.take(some_sets(len(sample), LEANING_SETS))
        targets = output_targets(some, outputs)
        leaning = leanings(fitting.binning, some.placed, targets, some.weights, fitting.n_sets)
        return cls(fitting, some, targets, leaning, look, free)

    def drawn(self, least_share: float) -> SetFunction:
        """Return initial values, whose slopes are shares of those of least squares that are drawn from least to 1."""
        fitting, sets = self.fitting, self.sets
        initial = initial_set_function(
            fitting.binning, fitting.layout, self.leanings, **fitting.sizes, rng=fitting.rng, least_share=least_share
        )
        if self.look is not None:
            initial = with_first_shapes(
                initial, self.look, self.free, fitting.binning, sets, self.targets, fitting.n_sets
            )
        threads = fitting.options.threads
        # Each output is 0 on average; a shift that is found later is the same for all classes.
        outputs = engine().outputs(initial.astype(sets.dtype), sets.placed, threads).astype(np.float64)
        centres = np.round(np.average(outputs, axis=0, weights=sets.weights), 6)
        initial = replace(initial, rho_output=initial.rho_output - centres[:, None])
        slope, shift = engine().output_line(initial, sets, np.arange(len(sets)), fitting.unit.loss, threads)
        # Training makes much of the last bits, which are not the same for weights as for repetitions.
        return initial.rescaled(round(shift, 6), round(slope ** (OUTPUT_SLOPE / fitting.options.width), 6))


def output_targets(sets: TrainingSets, outputs: int) -> FloatArray:
    """Return ``(B, C)`` centred, weighted targets: the labels, or for each class whether it is the label."""
    targets = sets.targets[:, None]
    if outputs > 1:
        targets = (targets == np.arange(outputs)).astype(np.float64)
    mean = np.average(targets, axis=0, weights=sets.weights)
    return np.asarray(sets.weights[:, None] * (targets - mean))
