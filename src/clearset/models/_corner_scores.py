"""Scores of tokens that leave features of their sets open."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from clearset.engines import engine
from clearset.export import CornerScores
from clearset.tokens import PER_SET, Found, Occurrences

if TYPE_CHECKING:
    from clearset.models._semantic_model import SemanticModel


def scores_at_corners(model: SemanticModel) -> CornerScores:
    """Score every token of the table, and the missing one, with each feature of sets calibrated to 0 and to 1.

    A lattice is linear in each calibrated value, so that scores and their means for any set lie between these.
    """
    table, function = model.table, model.refined_function
    names, n_tokens = [feature.name for feature in model.binning.features], len(table)
    of_sets = [place for place, name in enumerate(names) if name in PER_SET]
    edges, tokens = model.binning.slot_offsets.tolist(), np.arange(n_tokens)
    found = []
    for whole in (0, 1) if "whole" in names else (0,):
        # One set for each token, which is the whole set or has one more item; and an empty one, of the missing token.
        n_items = np.append(table.sizes.astype(np.int64) + (1 - whole), 0)
        each = Found(tokens.astype(np.int32), np.append(np.arange(n_tokens + 1), n_tokens))
        positions = model.placer.place(Occurrences(each, tokens, table.sizes, n_items, {}))
        corners = []
        for values in product((0.0, 1.0), repeat=len(of_sets)):
            calibration = np.array(function.calibration, np.float64)
            for place, value in zip(of_sets, values, strict=True):
                missing = edges[place + 1] - 1
                calibration[:, missing] = value
                positions.slots[place - 1], positions.fractions[place - 1] = missing, 0.0
            corners.append(engine().scores(replace(function, calibration=calibration), positions, model.threads))
        found.append(np.stack(corners, axis=-1))
    scores = np.stack(found)
    return CornerScores(scores[:, :-1], scores[0, -1])
