"""Bad calls of the compiled trainers and of their methods."""

import numpy as np

from .native_arguments import TRAINERS, Made, given, ints, longs, misaligned
from .native_bad_call import INF, INT32_MAX, NAN, WRONG_TYPE, BadCall, outside
from .native_calls import GOOD
from .native_trainer_arguments import PACE


def bad_training():
    """Numbers that no training can have."""
    for argument, value, message in [
        *[("learning_rate", number, "learning_rate is") for number in (NAN, INF, -INF, -0.1)],
        *[(argument, 0, f"{argument} is 0") for argument in ("warm_up", "batch_size", "threads")],
        *[(argument, -1, f"{argument} is -1") for argument in ("warm_up", "batch_size", "threads")],
        ("n_steps", 0, "steps is 0"),
        ("n_steps", -(2**63), "steps is"),
    ]:
        yield BadCall("Pace", argument, value, message)
    for argument, value, message in [
        ("name", "", "no loss"),
        *[("quantile", number, "quantile is") for number in (NAN, INF, -0.1, 1.1)],
        ("outputs", np.zeros((2, 0)), "outputs is 0"),
        ("outputs", np.zeros((3, 3)), "targets has 2 entries"),
        ("targets", np.zeros(0), "targets has 0 entries"),
        *[("targets", np.array([0.0, label]), "number of a class") for label in (-1, 3, 0.5, NAN, INF, 2**63)],
    ]:
        yield BadCall("losses", argument, value, message)
    for trainer in TRAINERS:
        for argument, value, message in [
            *[("functions", number, "functions is") for number in (0, -1, 2**40)],
            *[("width", number, "width is") for number in (0, -1, 21, 2**62)],
            *[("slots", number, "slots is") for number in (0, -1, 2**40)],
            *[("keypoints", number, "keypoints is") for number in (1, -1, 2**40)],
            *[(size, 3, "initial has 88 entries") for size in ("functions", "width", "slots", "keypoints")],
            ("width", 20, "initial has 88 entries"),
            ("slots", INT32_MAX, "initial has 88 entries"),
            ("initial", np.zeros(87), "initial has 87 entries"),
            ("initial", np.zeros(0), "initial has 0 entries"),
            *[("initial", with_number(np.zeros(88), number), "finite numbers") for number in (NAN, INF, -INF)],
            *[("quantile", number, "quantile is") for number in (NAN, -1.0, 2.0)],
            ("layout", Made("Pace", PACE), WRONG_TYPE),
            ("pace", Made("PhiLayout", {"sizes": [2], "subsets": [[0]]}), WRONG_TYPE),
        ]:
            yield BadCall(trainer, argument, value, message)
        yield from bad_sets(trainer)
        if f"{trainer}.packed" in GOOD:
            yield from bad_packed(f"{trainer}.packed")
        yield from bad_methods(trainer)
        yield from bad_shares(f"{trainer}.epoch")
        yield from bad_orders(trainer)
        yield from bad_states(trainer)


def with_number(array, number, place=-1):
    changed = array.copy()
    changed.reshape(-1)[place] = number
    return changed


