from pathlib import Path

import numpy as np
import pytest

from clearset.datasets import load_puzzles

HEADER = "puzzle_name,star_rating,word_count,is_amazon,includes_photo,num_helpful,"


def write(folder: Path, train: str, test: str = "A,1,2,0,1,3,10\n") -> None:
    (folder / "train.csv").write_text(f"{HEADER}Sales12-18MonthsAgo\n{train}")
    (folder / "test.csv").write_text(f"{HEADER}SalesLastSixMonths\n{test}")


def test_a_row_a_product(tmp_path: Path) -> None:
    write(tmp_path, "B,5,10,1,0,2,81\nA,4,20,0,1,0,7\nB,3,30,1,1,9,81\n")
    puzzles = load_puzzles(tmp_path)
    assert puzzles.training.X.to_pydict() == {
        "star_rating": [[5, 3], [4]],
        "word_count": [[10, 30], [20]],
        "is_amazon": [[1, 1], [0]],
        "includes_photo": [[0, 1], [1]],
        "num_helpful": [[2, 9], [0]],
    }
    assert puzzles.training.y.tolist() == [81.0, 7.0]
    assert puzzles.test.y.dtype == np.float64
    assert puzzles.test.X["word_count"].to_pylist() == [[2]]


def test_another_train_csv(tmp_path: Path) -> None:
    write(tmp_path, "")
    with pytest.raises(ValueError, match=r"train\.csv has no rows"):
        load_puzzles(tmp_path)
    (tmp_path / "train.csv").write_text("PassengerId,Survived\n1,0\n")
    with pytest.raises(ValueError, match=r"lacks 'puzzle_name'.*it has 'PassengerId', 'Survived'"):
        load_puzzles(tmp_path)


def test_half_of_the_files(tmp_path: Path) -> None:
    write(tmp_path, "B,5,10,1,0,2,81\n")
    (tmp_path / "test.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"No test\.csv for puzzles"):
        load_puzzles(tmp_path)


def test_real(real) -> None:
    puzzles = real(load_puzzles)
    assert (puzzles.training.n, puzzles.test.n) == (155, 199)
    for part, reviews in ((puzzles.training, 1278), (puzzles.test, 1836)):
        stars = part.X["star_rating"].combine_chunks().flatten().to_numpy()
        assert len(stars) == reviews
        assert set(stars.tolist()) == {1, 2, 3, 4, 5}
    constant = np.abs(puzzles.test.y - np.median(puzzles.training.y)).mean()
    assert constant == pytest.approx(59.4, abs=0.05)
