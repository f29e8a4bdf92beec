"""Files of every kind: how they are made, read, and asked for everything that reading them could have got wrong."""

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import clearset as cs
from clearset import runtime
from clearset.artifact import ArtifactError, read_artifact
from clearset.training import _checkpoint
from clearset.tuning._journal import open_journal

KEY = bytes(range(32))
ROWS = [
    ["salt", "lime"],
    ["salt", "feta"],
    ["lime", "chili"],
    ["feta", "olives"],
    ["rice"],
    ["rice", "soy", "lime"],
] * 8
CLASSES = ["thai", "greek", "mexican"] * 16
PROBES = [["salt"], ["lime", "feta", "soy"], [], ["unknown"], ["rice", "salt", "chili", "olives"]]
SETS = pa.table(
    {
        "stars": [[5.0, 4.0], [1.0], [3.0, None, 2.0], [], [4.5]] * 12,
        "store": [["a", "b"], ["c"], ["a", "a", None], [], ["b"]] * 12,
        "price": np.linspace(1.0, 9.0, 60),
    }
)
FEATURES = [cs.Feature("stars", monotonic="increasing"), cs.Feature("store", kind="categorical"), "price", cs.SIZE]


class Kind(NamedTuple):
    """A kind of file."""

    make: Callable[[Path, Any], None]  # writes one, signed if there is a key
    load: Callable[[Path, Any], Any]  # reads one, which must be signed if there is a key
    ask: Callable[[Any], list[Any]]  # what it answers: everything that it is used for
    verify: Callable[[Any], bool]  # whether what it says of itself holds
    writes: bool = False  # whether what reads it goes on writing it


def _sets(path: Path, key: Any) -> None:
    trust = cs.Trust("stars", by="price")
    model = cs.SetRegressor(FEATURES, 2, trusts=[trust], epochs=2, random_state=0, n_jobs=1)
    model.fit(SETS, np.arange(60.0)).save(path, key=key)


def _ensemble(path: Path, key: Any) -> None:
    model = cs.SetClassifier(lattices="ensemble", epochs=2, random_state=0, n_jobs=1)
    model.fit(np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3).save(path, key=key)


def _semantic_model(**options: Any) -> Any:
    given: dict[str, Any] = {"features": ["log_odds", "count"], "epochs": 2, "random_state": 0, "n_jobs": 1} | options
    return cs.SemanticClassifier(cs.Subsets(2), cross_fit=2, **given).fit(ROWS, CLASSES)


def _edited(path: Path, key: Any) -> None:
    editor = _semantic_model(refine=True, features=None).edit()
    editor.drop_token(["salt"])
    editor.model.save(path, key=key)


def _joint(path: Path, key: Any) -> None:
    frame = pa.table({"words": ROWS, "price": np.arange(48.0)})
    engine = cs.SemanticFeatureEngine(cs.Items(), epochs=2)
    model = cs.JointModel({"words": engine}, cs.SetRegressor(epochs=2, n_jobs=1), random_state=0)
    model.fit(frame, np.arange(48.0)).save(path, key=key)


def _table(path: Path, key: Any) -> None:
    cs.TokenTable.build(ROWS, CLASSES, cs.Subsets(2), [cs.MinCount(2)]).save(path, key=key)


def _number_table(path: Path, key: Any) -> None:
    table = cs.TokenTable.build(["salt and lime", "lime", "rice and salt"] * 9, np.arange(27.0), cs.NGrams(2))
    table.save(path, False, key=key)


