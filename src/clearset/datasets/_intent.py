"""Web queries, and whether they were after government information."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.datasets._files import Folder, Source, column_names, find_file, read_columns
from clearset.datasets._labelled import Labelled

_SOURCE = Source(
    "intent",
    ("intent.parquet", "intent.csv"),
    "It is a table with the columns query and label (1 or 0), made from the topics of TREC's Million Query tracks "
    "2007 to 2009 and Terabyte track 2005, which are in topics/ of the public GitHub repository "
    "castorini/anserini-tools; the doc string of clearset.datasets.load_intent says how.",
)


def load_intent(folder: Folder = None, *, length_matched: bool = False) -> Labelled:
    r"""Load web search queries; the label is whether the user was after government information.

    99,723 distinct queries of the Text REtrieval Conference (TREC). The label is 1 for the queries of the Million
    Query tracks of 2007 and 2008, which were chosen for a click on a page of a government site, and 0 for those that
    are only in the track of 2009 or in the Terabyte track of 2005, which are of the web at large. Queries are
    lower-cased, punctuation is replaced by a space, a lone "s" is dropped, "u s" is written "us", and of equal
    queries one is kept.

    Queries after government information are longer, so that the number of words alone tells a good deal (AUC 0.76). The
    length-matched ones have both labels equally often at every number of words.

    Parameters
    ----------
    folder : path, default=None
        Where ``intent.parquet`` or ``intent.csv`` is (columns ``query``, ``label``, and for the length-matched ones
        ``length_matched``), or ``intent/`` with one of them. None: the folder that the environment variable
        ``CLEARSET_DATA`` names, then ``../shared/data``.
    length_matched : bool, default=False
        Whether to keep only the 34,366 length-matched queries.

    Returns
    -------
    Labelled
        X is a column of texts; y is 1 for government information, else 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from clearset.datasets import load_intent
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = "query,label\nrenew passport,1\nchicken soup,0\n"
    ...     _ = (pathlib.Path(folder) / "intent.csv").write_text(text)
    ...     queries = load_intent(folder)
    >>> queries.X.to_pylist(), queries.y
    (['renew passport', 'chicken soup'], array([1, 0]))
    """
    path = find_file(_SOURCE, folder)
    columns = {"query": pa.string(), "label": pa.int64()}
    if length_matched:
        if "length_matched" not in column_names(path):
            raise ValueError(
                f"{path} has no column 'length_matched', which says what to keep with length_matched=True. "
                "Add one of true and false, or load all queries."
            )
        columns["length_matched"] = pa.bool_()
    table = read_columns(path, columns)
    if length_matched:
        table = table.filter(table["length_matched"])
    labels = table["label"].to_numpy()
    if not np.isin(labels, (0, 1)).all():
        raise ValueError(f"Labels are 0 or 1, but {path} holds {pc.unique(table['label']).to_pylist()[:5]}.")
    return Labelled(table["query"].combine_chunks(), labels)