def bad_sets(trainer):
    """Sets and labels that do not fit to each other or to the tables."""
    for method, n_classes, n_slots in (("plain", 2, 5), ("crossed", 3, 6)):
        function = f"{trainer}.{method}"
        good = GOOD[function]
        slots, fractions = good["slots"], good["fractions"]
        rise = "offsets of the sets do not rise"
        changes = [
            *[("slots", wrong, "A slot is") for wrong in outside(slots, 0, n_slots)],
            ("slots", slots[:, 1:].copy(), "must.* have the shape"),
            ("slots", slots[1:].copy(), "must.* have the shape"),
            ("fractions", fractions[:, 1:].copy(), "must.* have the shape"),
            ("fractions", fractions[1:].copy(), "must.* have the shape"),
            *[
                ("fractions", with_number(fractions, number, place), "fractions must hold")
                for number in (NAN, INF, -INF, -0.1, 1.5, 1e30)
                for place in (0, -1)
            ],
            *[("offsets", longs(*offsets), rise) for offsets in ((), (0,), (300,), (0, 299), (1, 300))],
            *[("offsets", longs(0, number, 300), rise) for number in (0, 300, 400, -1, 2**62, -(2**62))],
            *[("chosen", longs(0, 1, number), "A chosen set is") for number in (2, -1, 2**62, -(2**63))],
            ("chosen", longs(0, 1), "chosen has 2 entries"),
            ("chosen", longs(), "chosen has 0 entries"),
            ("chosen", None, "number of labels is 3"),
            ("targets", np.zeros(2), "weights has 3 entries"),
            ("weights", np.zeros(2), "weights has 2 entries"),
            *[
                ("targets", np.array([0.0, 0.0, label]), "number of a class")
                for label in (-1.0, n_classes, 0.5, 1e300, NAN, INF, -INF)
            ],
            *[("weights", np.array([1, 1, weight]), "weights must hold") for weight in (NAN, INF, -1.0)],
            *[
                (argument, misaligned(value), "not aligned")
                for argument, value in good.items()
                if isinstance(value, np.ndarray) and value.dtype.itemsize > 1
            ],
        ]
        nothing = {"chosen": longs(), "targets": np.zeros(0), "weights": np.zeros(0)}
        no_tokens = {"slots": slots[:, :0].copy(), "fractions": fractions[:, :0].copy(), "offsets": longs(0)}
        together = [(nothing, "number of labels is 0"), (no_tokens, f"{rise}|must have the shape")]
        if method == "crossed":
            values = good["values"]
            changes += [
                *[("rows", wrong, "A row is") for wrong in outside(good["rows"], -1, 4)],
                *[("corrected", wrong, "A correction is") for wrong in outside(good["corrected"], -1, 2)],
                ("rows", good["rows"][1:].copy(), "must have the shape"),
                ("corrected", good["corrected"][1:].copy(), "must have the shape"),
                ("values", values[:3].copy(), "A row is 3"),
                ("values", values[:0].copy(), "A row is 3"),
                ("values", values[:, :0].copy(), "number of classes is 0"),
                ("values", values[:, :2].copy(), "number of classes is 2"),
                *[("keypoints", good["keypoints"][:size].copy(), f"keypoints is {size}") for size in (0, 1)],
                ("keypoints", np.arange(6, dtype=values.dtype), "keypoints is 6"),
                *[
                    ("keypoints", with_number(good["keypoints"], number), "keypoints must hold finite")
                    for number in (NAN, INF)
                ],
            ]
            together[1][0].update(rows=ints(), corrected=ints())
        for validates in (False, True):
            for argument, value, message in changes:
                yield BadCall(function, "*", {argument: value, "validates": validates}, message)
            for values, message in together:
                yield BadCall(function, "*", {**values, "validates": validates}, message)


def bad_packed(function):
    """Packed sets and labels that do not fit to each other or to the tables."""
    good, rise = GOOD[function], "offsets of the sets do not rise"
    changes = [
        ("packed", good["packed"][1:].copy(), "packed has 599 entries"),
        ("packed", good["packed"][:0].copy(), "packed has 0 entries"),
        ("offsets", longs(), "number of sets is -1"),
        ("offsets", longs(0), "number of sets is 0"),
        ("offsets", longs(0, 200, 300, 0), "number of tokens is 0"),
        ("offsets", longs(0, 100, 200, -1), "number of tokens is -1"),
        ("offsets", longs(0, 100, 200, 2**62), "number of tokens is"),
        ("offsets", longs(0, 100, 200, 299), "packed has 600 entries"),
        ("offsets", longs(0, 100, 300), "number of labels is 3"),
        *[
            ("offsets", longs(*offsets), rise)
            for offsets in ((1, 100, 200, 300), (0, 100, 300, 300), (0, 0, 200, 300), (0, 100, 2**62, 300))
        ],
        ("first_slots", ints(0), "first_slots has 1 entries"),
        ("first_slots", ints(0, 5), "first slot is 5"),
        ("first_slots", ints(-1, 3), "first slot is -1"),
        ("bits", ints(1), "bits has 1 entries"),
        ("bits", ints(1, 0), "bits is 0"),
        ("bits", ints(1, 32), "bits is 32"),
        ("targets", np.zeros(2), "weights has 3 entries"),
        ("weights", np.zeros(2), "weights has 2 entries"),
        *[("targets", np.array([0.0, 0.0, label]), "number of a class") for label in (-1.0, 2.0, 0.5, NAN, INF)],
        *[("weights", np.array([1, 1, weight]), "weights must hold") for weight in (NAN, INF, -1.0)],
        *[(name, misaligned(good[name]), "not aligned") for name in ("packed", "offsets", "targets", "weights")],
    ]
    for validates in (False, True):
        for argument, value, message in changes:
            yield BadCall(function, "*", {argument: value, "validates": validates}, message)


