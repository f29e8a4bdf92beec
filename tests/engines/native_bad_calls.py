"""Bad calls of every function of the compiled module.

Run as a script with a number, it makes the bad calls from that one on and writes what each raised as a line of JSON.
Calls may end the process, so they are never made in the process of the tests.
"""

import json
import sys

import numpy as np

from .native_arguments import N_TOKENS, Made, call, ints, longs, misaligned
from .native_bad_call import INF, INT32_MAX, NAN, WRONG_TYPE, BadCall, outside
from .native_bad_packing import bad_packing
from .native_bad_trainer_calls import bad_training
from .native_calls import BATCH, GOOD, KERNELS, SCHEMA

# None is what some of these may be, in some functions.
OPTIONAL = (
    *("views", "adding", "on_progress", "chosen", "draws", "keypoints"),
    *("slots_of_codes", "corrections", "grad_fractions"),
)


def wrong_kinds(function):
    """Every argument as what it never is: None, a string, and arrays of another type, shape or order."""
    for argument, good in GOOD[function].items():
        if function == "list_columns":  # any object that is no capsule is refused as such
            yield BadCall(function, argument, None, "PyCapsule")
            yield BadCall(function, argument, "1", "PyCapsule")
            continue
        if argument not in OPTIONAL:
            yield BadCall(function, argument, None, WRONG_TYPE)
        if argument not in ("ngrams", "cover", "in_order"):
            message = {"on_progress": "cannot be called", "loss": "no loss", "name": "no loss"}
            yield BadCall(function, argument, "1", message.get(argument, WRONG_TYPE))
        if isinstance(good, np.ndarray):
            other = np.float32 if good.dtype == np.float64 else np.float64
            if (function, argument) != ("place_values", "fractions"):
                yield BadCall(function, argument, good.astype(other), WRONG_TYPE)
            yield BadCall(function, argument, good.astype(np.int16), WRONG_TYPE)
            yield BadCall(function, argument, good[..., None], WRONG_TYPE)
            if argument != "values" or function not in ("place_values", "ValueColumn"):
                yield BadCall(function, argument, np.repeat(good, 2, axis=-1)[..., ::2], WRONG_TYPE)
            yield BadCall(function, argument, np.array(0, good.dtype), WRONG_TYPE)
        elif isinstance(good, int) and not isinstance(good, bool):
            yield BadCall(function, argument, 2**64, WRONG_TYPE)


