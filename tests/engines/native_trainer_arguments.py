"""Arguments of the compiled trainers and of their methods."""

from typing import Any

import numpy as np

from .native_arguments import LAYOUT, N_TOKENS, Made, Prepared, crossed_inputs, ints, longs, phi_arguments

PACE = {"learning_rate": 0.1, "n_steps": 10, "warm_up": 2, "batch_size": 2, "threads": 2, "adagrad": False}


def trainer_arguments(layout, functions, slots):
    """Return what makes a trainer of width 2, with 4 keypoints in rho."""
    sizes = {"functions": functions, "width": 2, "slots": slots, "keypoints": 4}
    rows, n_vertices = 2 * functions, 9 if functions > 1 else 4
    n_parameters = rows * (slots + n_vertices + 4) + functions * (4 + 4)
    initial = np.linspace(0.0, 1.0, n_parameters)
    loss = {"loss": "log_loss", "quantile": 0.5, "pace": Made("Pace", PACE)}
    return {"layout": layout, **sizes, "initial": initial, **loss}


def labels(n_classes):
    return {"chosen": longs(1, 0, 1), "targets": np.arange(3.0) % n_classes, "weights": np.array([1.0, 0.5, 2.0])}


def trainer_methods(name, dtype):
    """Return the arguments of every method, with a trainer on which to call it."""
    tokens = phi_arguments(dtype, backward=False)
    crossed = crossed_inputs(dtype)
    line = Made("PhiLayout", {"sizes": [2, 2], "subsets": [[0, 1]]})
    arguments: dict[str, dict[str, Any]] = {
        "plain": {
            "validates": False,
            **{part: tokens[part] for part in ("slots", "fractions", "offsets")},
            **labels(2),
        },
        "crossed": {
            "validates": False,
            **{part: crossed[part] for part in ("slots", "fractions", "offsets", "rows")},
            "corrected": crossed["refined"],
            **{part: crossed[part] for part in ("values", "keypoints")},
            **labels(3),
        },
        "correct": {"initial": np.zeros((2, 3)), "rate": 0.1, "pull": 0.01},
        "smooth": {"strength": 0.1, "at_first": 0.5, "least_scatter": 0.07},
        # Of the table of calibrations: five columns.
        "add_squares": {
            "table": 0,
            "starts": ints(0, 2, 2, 2, 2, 3),
            "columns": ints(0, 1, 4),
            "values": np.array([1.0, -1.0, 2.0]),
        },
        # Of the table of vertices.
        "add_interactions": {"table": 1, "first": 0, "sizes": ints(2, 2), "pairs": 1.0, "triples": 0.5},
        "add_shape": {
            "table": 0,
            "lower": 0.0,
            "upper": 1.0,
            "chains": longs([0, 2], [2, 5]),
            "pinned": longs([0, 3], [3, 5]),
        },
        "add_half_spaces": {
            "shape": 0,
            "first": 1,
            "size": 3,
            "indices": ints([0, 1], [1, 2]),
            "coefficients": np.array([[-0.6, 0.8], [-0.6, 0.8]]),
            "own": ints(0, 1, 2),
            "boxed": True,
        },
        "touch_lightly": {
            "indices": longs([0, 1, 2, 3], [4, 5, 0, 0]),
            "coefficients": np.array([[1.0, -1.0, -1.0, 1.0], [1.0, -1.0, 0.0, 0.0]]),
        },
        "begin": {},
        "epoch": {"order": longs(2, 0, 1), "draws": np.linspace(0.0, 0.99, 2 * 128)},
        "validation_loss": {},
        "average": {},
        "average_corrections": {},
    }
    if dtype is np.float32:
        coding = {"first_slots": ints(0, 3), "bits": ints(1, 1)}
        packed = np.arange(2 * N_TOKENS, dtype=np.uint32) << np.uint32(20)
        arguments["packed"] = {"validates": False, "packed": packed, "offsets": longs(0, 100, 200, N_TOKENS), **coding}
        arguments["packed"] |= {name: values for name, values in labels(2).items() if name != "chosen"}
    shape, smoothness = ("add_shape", "add_half_spaces"), ("smooth", "add_squares", "add_interactions")
    before = {
        "crossed": ("correct",),
        "add_squares": ("smooth",),
        "add_interactions": ("smooth",),
        "add_half_spaces": ("add_shape",),
        "begin": shape,
        "epoch": (*smoothness, *shape, "plain", "touch_lightly", "begin"),
        "validation_loss": ("validation",),
        "average_corrections": ("correct",),
    }
    steps = {method: (method, given) for method, given in arguments.items()}
    steps["validation"] = ("plain", {**arguments["plain"], "validates": True})
    plain = Prepared(name, trainer_arguments(LAYOUT, 2, 5))
    by_class = Prepared(name, trainer_arguments(line, 1, 6))
    found = {}
    for method, given in arguments.items():
        one = by_class if "correct" in (method, *before.get(method, ())) else plain
        calls = tuple(steps[step] for step in before.get(method, ()))
        found[f"{name}.{method}"] = {"self": one._replace(calls=calls), **given}
    trained = found[f"{name}.epoch"]["self"].after(steps["epoch"])
    found[f"{name}.state"] = {"self": trained}
    found[f"{name}.resume"] = {"self": trained, "state": Made(f"{name}.state", {"self": trained})}
    return found
