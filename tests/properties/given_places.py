"""Models that read the places of tokens, as models that are told them in columns, where they can be changed."""

from dataclasses import replace
from typing import Any

import numpy as np
from tests.properties.declarations import Case
from tests.properties.sets_drawn import Column, Sets

import clearset as cs
from clearset.sets import Binning

COLUMNS = {cs.PLACE: "from the end", cs.PLACE_FROM_START: "from the start"}


def reads_places(case: Case) -> bool:
    """Return whether the order of tokens matters."""
    return any(feature.name in COLUMNS for feature in case.features)


def with_columns_for_places(model: Any, case: Case, sets: Sets) -> tuple[Any, Case, Sets]:
    """Return a model that reads places from columns, what is declared of it, and sets with these columns."""
    model = model.as_model()

    def renamed(declared: Any) -> Any:
        return tuple(replace(each, name=COLUMNS.get(each.name, each.name)) for each in declared)

    def trusts(declared: Any) -> list[cs.Trust]:
        names = [(COLUMNS.get(each.feature, each.feature), COLUMNS.get(each.by, each.by)) for each in declared]
        return [replace(each, feature=main, by=by) for each, (main, by) in zip(declared, names, strict=True)]

    binning = Binning(renamed(model.binning.features), model.binning.keypoints, model.binning.categories)
    places = [np.arange(size, dtype=float) for size in sets.sizes.tolist()]
    values = {
        COLUMNS[cs.PLACE]: np.concatenate([[], *(each[::-1] for each in places)]),
        COLUMNS[cs.PLACE_FROM_START]: np.concatenate([[], *places]),
    }
    columns = [*case.columns, *(Column(name, of_sets=False, draw="int", missing=0.0) for name in values)]
    return (
        replace(model, binning=binning, trusts=tuple(trusts(model.trusts))),
        replace(case, columns=columns, features=list(renamed(case.features)), trusts=trusts(case.trusts)),
        replace(sets, columns=columns, values={**sets.values, **values}),
    )