def bad_shares(function):
    """Steps of lanes that cannot be."""
    share = {"ends": longs([1, 2], [2, 3]), "totals": longs(4, 1), "exchange": len}
    changes = [
        *[(name, None, "belong together") for name in ("ends", "totals")],
        *[(name, "1", WRONG_TYPE) for name in ("ends", "totals")],
        *[(name, share[name].astype(np.int32), WRONG_TYPE) for name in ("ends", "totals")],
        *[(name, misaligned(share[name]), "not aligned") for name in ("ends", "totals")],
        ("totals", longs(4), "totals has 1 entries"),
        ("ends", longs([2, 3]), "totals has 2 entries"),
        ("ends", longs(2, 3), WRONG_TYPE),
        ("ends", np.zeros((2, 0), np.int64), "number of lanes is 0"),
        ("ends", np.full((2, 17), 3), "number of lanes is 17"),
        ("ends", longs([1, 3], [2, 3]), "An end is 2"),
        ("ends", longs([-1, 2], [2, 3]), "An end is -1"),
        ("ends", longs([1, 2], [2, 4]), "An end is 4"),
        ("ends", longs([1, 1], [2, 2]), "last step must end"),
        ("totals", longs(4, 0), "A total is 0"),
        ("totals", longs(4, -(2**62)), "A total is"),
        ("exchange", "1", "not callable"),
    ]
    for argument, value, message in changes:
        yield BadCall(function, "*", {**share, argument: value}, message)
    nothing = {"ends": np.zeros((0, 2), np.int64), "totals": longs(), "exchange": len}
    yield BadCall(function, "*", nothing, "last step must end")


