"""Semantic estimators on files that do not fit into memory learn the same bits as from the same rows in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import clearset as cs
from clearset.engines import _native_trainer, _problem
from clearset.estimators import _semantic_estimator, _semantic_files
from clearset.sets import FileRows, ScratchArray, Stream, _arranged_sets
from clearset.tokens import _stored_occurrences
from clearset.training import _examples, _fit_semantic, _placed_tokens, _try_setting

N = 1500


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Sets of items with numbers, classes, weights and groups; some are empty, and some have items of their own."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 121)
    codes = [rng.choice(120, rng.integers(0, 8), replace=False, p=shares / shares.sum()) for _ in range(N)]
    rows = [[f"item {code}" for code in row] + ([f"once {n}"] if n % 7 == 0 else []) for n, row in enumerate(codes)]
    others = [[f"other {code % 5}" for code in row[:2]] for row in codes]
    score = np.array([np.sin(row).sum() for row in codes])
    return pa.table(
        {
            "items": rows,
            "others": others,
            "salary": [rng.exponential(size=len(row)).tolist() for row in rows],
            "text": [" ".join(row) for row in rows],
            "number": score + rng.normal(size=N),
            "class": np.where(score > 1, "high", np.where(score < -1, "low", "middle")),
            "two": score > 0,
            "weight": rng.uniform(0, 2, N).round() * rng.uniform(1, 2, N),
            "group": rng.integers(0, 150, N),
        }
    )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks of few tokens, so that these sets are many, in memory too."""
    for module in (_native_trainer, _problem, _placed_tokens, _try_setting):
        monkeypatch.setattr(module, "CROSSED_BLOCK_TOKENS", 1500)
    monkeypatch.setattr(_problem, "PIECE_TOKENS", 700)
    monkeypatch.setattr(_placed_tokens, "_SAMPLE", 900)


@pytest.fixture
def in_files(monkeypatch: pytest.MonkeyPatch, table: pa.Table, tmp_path: Path) -> Any:
    """Return what writes columns to files and makes fits on them read piece by piece, and how they are divided."""

    def write(columns: list[str], rows_a_group: int = 170, files: int = 3) -> Path:
        folder = tmp_path / f"{files} files"
        folder.mkdir(exist_ok=True)
        for number in range(files):
            start, stop = N * number // files, N * (number + 1) // files
            part = table.select(columns).slice(start, stop - start)
            pq.write_table(part, folder / f"{number}.parquet", row_group_size=rows_a_group)
        monkeypatch.setattr(_semantic_files, "_COPIES", 10**9)
        return folder

    return write


def digest(model: Any) -> list[bytes]:
    """Return all that was learned, as bytes."""
    table, function, binning = model.token_table_, model.set_function_, model.binning_
    corrections = np.zeros(0) if table.corrections is None else table.corrections.amounts
    support = function.support
    parts = [*function.tables.values(), *binning.keypoints, support.base, support.counts, table.means, corrections]
    parts += [np.array([support.tokens, support.alone or 0.0]), np.asarray(model.as_model().link.nothing)]
    words = [str(model.setting_), str(table.vocabulary.to_pylist()), str(model.choices_), str(model.history_)]
    return [np.ascontiguousarray(part).tobytes() for part in parts] + [text.encode() for text in words]


CASES: list[tuple[str, type, dict[str, Any], str, list[str], dict[str, str]]] = [
    ("all is chosen", cs.SemanticClassifier, {}, "class", ["items"], {}),
    ("texts", cs.SemanticRegressor, {"width": 1}, "number", ["text"], {"sample_weight": "weight"}),
    ("a number, refined", cs.SemanticRegressor, {"tokens": cs.Subsets(2), "refine": 1}, "number", ["items"], {}),
    (
        "without folds and validation",
        cs.SemanticClassifier,
        {"tokens": cs.Items(), "cross_fit": None, "early_stopping": False, "refine": 0},
        "two",
        ["items"],
        {"groups": "group"},
    ),
    (
        "groups and weights",
        cs.SemanticClassifier,
        {"tokens": cs.Items(), "refine": 1, "class_weight": "balanced"},
        "class",
        ["items"],
        {"sample_weight": "weight", "groups": "group"},
    ),
    (
        "pairs",
        cs.SemanticRegressor,
        {"tokens": cs.Cross("items", "others"), "refine": 0},
        "number",
        ["items", "others"],
        {},
    ),
    (
        "differences",
        cs.SemanticFeatureEngine,
        {"tokens": cs.Difference("items", "others"), "loss": "squared_error"},
        "number",
        ["items", "others"],
        {},
    ),
    (
        "details, n-grams",
        cs.SemanticClassifier,
        {"tokens": cs.NGrams(2), "details": ["salary"], "cover": True, "filters": [cs.MinCount(3)]},
        "two",
        ["items", "salary"],
        {},
    ),
]


