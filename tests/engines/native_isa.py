"""The native kernels against the torch reference, under the instruction set that CLEARSET_ISA names.

Run as a script, it writes the instruction set in force; the tests run it once for each.
"""

from importlib import import_module

import numpy as np

from clearset.functions import Layout

from .kernel_problems import CrossedProblem, PhiProblem, assert_close, assert_same_bits, torch

LAYOUTS = (
    Layout.full((2, 2, 2)),
    Layout.full((3, 2, 4)),
    Layout.full((2, 2, 3, 2, 2, 2, 3)),
    Layout.full((5, 4)),
    Layout((2, 3, 2, 2), ((0, 2, 3), (3, 1), (2,))),
)
SET_SIZES = [1, 2, 3, 7, 40, 300] * 15  # several slices, so that threads have something to share


def problems(dtype):
    for seed, layout in enumerate(LAYOUTS):
        yield PhiProblem.random(seed, layout, 3, SET_SIZES, dtype)
        yield PhiProblem.random(seed, layout, 2, SET_SIZES, dtype, most_slots=50)
    for seed, (features, classes) in enumerate([(1, 1), (3, 2), (4, 20)]):
        # Away from borders, where rounding decides which side a value is on.
        yield CrossedProblem.random(
            seed, D=features, C=classes, K=2, V=9, set_sizes=SET_SIZES, borders=False, dtype=dtype
        )


def main():
    torch.set_num_threads(1)
    for dtype, tolerance in ((np.float64, 1e-10), (np.float32, 2e-4)):
        for problem in problems(dtype):
            alone = problem.solve("native", threads=1)
            assert_close(alone, problem.solve("torch"), tolerance)
            for threads in (2, 5):
                assert_same_bits(problem.solve("native", threads=threads), alone)
    print(import_module("clearset._native").instruction_set())


if __name__ == "__main__":
    main()
