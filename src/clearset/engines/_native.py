"""The engine in C++: set functions are applied without torch."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from clearset.engines import _native_calls as native
from clearset.engines._engine import Engine
from clearset.functions import Rho, SetFunction
from clearset.sets import CrossedPositions, Positions

FloatArray = npt.NDArray[np.float64]


class NativeEngine(Engine):
    """Applies set functions in C++; results have the same bits for any number of threads."""

    def _means(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray:
        calibration, vertices = function.calibration, function.vertices
        if isinstance(sets, CrossedPositions):
            chosen = np.arange(len(sets))
            return native.crossed_mean(sets, chosen, function.corrections, calibration, vertices, threads)
        means = native.phi_mean(sets, calibration, vertices, function.layout, threads)
        return means.reshape(len(means), function.outputs, function.width)

    def _scores(self, function: SetFunction, sets: Positions | CrossedPositions, threads: int) -> FloatArray:
        # They are the means of sets of one token each.
        return self._means(function, replace(sets, offsets=np.arange(sets.n_tokens + 1)), threads)

    def _rho(self, rho: Rho, rows: FloatArray) -> FloatArray:
        return native.rho(rows, rho.calibrators, rho.vertices, rho.output)
