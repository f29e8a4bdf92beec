"""Bad calls of what packs sets, unpacks them and moves them."""

import numpy as np

from .native_arguments import ints, longs
from .native_bad_call import INF, NAN, WRONG_TYPE, BadCall
from .native_calls import GOOD


def bad_packing():
    """Sets that do not fit to each other or into their places."""
    rise = [
        (longs(*ends), "do(es)? not rise|must rise")
        for ends in ((0, 2, 3, 5), (1, 2, 3, 6), (0, 3, 2, 6), (0, 2**62, 3, 6))
    ]
    rise.append((longs(), "offsets|begins has"))
    codings = [
        ("first_slots", ints(0), "first_slots has 1 entries|bits has 2 entries"),
        ("first_slots", ints(-1, 3), "first slot is -1"),
        ("bits", ints(2), "bits has 1 entries"),
        ("bits", ints(0, 1), "bits is 0"),
        ("bits", ints(32, 1), "bits is 32"),
    ]
    begins = [
        ("begins", longs(4, 3), "begins has 2 entries"),
        ("begins", longs(5, 3, 0), "begin of a set is 5"),
        ("begins", longs(4, 3, 4), "begin of a set is 4"),
        ("begins", longs(2**62, 3, 0), "begin of a set is"),
    ]
    shapes = [
        ("slots", np.zeros((2, 5), np.int32), "must both have the shape"),
        ("slots", np.zeros((1, 6), np.int32), "must both have the shape"),
        ("fractions", np.zeros((2, 5), np.float32), "must both have the shape"),
    ]
    good = GOOD["pack_sets"]["fractions"]
    frozen = GOOD["pack_sets"]["packed"].copy()
    frozen.flags.writeable = False
    tables = {
        "pack_sets": [
            *shapes,
            *codings,
            *begins,
            ("begins", longs(4, -2, 0), "begin of a set is -2"),
            ("packed", np.zeros(11, np.uint32), "begin of a set is 4"),
            ("packed", np.zeros(0, np.uint32), "begin of a set is 4"),
            ("packed", frozen, WRONG_TYPE),
            *[
                ("fractions", np.where(good < 1, good, np.float32(number)), "fractions must")
                for number in (NAN, INF, 1.5, -1)
            ],
            ("slots", ints([0, 1, 4, 0, 1, 4], [3, 4, 3, 4, 3, 4]), "outside its feature"),
            ("slots", ints([0, 1, 2, 0, 1, 2], [3, 4, 3, 4, 3, 5]), "outside its feature"),
            ("slots", ints([0, 1, 2, 0, 1, -1], [3, 4, 3, 4, 3, 4]), "outside its feature"),
            ("slots", ints([0, 1, 2, 0, 1, 2], [2, 4, 3, 4, 3, 4]), "outside its feature"),
        ],
        "unpack_sets": [*shapes, *codings, ("packed", np.zeros(11, np.uint32), "packed has 11 entries")],
        "move_sets": [
            *begins,
            ("begins", longs(4, -1, 0), "begin of a set is -1"),
            ("features", 0, "features is 0"),
            ("features", -1, "features is -1"),
            ("features", 5, "so many entries for each token"),
            ("features", 3, "do(es)? not rise|must rise"),
            ("to", np.zeros(11, np.uint32), "to has 11 entries"),
        ],
    }
    for function, table in tables.items():
        for argument, value, message in [*table, *[("offsets", *each) for each in rise]]:
            yield BadCall(function, argument, value, message)