def bad_methods(trainer):
    """Penalties, constraints and epochs with numbers outside what they are about."""
    numbers = [(NAN, "is nan"), (INF, "is inf"), (-INF, "is -inf"), (-0.1, "is -0.1")]
    draws = GOOD[f"{trainer}.epoch"]["draws"]
    half_spaces = GOOD[f"{trainer}.add_half_spaces"]
    coefficients = half_spaces["coefficients"]
    tables = {
        "correct": [
            ("initial", np.zeros((0, 3)), "corrections is 0"),
            ("initial", np.zeros((2, 0)), "classes is 0"),
            *[("initial", np.full((2, 3), number), "finite numbers") for number in (NAN, INF)],
            *[("rate", number, f"rate {message}") for number, message in numbers],
            *[("pull", number, f"pull {message}") for number, message in numbers],
        ],
        "smooth": [
            (part, number, f"{part} {message}")
            for part in ("strength", "at_first", "least_scatter")
            for number, message in numbers
        ],
        "add_interactions": [
            *[("table", number, f"table is {number}") for number in (-1, 5, INT32_MAX)],
            *[("first", number, "first column is") for number in (-1, 2**62, -(2**63))],
            *[("sizes", ints(2, number), "A size is") for number in (-1, 0, 1, INT32_MAX)],
            ("sizes", ints(*[2] * 40), "number of vertices is"),
            *[(part, number, f"{part} {message}") for part in ("pairs", "triples") for number, message in numbers],
        ],
        "add_squares": [
            *[("table", number, f"table is {number}") for number in (-1, 5, INT32_MAX)],
            ("table", 1, "starts has 6 entries"),
            ("starts", ints(), "starts has 0 entries"),
            ("starts", ints(0, 2, 2, 2, 3), "starts has 5 entries"),
            ("starts", ints(0, 2, 2, 2, 2, 4), "last start is 4"),
            ("starts", ints(0, 2, 2, 2, 2, 2), "last start is 2"),
            ("starts", ints(-1, 2, 2, 2, 2, 3), "A start is -1"),
            ("starts", ints(0, 4, 2, 2, 2, 3), "A start is 4"),
            ("starts", ints(0, INT32_MAX, 2, 2, 2, 3), "A start is"),
            ("columns", ints(0, 1), "values has 3 entries"),
            *[("columns", ints(0, 1, number), "A column is") for number in (-1, 5, INT32_MAX, -(2**31))],
            ("values", np.zeros(2), "values has 2 entries"),
            *[("values", np.array([0.0, 0.0, number]), "values must hold finite") for number in (NAN, INF)],
        ],
        "add_shape": [
            *[("table", number, f"table is {number}") for number in (-1, 5, INT32_MAX)],
            *[("lower", number, "lower bound") for number in (NAN, 2.0, INF)],
            *[("upper", number, "lower bound") for number in (NAN, -2.0, -INF)],
            *[("upper", INF, "must be finite"), ("lower", -INF, "must be finite")],
            *[(part, longs([0, 1, 2]), "shape .chains, 2") for part in ("chains", "pinned")],
            *[(part, longs([0], [1]), "shape .chains, 2") for part in ("chains", "pinned")],
            *[
                (part, longs([0, 2], ends), "of a chain is")
                for part in ("chains", "pinned")
                for ends in ([0, 6], [-1, 3], [4, 3], [0, -1], [-(2**63), 2], [0, 2**62], [2**62, 2**62])
            ],
            # Without columns a chain has no ends.
            *[("pinned", longs([0, 2], ends), "start of a chain") for ends in ([0, 0], [5, 5], [2, 2])],
        ],
        "add_half_spaces": [
            *[("shape", number, "no shape of that number") for number in (1, 2**62)],
            ("shape", -1, WRONG_TYPE),
            *[("first", number, "first column is") for number in (-1, 6, 2**62)],
            *[("size", number, "number of columns is") for number in (-1, 5, 2**62, -(2**63))],
            ("size", 0, "index of a half-space is 0"),
            ("first", 3, "number of columns is 3"),
            *[
                ("indices", ints([0, 1], [1, number]), "index of a half-space is")
                for number in (-1, 3, INT32_MAX, -(2**31))
            ],
            ("indices", ints([0, 1]), "different shapes"),
            ("coefficients", np.ones((2, 3)), "different shapes"),
            *[("coefficients", with_number(coefficients, number), "finite numbers") for number in (NAN, INF)],
            *[("own", ints(0, number), "A column is") for number in (-1, 3, INT32_MAX)],
            *[
                (
                    "*",
                    {"indices": np.zeros((2, width), np.int32), "coefficients": np.zeros((2, width))},
                    "2, 3 or 4 entries",
                )
                for width in (0, 1, 5)
            ],
        ],
        "touch_lightly": [
            ("indices", longs([0, 1, 2], [0, 1, 2]), "shape .constraints, 4"),
            ("indices", longs([0, 1, 2, 3]), "shape .constraints, 4"),
            ("coefficients", np.zeros((2, 3)), "shape .constraints, 4"),
            *[
                ("indices", longs([0, 1, 2, 3], [0, 0, 0, number]), "index of a constraint is")
                for number in (-1, 88, 2**62, -(2**63))
            ],
            *[("coefficients", np.full((2, 4), number), "finite numbers") for number in (NAN, INF)],
        ],
        "epoch": [
            ("order", longs(), "number of sets is 0"),
            ("order", longs(0, 1, 2, 0), "number of sets is 4"),
            *[("order", longs(0, 1, number), "labelled set is") for number in (-1, 3, 2**62, -(2**63))],
            ("order", misaligned(longs(2, 0, 1)), "order is not aligned"),
            ("draws", None, "draws has 0 entries"),
            ("draws", draws[1:].copy(), "draws has 255 entries"),
            ("draws", draws[:0].copy(), "draws has 0 entries"),
            ("draws", np.append(draws, 0.0), "draws has 257 entries"),
            ("draws", misaligned(draws), "draws is not aligned"),
            *[("draws", with_number(draws, number), "draws must hold") for number in (NAN, -0.1, 1.1, INF)],
        ],
    }
    for method, changes in tables.items():
        for argument, value, message in changes:
            yield BadCall(f"{trainer}.{method}", argument, value, message)