def _examples(path: Path, key: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _table(Path(folder) / "t", key)
        path.write_bytes(next(Path(folder).glob("t.*.examples")).read_bytes())


_BESIDE = tempfile.TemporaryDirectory()


def _load_examples(path: Path, key: Any) -> Any:
    table = Path(_BESIDE.name) / ("t" if key is None else "signed")
    if not table.exists():
        _table(table, key)
    next(table.parent.glob(f"{table.name}.*.examples")).write_bytes(path.read_bytes())
    return cs.TokenTable.load(table, key=key)


def _journal(path: Path, _key: Any) -> None:
    path.unlink(missing_ok=True)
    space = {"width": [1, 2], "epochs": [1, 2, 3]}
    model = cs.SetRegressor(epochs=1, random_state=0, n_jobs=1)
    X, y = np.linspace(0, 1, 60)[:, None], np.linspace(0, 1, 60)
    cs.tune(model, X, y, budget=3, space=space, storage=path, random_state=0, verbose=0)


def _load_journal(path: Path, _key: Any) -> Any:
    with open_journal(path) as journal:
        return [journal.search, journal.trials()]


def _begun_fit() -> tuple[Any, Any, Any]:
    model = cs.SetRegressor(
        FEATURES, 2, trusts=[cs.Trust("stars", by="price")], epochs=3, restarts=2, random_state=0, n_jobs=1
    )
    return model, SETS, np.arange(60.0)


def _begun_refinement() -> tuple[Any, Any, Any]:
    model = cs.SemanticClassifier(
        cs.Items(), features=["log_odds"], cross_fit=2, refine=True, epochs=3, random_state=0, n_jobs=1
    )
    return model, ROWS, CLASSES


def _begun_joint_fit() -> tuple[Any, Any, Any]:
    engine = cs.SemanticFeatureEngine(cs.Items(), epochs=2, n_jobs=1)
    model = cs.JointModel({"words": engine}, cs.SetRegressor(epochs=2, n_jobs=1), epochs=2, random_state=0)
    return model, pa.table({"words": ROWS, "price": np.arange(48.0)}), np.arange(48.0)


def _checkpoint_of(begun: Callable[[], tuple[Any, Any, Any]]) -> Callable[[Path, Any], None]:
    """Return what writes the last checkpoint of a fit that has a training under way."""

    def make(path: Path, _key: Any) -> None:
        kept: list[bytes] = []
        write = _checkpoint.Checkpoint.write

        def keep(checkpoint: Any) -> None:
            write(checkpoint)
            if any(".state." in name for name in read_artifact(checkpoint.path).arrays):
                kept.append(checkpoint.path.read_bytes())

        model, X, y = begun()
        always: Any = {"SECONDS": 0.0, "SHARE": float("inf")}
        with patch.multiple(_checkpoint, **always), patch.object(_checkpoint.Checkpoint, "write", keep):
            model.fit(X, y, checkpoint=path)
        path.write_bytes(kept[-1])

    return make


def _going_on(begun: Callable[[], tuple[Any, Any, Any]]) -> Callable[[Path, Any], Any]:
    """Return what goes on with a fit; a refusal must say that it left the file as it is, and have done so."""

    def load(path: Path, _key: Any) -> Any:
        before = path.read_bytes() if path.is_file() and path.stat().st_size < 2**24 else None
        model, X, y = begun()
        try:
            return model.fit(X, y, checkpoint=path)
        except ValueError as error:
            if "remove this one to start anew" not in str(error):
                raise
            if before is not None and path.read_bytes() != before:
                raise AssertionError("a checkpoint that was refused has changed") from error
            raise ArtifactError(str(error)) from error

    return load


def _of_sets(model: Any) -> list[Any]:
    told = model.explain(SETS, effects=True)
    scores = model.phi(SETS)
    curves = [curve.effects for curve in model.calibrators().values()]
    return [model.predict(SETS), *scores, _added(told), *curves, _saved(model)]


def _of_arrays(model: Any) -> list[Any]:
    X = np.linspace(-3, 3, 40).reshape(10, 4)
    return [model.predict_proba(X), *model.phi(X), _added(model.explain(X)), _saved(model)]


def _of_strings(model: Any) -> list[Any]:
    told = model.explain(PROBES)
    return [model.predict_proba(PROBES), *model.phi(PROBES), _added(told), _saved(model)]


def _of_frame(model: Any) -> list[Any]:
    frame = pa.table({"words": PROBES, "price": np.arange(5.0)})
    return [model.predict(frame), model.estimates(frame).to_pydict(), _saved(model)]


def _of_frozen(model: Any) -> list[Any]:
    return [model.predict_proba(PROBES), model.outputs(PROBES), _saved(model)]


def _of_table(table: Any) -> list[Any]:
    more = [] if table.examples is None else [table.update(ROWS[:6], CLASSES[:6]).to_arrow().to_pydict()]
    found = [table.lookup(["salt"]), table.to_arrow().to_pydict(), str(table)]
    return [*found, *more, _saved(table)]


def _of_items(scorer: Any) -> list[Any]:
    told = scorer.explain(PROBES)
    return [scorer.estimates(PROBES), scorer.predict(PROBES), told.contributions, told.tokens]


def _of_values(scorer: Any) -> list[Any]:
    sets = SETS.slice(0, 8).to_pydict()
    return [scorer.estimates(sets), scorer.predict(sets), scorer.explain(sets).contributions]


def _added(explanation: Any) -> Any:
    return np.asarray(explanation.to_frame()["contribution"], np.float64)


def _saved(made: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        made.save(Path(folder) / "again")
        return hashlib.sha256((Path(folder) / "again").read_bytes()).hexdigest()


def _certified(model: Any) -> bool:
    return bool(model.certificate_) == bool(model.verify())


def _certified_parts(model: Any) -> bool:
    return all(map(_certified, [*model.engines.values(), model.follow_on]))


def _fitted(model: Any) -> bool:
    """Tell whether a certificate holds, as that of every fit must."""
    parts = [*model.engines_.values(), model.follow_on_] if isinstance(model, cs.JointModel) else [model]
    return all(part.certificate_ and part.verify() for part in parts)


def _always(_: Any) -> bool:
    return True


def _load(path: Path, key: Any) -> Any:
    return cs.load(path, key=key)


KINDS = {
    "sets": Kind(_sets, _load, _of_sets, _certified),
    "ensemble": Kind(_ensemble, _load, _of_arrays, _certified),
    "semantic": Kind(lambda path, key: _semantic_model().save(path, key=key), _load, _of_strings, _certified),
    "edited": Kind(_edited, _load, _of_strings, _certified),
    "joint": Kind(_joint, _load, _of_frame, _certified_parts),
    "frozen": Kind(
        lambda path, key: _semantic_model().freeze().save(path, key=key),
        lambda path, key: cs.FrozenModel.load(path, key=key),
        _of_frozen,
        _always,
    ),
    "table": Kind(_table, lambda path, key: cs.TokenTable.load(path, key=key), _of_table, _always),
    "number table": Kind(_number_table, lambda path, key: cs.TokenTable.load(path, key=key), _of_table, _always),
    "examples": Kind(_examples, _load_examples, _of_table, _always),
    "items runtime": Kind(
        lambda path, key: _semantic_model(features=None, refine=True).to_runtime(path, key=key),
        lambda path, key: runtime.load(path, key=key),
        _of_items,
        _always,
    ),
    "values runtime": Kind(
        lambda path, key: _values_runtime(path, key), lambda path, key: runtime.load(path, key=key), _of_values, _always
    ),
    "journal": Kind(_journal, _load_journal, lambda told: [repr(told)], _always, writes=True),
    "checkpoint": Kind(_checkpoint_of(_begun_fit), _going_on(_begun_fit), _of_sets, _fitted, writes=True),
    "refinement checkpoint": Kind(
        _checkpoint_of(_begun_refinement), _going_on(_begun_refinement), _of_strings, _fitted, writes=True
    ),
    "joint checkpoint": Kind(
        _checkpoint_of(_begun_joint_fit), _going_on(_begun_joint_fit), _of_frame, _fitted, writes=True
    ),
}
UNSIGNED = ("journal", "checkpoint", "refinement checkpoint", "joint checkpoint")


def _values_runtime(path: Path, key: Any) -> None:
    model = cs.SetRegressor(FEATURES, 2, epochs=2, random_state=0, n_jobs=1)
    model.fit(SETS, np.arange(60.0)).to_runtime(path, key=key)
