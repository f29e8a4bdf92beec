"""Sets of items whose labels follow from what each item is worth."""

import numpy as np


def item_sets(items, smallest):
    """Return 400 sets of the items, the sums of what these are worth, and a class for each sum."""
    rng = np.random.default_rng(0)
    sets = [rng.choice(items, rng.integers(smallest, 6), replace=False).tolist() for _ in range(400)]
    worth = {item: rng.normal() for item in items}
    sums = np.array([sum(worth[item] for item in row) for row in sets])
    return sets, sums, np.array(["greek", "irish", "thai"])[np.digitize(sums, [-0.7, 0.7])]
