"""A good call of every function and method of the compiled module."""

from typing import Any

import numpy as np
import pyarrow as pa

from .native_arguments import (
    LAYOUT,
    N_TOKENS,
    PRECISIONS,
    TRAINERS,
    Made,
    crossed_arguments,
    ints,
    longs,
    phi_arguments,
    rho_arguments,
)
from .native_trainer_arguments import PACE, trainer_arguments, trainer_methods

SCHEMA, BATCH = pa.record_batch({"x": [[1.0, 2.0], [], [3.0]]}).__arrow_c_array__()
TEXT = np.frombuffer(b"abc", np.uint8)
VOCABULARY = {"bytes": TEXT, "offsets": longs(0, 2, 3)}

GOOD: dict[str, dict[str, Any]] = {
    "instruction_set": {},
    "PhiLayout": LAYOUT.arguments,
    "project_chains": {
        "values": np.zeros((2, 5)),
        "starts": longs(0, 3),
        "stops": longs(2, 5),
        "lower": -1.0,
        "upper": 1.0,
    },
    "project_half_spaces": {
        "values": np.array([[3.0, 2.0, 1.0]]),
        "duals": np.zeros((1, 2)),
        "indices": ints([0, 1], [1, 2]),
        "coefficients": np.array([[-0.6, 0.8], [-0.6, 0.8]]),
        "lower": -np.inf,
        "upper": np.inf,
        "tolerance": 1e-9,
        "max_sweeps": 100,
    },
    "mine_tokens": {
        "codes": ints(0, 1, 2, 1, 2, 2),
        "offsets": longs(0, 3, 5, 6),
        "channels": ints(0, 1, 1),
        "n_channels": 2,
        "adding": np.ones((3, 1)),
        "ngrams": False,
        "boundary": -1,
        "max_items": 3,
        "min_count": 1,
        "limit": 100,
        "threads": 2,
        "on_progress": None,
    },
    "list_columns": {"schema": SCHEMA, "array": BATCH},
    "Vocabulary": VOCABULARY,
    "Vocabulary.encode": {
        "self": Made("Vocabulary", VOCABULARY),
        "bytes": TEXT,
        "offsets": longs(0, 2, 3),
        "rows": longs(0, 2),
        "in_order": False,
    },
    "Vocabulary.encode_lists": {"self": Made("Vocabulary", VOCABULARY), "rows": [["ab", "z"], []]},
    # The tree of the tokens 0, 1, 2, 01, 12 and 012; items below 3.
    "find_tokens": {
        "codes": ints(0, 1, 2, 1, 2, 2),
        "offsets": longs(0, 3, 5, 6),
        "views": ints(0, 0, 0, dtype=np.uint8),
        "items": ints(0, 1, 2, 1, 2, 2),
        "child_offsets": ints(3, 4, 5, 5, 6, 6, 6),
        "masks": np.ones(6, np.uint32),
        "first": ints(0, 1, 2),
        "n_codes": 3,
        "ngrams": False,
        "cover": True,
        "limit": 100,
        "threads": 2,
    },
}
GOOD["Pace"] = PACE
GOOD["losses"] = {"name": "log_loss", "quantile": 0.5, "outputs": np.zeros((2, 3)), "targets": np.array([0.0, 2.0])}
GOOD["place_values"] = {
    "values": np.linspace(-1.0, 4.0, N_TOKENS),
    "keypoints": np.arange(4.0),
    "first_slot": 5,
    "slots": np.zeros(N_TOKENS, np.int32),
    "fractions": np.zeros(N_TOKENS),
}
GOOD["ValueColumn"] = {
    "values": np.linspace(-1.0, 4.0, 6),
    "per_set": False,
    "keypoints": np.arange(4.0),
    "slots_of_codes": None,
    "first_slot": 0,
    "missing_slot": 4,
}
GOOD["means_of_values"] = {
    "layout": Made("PhiLayout", {"sizes": [2, 2], "subsets": [[0, 1]]}),
    "calibration": np.linspace(0.0, 1.0, 10).reshape(1, 10),
    "vertices": np.array([[-1.0, 0.0, 0.5, 1.0]]),
    "columns": [
        Made("ValueColumn", GOOD["ValueColumn"]),
        Made("ValueColumn", {**GOOD["ValueColumn"], "first_slot": 5, "missing_slot": 9}),
    ],
    "offsets": longs(0, 3, 3, 6),
    "threads": 2,
    "means": np.zeros((3, 1)),
}
CODING = {"first_slots": ints(0, 3), "bits": ints(2, 1)}
GOOD["pack_sets"] = {
    "slots": ints([0, 1, 2, 0, 1, 2], [3, 4, 3, 4, 3, 4]),
    "fractions": np.linspace(0.0, 1.0, 12, dtype=np.float32).reshape(2, 6),
    "offsets": longs(0, 2, 3, 6),
    **CODING,
    "begins": longs(4, -1, 0),
    "packed": np.zeros(12, np.uint32),
}
GOOD["unpack_sets"] = {
    "packed": np.arange(12, dtype=np.uint32),
    "offsets": longs(0, 2, 3, 6),
    **CODING,
    "slots": np.zeros((2, 6), np.int32),
    "fractions": np.zeros((2, 6), np.float32),
}
GOOD["move_sets"] = {
    "packed": np.arange(12, dtype=np.uint32),
    "offsets": longs(0, 2, 3, 6),
    "features": 2,
    "begins": longs(4, 3, 0),
    "to": np.zeros(12, np.uint32),
}
for trainer, precision in zip(TRAINERS, PRECISIONS, strict=True):
    GOOD[trainer] = trainer_arguments(LAYOUT, 2, 5)
    GOOD |= trainer_methods(trainer, precision)
KERNELS = {"phi": phi_arguments, "crossed": crossed_arguments, "rho": rho_arguments}
for kernel, make in KERNELS.items():
    for precision in PRECISIONS:
        for direction in ("forward", "backward"):
            name = f"{kernel}_{direction}_{precision.__name__}"
            GOOD[name] = make(precision, direction == "backward")
            if kernel != "rho" and direction == "backward":
                GOOD[name] = {"grad_means" if k == "means" else k: v for k, v in GOOD[name].items()}
            elif kernel == "rho" and direction == "backward":
                GOOD[name] = {"grad_outputs" if k == "outputs" else k: v for k, v in GOOD[name].items()}
