"""Score with `clearset.runtime` alone: run by `benchmarks.runtime` where nothing but numpy and clearset is installed.

Arguments: ``score`` for all models of a folder, or the name of the one to time; and the folder with models and sets.
"""

import json
import os
import sys
import time
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2])
    start = time.perf_counter()
    import numpy as np

    numpy = time.perf_counter()
    from clearset import runtime

    imported = time.perf_counter()
    if what == "score":
        for path in sorted(folder.glob("*.runtime")):
            scorer, sets = runtime.load(path), json.loads(path.with_suffix(".json").read_text())
            explained = scorer.explain(sets)
            estimates, contributions = scorer.estimates(sets), explained.contributions
            np.savez(path.with_suffix(".npz"), estimates=estimates, contributions=contributions)
        others = {"pyarrow", "scipy", "sklearn", "pandas", "safetensors", "narwhals"} & set(sys.modules)
        assert not others, others
    else:
        scorer = runtime.load(folder / f"{what}.runtime")
        loaded = time.perf_counter()
        sets = json.loads((folder / f"{what}.json").read_text())
        memory = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        one = {name: column[:1] for name, column in sets.items()} if isinstance(sets, dict) else sets[:1]
        seconds = {"numpy": numpy - start, "import": imported - numpy, "load": loaded - imported}
        calls: dict[str, Callable[[], object]] = {
            "predict one": partial(scorer.estimates, one),
            "predict all": partial(scorer.estimates, sets),
            "explain one": partial(scorer.explain, one),
            "explain all": partial(scorer.explain, sets),
        }
        for name, call in calls.items():
            seconds[name] = min(timeit.repeat(call, number=1, repeat=20 if name.endswith("one") else 3))
        print(json.dumps({"memory": memory, **seconds}))