@pytest.mark.parametrize(
    ("kind", "options", "label", "items", "columns"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_same_bits(
    table: pa.Table,
    in_files: Any,
    kind: type,
    options: dict[str, Any],
    label: str,
    items: list[str],
    columns: dict[str, str],
) -> None:
    options = {"epochs": 4, "random_state": 0, "n_jobs": 2, **options}
    X, others = table.select(items), {name: table[column].to_numpy() for name, column in columns.items()}
    expected = kind(**options).fit(X, table[label], **others)
    folder = in_files([*items, label, *columns.values()])
    found = kind(**options, max_memory="64MB").fit(folder, label, **columns)
    assert digest(found) == digest(expected)
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    assert found.token_table_.examples is None


def test_files_limits_and_threads_do_not_matter(
    table: pa.Table, in_files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"tokens": cs.Subsets(2), "refine": 1, "epochs": 3, "random_state": 0}
    expected = digest(cs.SemanticRegressor(**options, n_jobs=1).fit(table.select(["items"]), table["number"]))
    for limit, (rows_a_group, files) in (("64MB", (10**6, 1)), ("1GB", (40, 4))):
        folder = in_files(["items", "number"], rows_a_group, files)
        found = cs.SemanticRegressor(**options, max_memory=limit, n_jobs=2).fit(folder, "number")
        assert digest(found) == expected
    checkpoint = folder.parent / "checkpoint"
    assert digest(cs.SemanticRegressor(**options).fit(folder, "number", checkpoint=checkpoint)) == expected
    data = ds.dataset([folder / f"{number}.parquet" for number in (2, 0, 3, 1)])
    assert digest(cs.SemanticRegressor(**options).fit(data, "number")) == expected
    # Now all tokens are in scratch files, put in order in parts, and no block is kept for another epoch.
    kept = []
    arrange = _stored_occurrences.arrange

    def watched(*arguments: Any) -> Any:
        kept.append(arrange(*arguments[:-1], 0))
        return kept[-1]

    monkeypatch.setattr(_placed_tokens, "arrange", watched)
    monkeypatch.setattr(_placed_tokens, "_OF_BLOCKS", float("inf"))
    monkeypatch.setattr(_arranged_sets, "_PART_BYTES", 1000)
    assert digest(cs.SemanticRegressor(**options).fit(folder, "number")) == expected
    assert kept
    assert all(isinstance(each.rows, ScratchArray) for each in kept)


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_sample_chooses_the_setting(
    table: pa.Table, in_files: Any, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    """It is read into memory where it takes little of it."""
    monkeypatch.setattr(_fit_semantic, "MOST_TO_CHOOSE_BY", 400)
    if not in_memory:
        monkeypatch.setattr(_examples, "_OF_SAMPLES", 1e12)
    options: dict[str, Any] = {"epochs": 4, "random_state": 0}
    expected = cs.SemanticRegressor(**options).fit(table.select(["items"]), table["number"])
    found = cs.SemanticRegressor(**options).fit(in_files(["items", "number"]), "number")
    assert digest(found) == digest(expected)
    assert len(found.choices_) > 1


def test_a_few_long_rows_are_found_before_all_is_read(tmp_path: Path) -> None:
    """They stand where nobody looks to see what rows take."""
    sizes = np.ones(8000, int)
    sizes[7600:] = 2000
    offsets, items = np.concatenate([[0], np.cumsum(sizes)]), pa.array([f"an item, number {n}" for n in range(50)])
    rows = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items.take(pa.array(np.arange(offsets[-1]) % 50)))
    pq.write_table(pa.table({"items": rows, "y": np.arange(8000.0)}), tmp_path / "a.parquet")
    parameters = cs.SemanticRegressor(max_memory="64MB").get_params(deep=False)
    before = pa.total_allocated_bytes()
    read = _semantic_files.read_rows(parameters, tmp_path, "y")
    assert isinstance(read.X, FileRows)
    assert pa.total_allocated_bytes() - before < 1_000_000
    assert read.X.read(10_000_000) is None
    whole = read.X.read()
    assert whole is not None
    assert whole["items"].combine_chunks().equals(rows)


def test_predictions_go_through_files_in_small_tables(
    table: pa.Table, in_files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = cs.SemanticRegressor(cs.Items(), epochs=2, random_state=0, max_memory="96MB")
    X, folder, asked = table.select(["items"]), in_files(["items"]), []

    def recording(self: Stream, columns: Any, bytes_at_once: int, **rows: Any) -> Any:
        asked.append(bytes_at_once)
        return tables(self, columns, 5_000, **rows)

    tables = Stream.tables
    expected = model.fit(X, table["number"]).predict(X)
    monkeypatch.setattr(Stream, "tables", recording)
    np.testing.assert_array_equal(model.predict(folder), expected)
    assert asked == [4_000_000]


def test_validation_data_and_other_tables(table: pa.Table, in_files: Any) -> None:
    options: dict[str, Any] = {"tokens": cs.Items(), "refine": 1, "epochs": 3, "random_state": 0}
    X, y, held = (
        table.select(["items"]),
        table["number"],
        (table.select(["items"]).slice(0, 300), table["number"][:300]),
    )
    expected = cs.SemanticRegressor(**options).fit(X, y, validation_data=held)
    folder = in_files(["items", "number"])
    part = folder.parent / "held.parquet"
    pq.write_table(table.select(["items", "number"]).slice(0, 300), part)
    for given in (held, (part, "number")):
        found = cs.SemanticRegressor(**options).fit(folder, "number", validation_data=given)
        assert digest(found) == digest(expected)
    expected = cs.SemanticRegressor(**options).fit(X, y, token_X=X, token_y=table["number"])
    other = {"token_X": folder, "token_y": "number"}
    found = cs.SemanticRegressor(**options).fit(folder, "number", **other)
    assert digest(found) == digest(expected)


def test_estimates_out_of_fold_refreshed_tables_and_refits(table: pa.Table, in_files: Any) -> None:
    options: dict[str, Any] = {"tokens": cs.Items(), "refine": 0, "epochs": 3, "random_state": 0}
    X, y, folder = table.select(["items"]), table["number"], in_files(["items", "number"])
    engine = cs.SemanticFeatureEngine(**options)
    estimates = engine.fit_transform(folder, "number")
    assert estimates.tobytes() == cs.SemanticFeatureEngine(**options).fit_transform(X, y).tobytes()
    models = [cs.SemanticRegressor(**options).fit(X.slice(0, 700), y[:700]) for _ in range(2)]
    models[0].refresh_table(X, y), models[1].refresh_table(folder, "number")
    assert digest(models[0]) == digest(models[1])
    models[0].refit_set_function(X, y), models[1].refit_set_function(folder, "number")
    assert digest(models[0]) == digest(models[1])


def test_tables_are_refreshed_piece_by_piece_for_a_gpu_too(table: pa.Table, in_files: Any) -> None:
    """Tokens are counted on the CPU, whichever device trains."""
    options: dict[str, Any] = {"tokens": cs.Items(), "refine": 0, "epochs": 3, "random_state": 0}
    X, y, folder = table.select(["items"]), table["number"], in_files(["items", "number"])
    models = [cs.SemanticRegressor(**options).fit(X.slice(0, 700), y[:700]) for _ in range(2)]
    models[0].refresh_table(X, y)
    models[1].set_params(device="cuda", max_memory="64MB").refresh_table(folder, "number")
    assert digest(models[0]) == digest(models[1])


def test_refused(table: pa.Table, in_files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = in_files(["items", "number"])
    monkeypatch.setattr(_semantic_files, "EXAMPLE_BYTES", 40_000)
    with pytest.raises(ValueError, match=r"each of 1,500 examples .* takes about 60 MB .* is 64 MB. Allow 100 MB"):
        cs.SemanticRegressor(max_memory="64MB").fit(folder, "number")
    monkeypatch.setattr(_semantic_files, "EXAMPLE_BYTES", 150)
    monkeypatch.setattr(_semantic_estimator, "check_device", lambda _device: None)  # as if there were a GPU
    with pytest.raises(ValueError, match="device='cuda' trains on tokens in memory"):
        cs.SemanticRegressor(device="cuda", max_memory="64MB").fit(folder, "number")
    with pytest.raises(ValueError, match="groups has missing values"):
        cs.SemanticRegressor().fit(_with_missing(folder, table), "number", groups="missing")


def _with_missing(folder: Path, table: pa.Table) -> Path:
    path = folder.parent / "missing.parquet"
    missing = pa.array(np.arange(N) % 9, mask=np.arange(N) == 5)
    pq.write_table(table.select(["items", "number"]).append_column("missing", missing), path)
    return path