def bad_arrays():
    """Arrays that do not fit to each other, and contents that cannot be."""
    chains = [
        ("starts", longs(0), "stops has 2 entries"),
        ("starts", longs(-1, 3), "start of a chain is -1"),
        ("starts", longs(-(2**63), 3), "start of a chain"),
        ("starts", longs(0, 6), "start of a chain is 6"),
        ("stops", longs(2, 6), "stop of a chain is 6"),
        ("stops", longs(2, -1), "stop of a chain is -1"),
        ("stops", longs(2, 2**62), "stop of a chain"),
        ("stops", longs(), "stops has 0 entries"),
        ("values", np.zeros((2, 0)), "stop of a chain is 2"),
        ("lower", 2.0, "bounds are 2"),
        ("upper", float("nan"), "bounds are"),
    ]
    half_spaces = [
        ("duals", np.zeros((2, 2)), r"duals have the shape \(2, 2\)"),
        ("duals", np.zeros((1, 1)), r"duals have the shape \(1, 1\)"),
        ("duals", np.zeros((0, 0)), r"duals have the shape \(0, 0\)"),
        ("indices", ints([0, 1], [1, 3]), "index of a half-space is 3"),
        ("indices", ints([0, 1], [-1, 2]), "index of a half-space is -1"),
        ("indices", ints([0, 1], [1, INT32_MAX]), "index of a half-space"),
        ("indices", ints([0, 1, 2], [1, 2, 0]), "different shapes"),
        ("indices", ints([0, 1]), r"duals have the shape"),
        ("coefficients", np.ones((1, 2)), "different shapes"),
        ("coefficients", np.ones((2, 1)), "different shapes"),
        ("values", np.zeros((1, 0)), "index of a half-space is 0"),
        ("values", np.zeros((2, 3)), r"must be \(members, rows\), \(2, 2\)"),
        ("lower", float("nan"), "bounds are"),
        ("tolerance", float("nan"), "tolerance is"),
        ("tolerance", -1.0, "tolerance is -1"),
        ("max_sweeps", -1, "max_sweeps is -1"),
    ]
    rows = [
        ("offsets", longs(), "offsets"),
        ("offsets", longs(0, 3, 5), "offsets must rise|channels has 3 entries"),
        ("offsets", longs(0, 3, 5, 7), "offsets must rise"),
        ("offsets", longs(1, 3, 5, 6), "offsets must rise"),
        ("offsets", longs(0, 5, 3, 6), "offsets must rise"),
        ("offsets", longs(0, -(2**62), 3, 6), "offsets must rise"),
        ("offsets", longs(0, 2**62, 3, 6), "offsets must rise"),
        ("codes", ints(), "offsets must rise"),
        ("threads", 0, "threads is 0"),
        ("threads", -1, "threads is -1"),
    ]
    mining = [
        *rows,
        ("codes", ints(0, 1, 2, 1, -1, 2), "code of an item is -1"),
        ("codes", ints(0, 1, 2, 1, 2, INT32_MAX), "code of an item is 2147483647"),
        ("channels", ints(0, 1), "channels has 2 entries"),
        ("channels", ints(), "channels has 0 entries"),
        ("channels", ints(0, 1, 2), "channel is 2"),
        ("channels", ints(0, -1, 1), "channel is -1"),
        ("n_channels", 0, "n_channels is 0"),
        ("n_channels", -1, "n_channels is -1"),
        ("n_channels", 2**62, "n_channels is"),
        ("adding", np.ones((3, 2)), r"shape \(3, 2\)"),
        ("adding", np.ones((3, 0)), r"shape \(3, 0\)"),
        ("adding", np.ones((2, 3)), r"shape \(2, 3\)"),
        ("boundary", -2, "boundary is -2"),
        ("max_items", 0, "max_items is 0"),
        ("max_items", -1, "max_items is -1"),
        ("min_count", 0, "min_count is 0"),
        ("min_count", 2**40, "min_count is"),
    ]
    finding = [
        *rows,
        ("views", ints(0, 0, dtype=np.uint8), "views has 2 entries"),
        ("items", ints(0, 1, 2), "child_offsets has 7 entries"),
        ("items", ints(0, 1, 2, -1, 2, 2), "item of a node is -1"),
        ("items", ints(0, 1, 2, 1, 3, 2), "item of a node is 3"),
        ("child_offsets", ints(3, 4, 5, 5, 6, 6), "child_offsets has 6 entries"),
        ("child_offsets", ints(3, 4, 5, 5, 6, 6, 7)[::-1].copy(), "children of node 0"),
        ("child_offsets", ints(-5, 4, 5, 5, 6, 6, 6), "children of node 0 go from -5"),
        ("child_offsets", ints(3, INT32_MAX, 5, 5, 6, 6, 6), "children of node 0"),
        ("child_offsets", ints(3, 4, 5, 5, 7, 6, 6), "children of node 3 go from 5 to 7"),
        ("child_offsets", ints(0, 4, 5, 5, 6, 6, 6), "children of node 0 go from 0"),
        ("child_offsets", ints(3, 4, 5, 3, 6, 6, 6), "children of node 2 go from 5 to 3"),
        ("masks", np.ones(5, np.uint32), "masks has 5 entries"),
        ("first", ints(0, 1, 6), "first node of an item is 6"),
        ("first", ints(INT32_MAX, 1, 2), "first node of an item"),
        ("n_codes", -1, "n_codes is -1"),
        ("n_codes", 2, "item of a node is 2"),
    ]
    texts = [
        ("offsets", longs(), "offsets"),
        ("offsets", longs(0, 2, 4), "do not rise within"),
        ("offsets", longs(0, -1, 3), "do not rise within"),
        ("offsets", longs(-1, 2, 3), "do not rise within"),
        ("offsets", longs(0, 3, 2), "do not rise within"),
        ("offsets", longs(0, 2**62, 3), "do not rise within"),
        ("bytes", np.zeros(2, np.uint8), "do not rise within"),
    ]
    encoding = [
        *texts,
        ("rows", longs(), "offsets must rise"),
        ("rows", longs(0, 3), "offsets must rise"),
        ("rows", longs(1, 2), "offsets must rise"),
        ("rows", longs(0, 2, 1, 2), "offsets must rise"),
        ("rows", longs(0, 2**62, 2), "offsets must rise"),
    ]
    capsules = [
        ("schema", BATCH, "PyCapsule"),
        ("array", SCHEMA, "PyCapsule"),
        ("schema", 1, "PyCapsule"),
        ("array", np.zeros(3), "PyCapsule"),
    ]
    no_lists = [("rows", rows, WRONG_TYPE) for rows in ((["a"],), {"a": 1}, np.array(["a"]))]
    tables = {
        "list_columns": capsules,
        "Vocabulary.encode_lists": no_lists,
        "Vocabulary": texts,
        "Vocabulary.encode": encoding,
        "project_chains": chains,
        "project_half_spaces": half_spaces,
        "mine_tokens": mining,
        "find_tokens": finding,
    }
    for function, table in tables.items():
        for argument, value, message in table:
            yield BadCall(function, argument, value, message)
    for n_columns in (0, 1, 5):
        rows_of = {"indices": np.zeros((2, n_columns), np.int32), "coefficients": np.zeros((2, n_columns))}
        yield BadCall("project_half_spaces", "*", rows_of, "2, 3 or 4 entries")
    layouts = [
        ("sizes", [2, 1], "lattice size is 1"),
        ("sizes", [2, -3], "lattice size is -3"),
        ("sizes", [2], "feature of a lattice is 1"),
        ("sizes", [], "feature of a lattice is 1"),
        ("sizes", [200, 200], "vertices of a lattice is 40000"),
        ("sizes", [INT32_MAX, INT32_MAX], "vertices of a lattice"),
        ("subsets", [], "subsets is empty"),
        ("subsets", [[]], "number of features of a lattice is 0"),
        ("subsets", [[0, 2]], "feature of a lattice is 2"),
        ("subsets", [[-1]], "feature of a lattice is -1"),
        ("subsets", [[0, 0]], "more than once"),
        ("subsets", [[0] * 15], "number of features of a lattice is 15"),
        ("subsets", [0, 1], WRONG_TYPE),
    ]
    for argument, value, message in layouts:
        yield BadCall("PhiLayout", argument, value, message)
    yield BadCall("PhiLayout", "*", {"sizes": [2] * 15, "subsets": [list(range(15))]}, "features of a lattice is 15")


