"""Jigsaw puzzles: their reviews and their sales."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from clearset.datasets._files import Folder, Source, find_file, read_columns
from clearset.datasets._labelled import Labelled
from clearset.sets import from_long

_PUBLIC = "It is in the public GitHub repository wbakst/puzzles_data."
_TOKENS = ("star_rating", "word_count", "is_amazon", "includes_photo", "num_helpful")


@dataclass(frozen=True)
class PuzzleData:
    """The two parts of the puzzles, as `load_puzzles` returns them.

    Attributes
    ----------
    training : Labelled
        Reviews and sales of the earlier six months.
    test : Labelled
        Reviews and sales of the last six months.
    """

    training: Labelled
    test: Labelled


def load_puzzles(folder: Folder = None) -> PuzzleData:
    r"""Load the reviews and sales of jigsaw puzzles (wbakst/puzzles_data on GitHub).

    A product is the set of its reviews, its label what was sold in six months. The training products' sales are of
    12 to 18 months ago, those of the test products of the last six months. There is no validation part: split one off.

    Parameters
    ----------
    folder : path, default=None
        Where ``train.csv`` and ``test.csv`` are, or ``puzzles/`` with them. None: the folder that the environment
        variable ``CLEARSET_DATA`` names, then ``../shared/data``.

    Returns
    -------
    PuzzleData
        ``training`` and ``test``; X is an Arrow table with a row a product and the list columns ``star_rating``,
        ``word_count``, ``is_amazon``, ``includes_photo`` and ``num_helpful``; y holds the sales.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from clearset.datasets import load_puzzles
    >>> columns = "puzzle_name,star_rating,word_count,is_amazon,includes_photo,num_helpful"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, label in (("train.csv", "Sales12-18MonthsAgo"), ("test.csv", "SalesLastSixMonths")):
    ...         text = f"{columns},{label}\nSea,5,30,1,0,2,81\nSea,4,12,0,0,0,81\nAlps,3,9,1,1,4,40\n"
    ...         _ = (pathlib.Path(folder) / name).write_text(text)
    ...     puzzles = load_puzzles(folder)
    >>> puzzles.training.X["star_rating"].to_pylist(), puzzles.training.y
    ([[5, 4], [3]], array([81., 40.]))
    """
    return PuzzleData(
        _read("train.csv", "Sales12-18MonthsAgo", folder), _read("test.csv", "SalesLastSixMonths", folder)
    )


def _read(file: str, label: str, folder: Folder) -> Labelled:
    path = find_file(Source("puzzles", (file,), _PUBLIC), folder)
    columns = {"puzzle_name": pa.string(), **dict.fromkeys(_TOKENS, pa.int64()), label: pa.float64()}
    table = read_columns(path, columns)
    if not len(table):
        raise ValueError(f"{path} has no rows.")
    frame = from_long(table, by="puzzle_name", set_columns=label)
    return Labelled(frame.select(list(_TOKENS)), frame[label].to_numpy().astype(np.float64))
