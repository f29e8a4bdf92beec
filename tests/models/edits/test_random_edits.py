"""Hundreds of random edits: the certificate holds, files keep them, and undoing them gives the same bits."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import clearset as cs
from clearset.functions import ShapeConstraints
from clearset.models import EditRefusedError, Model, SemanticModel
from clearset.models._semantic_storage import semantic_artifact
from clearset.models._set_storage import set_artifact
from clearset.models.edits import Cap, DropToken, Edit, Flatten, Forbid, PinToken

N_EDITS = 15
QUICK = {"epochs": 1, "early_stopping": False, "random_state": 0, "n_jobs": 1}
ITEMS = [f"item {letter}" for letter in "abcdefghij"]
STORES = ["flea market", "market", "flagship"]


def products(rng: np.random.Generator, n: int) -> pa.Table:
    """Make sets of reviews, some of them empty, some values missing."""
    sizes = rng.integers(0, 5, n)

    def column(draw: Any) -> list[list[Any]]:
        return [[None if rng.random() < 0.1 else draw() for _ in range(size)] for size in sizes]

    return pa.table(
        {
            "stars": pa.array(column(lambda: float(rng.integers(1, 6))), pa.list_(pa.float64())),
            "words": pa.array(column(lambda: float(rng.gamma(2.0, 30.0))), pa.list_(pa.float64())),
            "helpful": pa.array(column(lambda: float(rng.poisson(3.0))), pa.list_(pa.float64())),
            "store": pa.array(column(lambda: str(rng.choice(STORES))), pa.list_(pa.string())),
        }
    )


def models_of_sets(rng: np.random.Generator) -> Iterator[tuple[Model, Any]]:
    X = products(rng, 80)
    store = cs.Feature("store", kind="categorical", monotonic=[("flea market", "market"), ("market", "flagship")])
    stars = cs.Feature("stars", monotonic="increasing")
    declared: list[tuple[list[Any], list[Any]]] = [
        ([stars, cs.Feature("words", shape="concave"), cs.SIZE], []),
        ([stars, "helpful", store], [cs.Trust("stars", by="helpful")]),
        ([stars, "helpful", "words"], [cs.Trust("stars", by="helpful", shape="trapezoid")]),
        ([cs.Feature("words", shape="convex", monotonic="decreasing"), store, "helpful"], []),
    ]
    for width, (features, trusts) in enumerate(declared, 1):
        options: dict[str, Any] = {"trusts": trusts, "width": 1 + width % 2, **QUICK}
        yield cs.SetRegressor(features, **options).fit(X, rng.normal(size=80)).as_model(), X
        yield cs.SetClassifier(features, **options).fit(X, rng.integers(0, 2, 80)).as_model(), X
    plain = ["stars", "words", cs.Feature("store", kind="categorical"), cs.SIZE]
    yield cs.SetClassifier(plain, **QUICK).fit(X, rng.choice(["a", "b", "c"], 80)).as_model(), X


def models_of_items(rng: np.random.Generator) -> Iterator[tuple[Model, Any]]:
    X = [rng.choice(ITEMS, rng.integers(0, 6)).tolist() for _ in range(120)]
    two, many, number = rng.integers(0, 2, 120), rng.choice(["x", "y", "z"], 120), rng.normal(90.0, 3.0, 120)
    told = ["log_odds", "count", "size", "interval", "entropy", "lift", "items", "tokens"]
    for options in (
        {"tokens": cs.Items(), "refine": True},
        {"tokens": cs.Subsets(3), "filters": [cs.MinCount(2)], "cover": True, "refine": 2},
        {"tokens": cs.NGrams(3), "filters": [cs.MinCount(2)], "refine": False},
    ):
        yield cs.SemanticClassifier(**options, **QUICK).fit(X, many).as_model(), X
        yield cs.SemanticRegressor(**options, **QUICK).fit(X, number).as_model(), X
    several: dict[str, Any] = {"tokens": cs.Subsets(2), "features": told, "refine": False}
    yield cs.SemanticClassifier(**several, **QUICK).fit(X, two).as_model(), X
    # Items that pass a filter only without some fold stay in the vocabulary, but in no token of the table.
    rare = [[f"rare {number}" for number in np.unique(rng.integers(0, 60, 4))] for _ in range(120)]
    options = {"tokens": cs.Subsets(2), "filters": [cs.MinCount(8)], "refine": True}
    model = cs.SemanticRegressor(**options, **QUICK).fit(rare, number).as_model()
    assert len(np.unique(model.table.items_of(np.arange(len(model.table))).codes)) < len(model.table.vocabulary)
    yield model, rare
    pairs = [(row[:2], row[2:]) for row in X]
    cross: dict[str, Any] = {"tokens": cs.Cross(), "refine": False}
    yield cs.SemanticRegressor(**cross, **QUICK).fit(pairs, number).as_model(), pairs


def models(rng: np.random.Generator) -> Iterator[tuple[Model, Any]]:
    """Make models of all kinds, each with two sets of random parameters that obey what is declared."""
    for model, X in (*models_of_sets(rng), *models_of_items(rng)):
        for _ in range(2):
            function = model.function.copy()
            for name, table in function.tables.items():
                low = 0.0 if name.endswith(("calibration", "calibrators")) else -1.0
                table[:] = rng.uniform(low, 1.0, table.shape)
            ShapeConstraints.of(function, model.binning, model.trusts).project_exactly(function.tables)
            made = replace(model, function=function)
            yield replace(made, certificate=made.verify()), X


def drawn_edit(model: Model, rng: np.random.Generator) -> Edit:
    """Draw an edit of any kind that speaks of things the model has; it may still break a promise."""
    if isinstance(model, SemanticModel) and len(model.table) > 1 and rng.random() < 0.6:
        token = model.table.spell(int(rng.integers(len(model.table))))
        if rng.random() < 0.5:
            return DropToken(token)
        classes = model.table.classes
        value = rng.normal(90.0, 5.0) if classes is None else rng.uniform()
        return PinToken(token, value, None if classes is None else classes[rng.integers(len(classes))])
    place = int(rng.integers(len(model.binning.features)))
    name, keypoints = model.binning.features[place].name, model.binning.keypoints[place]
    if rng.random() < 0.07:
        return Forbid(name)
    if keypoints is None:
        categories = model.binning.categories[place] or ()
        return Flatten(name, categories=rng.permutation(categories)[:2].tolist() if rng.random() < 0.6 else None)
    low, high = np.sort(rng.uniform(keypoints[0], keypoints[-1], 2))
    if rng.random() < 0.3:  # exactly at keypoints
        low, high = np.sort(rng.choice(keypoints, 2))
        if rng.random() < 0.3:  # or hardly beside them
            low, high = np.clip([low, high + 1e-9 * np.ptp(keypoints)], keypoints[0], keypoints[-1])
    ends = [None if rng.random() < 0.2 else float(low), float(high)]
    return (Flatten if rng.random() < 0.5 else Cap)(name, *ends)


def state(model: Model) -> dict[str, Any]:
    """Return all that the file of a model holds: documents, and the bytes of tables and members."""
    artifact = semantic_artifact(model) if isinstance(model, SemanticModel) else set_artifact(model)  # type: ignore[arg-type]
    arrays = {name: (array.shape, array.tobytes()) for name, array in artifact.arrays.items()}
    return {"document": artifact.document, "arrays": arrays, "members": artifact.members}


def outputs(model: Model, X: Any) -> bytes:
    return model.read(X).outputs().tobytes()


def test_500_edits(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(5), tmp_path / "model.clearset"
    made = refused = 0
    for model, X in models(rng):
        editor, stages = model.edit(), [(state(model), outputs(model, X))]
        while len(stages) <= N_EDITS:
            edit, before = drawn_edit(editor.model, rng), editor.model
            assert Edit.from_json(edit.to_json()) == edit
            try:
                editor.apply(edit)
            except EditRefusedError:
                refused += 1
                assert editor.model is before
                continue
            made += 1
            assert editor.model.certificate
            stages.append((state(editor.model), outputs(editor.model, X)))
        assert editor.model.verify() == editor.model.certificate
        editor.model.save(path)
        loaded = cs.load(path).edit()
        loaded.model.save(path)
        assert state(cs.load(path)) == state(loaded.model)
        for saved, predicted in stages[-2::-1]:
            assert outputs(editor.undo().model, X) == outputs(loaded.undo().model, X) == predicted
            assert state(editor.model) == saved
        model.save(path)
        assert state(loaded.model) == state(cs.load(path))
        assert state(model) == stages[0][0]  # editing has left the first model alone
        assert outputs(model, X) == stages[0][1]
    assert made >= 500
    assert refused >= 20


def test_edits_are_the_same_whatever_the_threads() -> None:
    model, X = next(models_of_sets(np.random.default_rng(0)))
    several = replace(model, parameters={**model.parameters, "n_jobs": 3})
    edits = [Cap("words", high=50.0), Flatten("stars", 2.0, 3.0)]
    first, second = model.edit(), several.edit()
    for edit in edits:
        assert outputs(first.apply(edit).model, X) == outputs(second.apply(edit).model, X)
        assert first.model.certificate == second.model.certificate