def bad_kernel_calls(function):
    """Arrays that do not fit to each other, that cannot be read or written, and contents that point outside."""
    kernel = function.split("_")[0]
    good = GOOD[function]
    results = [name for name in good if name.startswith("grad_")][1:] or list(good)[-1:]
    for argument, value in good.items():
        if not isinstance(value, np.ndarray):
            continue
        yield BadCall(function, argument, misaligned(value), f"{argument} is not aligned")
        if argument not in ("offsets", "sets", "keypoints"):
            yield BadCall(function, argument, value[1:].copy(), "has the shape|lies outside")
        if value.ndim > 1 and argument != "calibration":
            yield BadCall(
                function, argument, value[..., 1:].copy(), "has the shape|lies outside|do not rise|keypoints is"
            )
        if argument in results:
            frozen = value.copy()
            frozen.flags.writeable = False
            yield BadCall(function, argument, frozen, WRONG_TYPE)
    if kernel == "rho":
        for width, message in ((0, "number of means of a function is 0"), (5, "means has the shape")):
            yield BadCall(function, "means", np.zeros((2, width), good["means"].dtype), message)
        yield BadCall(function, "output", np.zeros((0, 4), good["output"].dtype), "number of functions is 0")
        yield BadCall(function, "output", np.zeros((2, 1), good["output"].dtype), "number of keypoints is 1")
        return
    for threads in (0, -1):
        yield BadCall(function, "threads", threads, f"threads is {threads}")
    if kernel == "phi":
        contents = "offsets of the sets do not rise"
        yield BadCall(function, "calibration", np.zeros((2, 0), good["calibration"].dtype), "slots is 0")
        yield BadCall(function, "offsets", longs(), "sets is -1")
        yield BadCall(function, "offsets", np.arange(N_TOKENS + 2), "sets is 301")
        for offsets in ((0, 200, 299), (1, 200, 300), (0, 0, 300), (0, 400, 300), (0, -(2**62), 300)):
            yield BadCall(function, "offsets", longs(*offsets), contents)
        for slots in outside(good["slots"], 0, 5):
            yield BadCall(function, "slots", slots, contents)
        return
    contents = "A chosen set does not exist"
    changes = [("slots", slots) for slots in outside(good["slots"], 0, 6)]
    changes += [("rows", rows) for rows in outside(good["rows"], -1, 4)]
    changes += [("refined", refined) for refined in outside(good["refined"], -1, 2)]
    for offsets in ((0, 200, 301), (-1, 200, 300), (0, 0, 300), (0, 400, 300), (0, -(2**62), 300)):
        changes.append(("offsets", longs(*offsets)))
    for sets in ((1, 0, 2), (1, -1, 0), (2**62, 0, 0)):
        changes.append(("sets", longs(*sets)))
    for argument, value in changes:
        yield BadCall(function, argument, value, contents)
    precision = good["values"].dtype
    for argument, value, message in [
        ("offsets", longs(), "offsets is 0"),
        ("values", np.zeros((4, 0), precision), "classes is 0"),
        ("keypoints", np.zeros(1, precision), "keypoints is 1"),
        ("keypoints", np.zeros(6, precision), "keypoints is 6"),
    ]:
        yield BadCall(function, argument, value, message)


