import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clearset.datasets import load_wine
from clearset.datasets._wine import _ADJECTIVES

TEXTS = ["Ripe and RICH, ripe; oak-aged.", "Overripe, enriched.", "Dry... crisp\ndry finish", "So rich", "Rich, dry"]
POINTS = [92, 84, 88, 90, 89]


def write_csv(folder: Path, texts: list[str], points: list[int]) -> Path:
    rows = [f'{place},"{text}",{score}' for place, (text, score) in enumerate(zip(texts, points, strict=True))]
    (folder / "winemag-data-130k-v2.csv").write_text("\n".join([",description,points", *rows]))
    return folder


def test_whole_words_in_order_of_frequency(tmp_path: Path) -> None:
    wines = load_wine(write_csv(tmp_path, TEXTS, POINTS))
    # rich is in three, dry in two, the others in one.
    assert wines.X.to_pylist() == [["rich", "oak", "ripe"], [], ["dry", "crisp"], ["rich"], ["rich", "dry"]]
    assert wines.y.tolist() == POINTS
    assert wines.y.dtype == np.float64
    fewer = load_wine(tmp_path, n_adjectives=2)
    assert fewer.X.to_pylist() == [["rich"], [], ["dry"], ["rich"], ["rich", "dry"]]


def test_equal_reviews_are_kept_once(tmp_path: Path) -> None:
    wines = load_wine(write_csv(tmp_path, [*TEXTS, TEXTS[2], TEXTS[0]], [*POINTS, 88, 92]), n_adjectives=2)
    assert wines.y.tolist() == POINTS
    assert wines.X.to_pylist()[2] == ["dry"]


def test_parquet_is_the_same_without_what_was_selected(tmp_path: Path) -> None:
    table = {
        "description": [*TEXTS, "Tart, tart", "Tart"],
        "points": pa.array([*POINTS, 99, 98], pa.int8()),
        "in_kaggle": [True] * 6 + [False],
        "score_selected": [False] * 5 + [True, False],
    }
    (tmp_path / "wine").mkdir()
    pq.write_table(pa.table(table), tmp_path / "wine" / "wine_texts.parquet")
    by_parquet = load_wine(tmp_path)
    by_csv = load_wine(write_csv(tmp_path / "wine", TEXTS, POINTS))
    assert by_parquet.X.equals(by_csv.X)
    assert by_parquet.y.tolist() == by_csv.y.tolist()


def test_the_list_itself() -> None:
    assert len(set(_ADJECTIVES)) == len(_ADJECTIVES) == 68
    assert all(re.fullmatch("[a-z]+", word) for word in _ADJECTIVES)


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="n_adjectives is at most 68; received 69"):
        load_wine(tmp_path, n_adjectives=69)
    with pytest.raises(ValueError, match="n_adjectives must be at least 1"):
        load_wine(tmp_path, n_adjectives=0)
    (tmp_path / "winemag-data-130k-v2.csv").write_text("points,price\n90,12\n")
    with pytest.raises(ValueError, match="lacks 'description'; it has 'points', 'price'"):
        load_wine(tmp_path)
    (tmp_path / "winemag-data-130k-v2.csv").write_text("description,points\nripe,\n")
    with pytest.raises(ValueError, match=r"'points' .* has missing values"):
        load_wine(tmp_path)
    (tmp_path / "winemag-data-130k-v2.csv").write_text("description,points\n")
    with pytest.raises(ValueError, match=r"winemag-data-130k-v2.csv has no reviews"):
        load_wine(tmp_path)


def test_real(real) -> None:
    wines = real(load_wine)
    assert wines.n == 61_360
    assert wines.y.mean() == pytest.approx(88.43, abs=0.005)
    assert wines.y.std() == pytest.approx(3.04, abs=0.005)
    sizes = np.diff(wines.X.offsets.to_numpy())
    assert sizes.mean() == pytest.approx(2.57, abs=0.05)
    assert (sizes == 0).mean() == pytest.approx(0.085, abs=0.01)
    assert len(wines.X.flatten().unique()) == 39