def bad_states(trainer):
    """Arrays of a training that are not this one's."""
    state = given(GOOD[f"{trainer}.resume"]["state"])
    values = state["values"]
    for changes, message in [
        ({"values": values[1:].copy()}, "values has"),
        ({"values": values.astype(np.float32)}, "lacks the array 'values', or has it with other numbers"),
        ({"values": values[:, None]}, "lacks the array 'values'"),
        ({"values": None}, "lacks the array 'values'"),
        ({"values": misaligned(values)}, "values is not aligned"),
        ({"step": longs(-1)}, "step is -1"),
        ({"step": longs(11)}, "step is 11"),
        ({"step": longs(2**62)}, "step is"),
        ({"step": longs()}, "step has 0 entries"),
        ({"more": values}, "does not know"),
        ({1: values}, "does not know"),
    ]:
        yield BadCall(f"{trainer}.resume", "state", {**state, **changes}, message)
    yield BadCall(f"{trainer}.resume", "state", {}, "lacks the array")


def bad_orders(trainer):
    """Methods that are called too early or too late, and on trainers that are about something else."""

    def step(method, **changes):
        good = {name: value for name, value in GOOD[f"{trainer}.{method}"].items() if name != "self"}
        return method, {**good, **changes}

    plain, by_class = (GOOD[f"{trainer}.{method}"]["self"]._replace(calls=()) for method in ("plain", "crossed"))
    # Three plain features would give 16 vertices; 80 of them more than a number has bits.
    lattices = {"sizes": [2] * 80, "subsets": [[0, 1]]}
    wide = by_class._replace(arguments={**by_class.arguments, "layout": Made("PhiLayout", lattices)})
    other = next(name for name in TRAINERS if name != trainer)
    calls = [
        ("epoch", plain, "nothing to learn from"),
        ("epoch", plain.after(step("plain", validates=True)), "nothing to learn from"),
        ("epoch", plain.after(step("plain")), "draws has 256 entries"),
        ("validation_loss", plain, "nothing to validate on"),
        ("validation_loss", plain.after(step("plain")), "nothing to validate on"),
        ("add_squares", plain, "strength of smoothness before"),
        ("add_half_spaces", plain, "no shape of that number"),
        ("correct", by_class.after(step("correct"), step("crossed")), "corrections before the sets"),
        ("correct", by_class.after(step("crossed", validates=True)), "corrections before the sets"),
        ("correct", plain.after(step("plain")), "corrections before the sets"),
        ("correct", plain.after(step("plain", validates=True)), "corrections before the sets"),
        ("plain", plain.after(step("correct")), "from values by class only"),
        ("crossed", plain, "One function serves all classes|vertices"),
        ("crossed", wide, "plain features is 79"),
        ("crossed", by_class.after(step("correct", initial=np.zeros((1, 3)))), "A correction is 1"),
        ("crossed", by_class.after(step("correct", initial=np.zeros((2, 4)))), "number of classes is 3"),
        *[
            (method.split(".")[1], plain._replace(name=other), WRONG_TYPE)
            for method in GOOD
            if method.startswith(f"{trainer}.")
        ],
    ]
    for method, one, message in calls:
        yield BadCall(f"{trainer}.{method}", "self", one, message)