def bad_placing():
    """Values whose places cannot be found or written."""
    good = GOOD["place_values"]
    frozen = good["slots"].copy()
    frozen.flags.writeable = False
    for argument, value, message in [
        ("values", good["values"][1:], "slots has 300 entries"),
        ("slots", good["slots"][1:], "slots has 299 entries"),
        ("slots", frozen, WRONG_TYPE),
        ("fractions", good["fractions"][1:], "fractions has 299 entries"),
        ("keypoints", np.zeros(0), "keypoints is 0"),
        ("keypoints", np.zeros(1), "keypoints is 1"),
        ("keypoints", np.array([0.0, 1.0, 1.0]), "keypoints must rise"),
        ("keypoints", np.array([0.0, 2.0, 1.0]), "keypoints must rise"),
        ("keypoints", np.array([0.0, NAN, 1.0]), "keypoints must hold finite"),
        ("keypoints", np.array([0.0, 1.0, INF]), "keypoints must hold finite"),
        ("first_slot", -1, "first_slot is -1"),
        ("first_slot", INT32_MAX - 3, "first_slot is 2147483644"),
    ]:
        yield BadCall("place_values", argument, value, message)


def bad_columns():
    """Values of sets that do not fit to each other, and slots that cannot be."""
    column, good = GOOD["ValueColumn"], GOOD["means_of_values"]
    for argument, value, message in [
        ("keypoints", None, "either keypoints or codes"),
        ("slots_of_codes", ints(0, 1), "either keypoints or codes"),
        ("keypoints", np.zeros(1), "keypoints is 1"),
        ("keypoints", np.array([0.0, 2.0, 1.0]), "keypoints must rise"),
        ("first_slot", -1, "first_slot is -1"),
    ]:
        yield BadCall("ValueColumn", argument, value, message)

    def columns(**changes):
        return [good["columns"][0], Made("ValueColumn", {**column, **changes})]

    for argument, value, message in [
        ("columns", good["columns"][:1], "columns has 1 entries"),
        ("columns", columns(values=np.zeros(5)), "A column has 5 entries"),
        ("columns", columns(per_set=True), "A column has 6 entries"),
        ("columns", columns(first_slot=8), "outside the calibration"),
        ("columns", columns(values=np.full(6, NAN), first_slot=10, missing_slot=14), "outside the calibration"),
        ("columns", columns(keypoints=None, slots_of_codes=ints(-1, 99)), "outside the calibration"),
        ("columns", columns(keypoints=None, slots_of_codes=ints(0), missing_slot=-3), "outside the calibration"),
        ("calibration", np.zeros((1, 0)), "slots is 0"),
        ("calibration", np.zeros((2, 10)), r"vertices has the shape \(1, 4\)"),
        ("vertices", np.zeros((1, 5)), r"vertices has the shape \(1, 5\)"),
        ("offsets", longs(0, 4, 3, 6), "do not rise"),
        ("offsets", longs(1, 3, 3, 6), "do not rise"),
        ("offsets", longs(0, 3, 3, 7), "A column has 6 entries"),
        ("offsets", np.zeros(0, np.int64), "offsets is 0"),
        ("threads", 0, "threads is 0"),
        ("means", np.zeros((2, 1)), r"means has the shape \(2, 1\); it must be \(3, 1\)"),
        ("means", np.zeros((3, 2)), r"means has the shape \(3, 2\); it must be \(3, 1\)"),
    ]:
        yield BadCall("means_of_values", argument, value, message)


def bad_calls():
    calls = [call for function in GOOD for call in wrong_kinds(function)]
    calls += [*bad_arrays(), *bad_placing(), *bad_columns(), *bad_packing(), *bad_training()]
    for function in GOOD:
        if function.split("_")[0] in KERNELS:
            calls += bad_kernel_calls(function)
    return calls


def changed(bad):
    changes = bad.value if bad.argument == "*" else {bad.argument: bad.value}
    return {**GOOD[bad.function], **changes}


if __name__ == "__main__":
    for bad in bad_calls()[int(sys.argv[1]) :]:
        try:
            call(bad.function, changed(bad))
            outcome = ["nothing", ""]
        except Exception as error:
            outcome = [type(error).__name__, str(error)]
        print(json.dumps(outcome), flush=True)
