"""Fits a set function on a folder of Parquet files, alone or together with other processes, and writes what it is.

Run as a script with the folder, the file to write, and parameters of the estimator as JSON; with ``"die"`` among these,
the process of this rank kills itself in the middle of training.
"""

import json
import os
import signal
import sys
import warnings
from contextlib import nullcontext

import numpy as np

import clearset as cs
from clearset.engines import OneProcess, started_by_torchrun

warnings.simplefilter("ignore")


def main(folder: str, path: str, parameters: str) -> None:
    given = json.loads(parameters)
    classifies, dying = given.pop("classifies", False), given.pop("die", None)
    given = {"early_stopping": True, **given}
    estimator = (cs.SetClassifier if classifies else cs.SetRegressor)(["x0", "x1", "shop"], n_jobs=1, **given)
    estimator.features = [cs.Feature("x0", monotonic="increasing"), "x1", cs.Feature("shop", kind="categorical")]
    if classifies:
        estimator.features[0] = "x0"
    with several() as processes:
        if dying is not None and processes.rank == dying:
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            signal.setitimer(signal.ITIMER_REAL, 1.0)
        estimator.fit(folder, "label", sample_weight="weight")
    if processes.rank == 0:
        function = estimator.set_function_
        losses = [entry["validation_loss"] for entry in estimator.history_]
        np.savez(path, **function.tables, base=function.support.base, counts=function.support.counts, losses=losses)


def several():
    return cs.several_processes() if started_by_torchrun() else nullcontext(OneProcess())


if __name__ == "__main__":
    main(*sys.argv[1:])
