"""Wines: the adjectives of their reviews, and their points."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.datasets._arguments import check_count
from clearset.datasets._files import Folder, Source, find_file, read_columns
from clearset.datasets._labelled import Labelled
from clearset.datasets._list_columns import sets_of_names

_SOURCE = Source(
    "wine",
    ("wine_texts.parquet", "winemag-data-130k-v2.csv"),
    "winemag-data-130k-v2.csv is in Kaggle's data set zynicide/wine-reviews.",
)
_WORDS = """
acidic aromatic austere balanced bitter bold bright buttery chewy clean complex concentrated creamy crisp
crunchy dark delicate dense dry dusty earthy elegant firm floral fragrant fresh fruity full generous
herbal honeyed intense jammy juicy lean light lively lush mineral oak oaky peppery plump powerful racy
refreshing rich ripe round savory silky simple smoky smooth soft sour spicy structured supple sweet tangy
tannic tart toasty velvety vibrant warm zesty
"""
_ADJECTIVES = _WORDS.split()


def load_wine(folder: Folder = None, *, n_adjectives: int = 39) -> Labelled:
    r"""Load reviews of wines as sets of taste adjectives, with the points they gave (Kaggle's zynicide/wine-reviews).

    A wine is the set of the taste adjectives that its review in Wine Enthusiast has as whole words ("oak", the
    noun, is counted as one); the label is its points, 80 to 100. Of equal reviews one is kept.

    Of the 130,000 reviews in Kaggle's file, the Parquet file has 61,360 (and others, which were chosen by their points
    or come from elsewhere, and are left out). Their points are distributed as in the whole, but Australia is
    over-represented.

    The list of 68 adjectives is our own, written down before any model was fitted: the 39 that Cotter et al. (2018)
    used are not public, so these data serve to compare models with each other, not with their figures. With the 39
    most frequent a wine has 2.6 adjectives and 7.8% have none; the points' variance is 9.25.

    Parameters
    ----------
    folder : path, default=None
        Where ``wine_texts.parquet`` or Kaggle's ``winemag-data-130k-v2.csv`` is, or ``wine/`` with one of them. None:
        the folder that the environment variable ``CLEARSET_DATA`` names, then ``../shared/data``.
    n_adjectives : int, default=39
        How many adjectives to use: those that are in the most reviews of the file.

    Returns
    -------
    Labelled
        X is a list column of adjectives, the more frequent first; y holds the points.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from clearset.datasets import load_wine
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = 'description,points\n"Ripe, rich; ripe!",90\nRipened in oak.,85\nA ripe wine.,87\n'
    ...     _ = (pathlib.Path(folder) / "winemag-data-130k-v2.csv").write_text(text)
    ...     wines = load_wine(folder)
    >>> wines.X.to_pylist(), wines.y
    ([['ripe', 'rich'], ['oak'], ['ripe']], array([90., 85., 87.]))
    """
    check_count("n_adjectives", n_adjectives)
    if n_adjectives > len(_ADJECTIVES):
        raise ValueError(f"n_adjectives is at most {len(_ADJECTIVES)}; received {n_adjectives}.")
    path = find_file(_SOURCE, folder)
    columns = {"description": pa.string(), "points": pa.float64()}
    if path.suffix == ".parquet":
        table = read_columns(path, columns | {"in_kaggle": pa.bool_(), "score_selected": pa.bool_()})
        # Copies that keep only certain scores would make high points too frequent.
        table = table.filter(pc.and_not(table["in_kaggle"], table["score_selected"]))
    else:
        table = read_columns(path, columns)
    if not table.num_rows:
        raise ValueError(f"{path} has no reviews. Take the file from its source again.")
    texts = table["description"].combine_chunks()
    codes = texts.dictionary_encode().indices.to_numpy()
    first = np.sort(np.unique(codes, return_index=True)[1])

    mentioned = _mentioned(texts.take(pa.array(first)))
    chosen = np.argsort(-mentioned.sum(axis=0), kind="stable")[:n_adjectives]
    used = mentioned[:, chosen]
    names = pa.array(_ADJECTIVES).take(pa.array(chosen))
    return Labelled(sets_of_names(names, np.nonzero(used)[1], used.sum(axis=1)), table["points"].to_numpy()[first])


def _mentioned(texts: pa.StringArray) -> np.ndarray:
    """Return which adjectives each text has: one row a text, one column an adjective."""
    words = pc.split_pattern_regex(pc.utf8_lower(texts), "[^a-z]+")
    places = pc.index_in(words.flatten(), pa.array(_ADJECTIVES))
    known = places.is_valid().to_numpy(zero_copy_only=False)
    mentioned = np.zeros((len(texts), len(_ADJECTIVES)), dtype=np.bool_)
    mentioned[pc.list_parent_indices(words).to_numpy()[known], places.drop_null().to_numpy()] = True
    return mentioned
