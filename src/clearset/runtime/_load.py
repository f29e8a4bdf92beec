"""Reading a runtime model."""

from importlib.util import find_spec
from os import PathLike

from clearset.files import Key, brief
from clearset.runtime._file import RuntimeFileError, read_runtime_file
from clearset.runtime._item_sets import ItemScorer
from clearset.runtime._scorer import Scorer
from clearset.runtime._value_sets import ValueScorer

_KINDS: dict[str, type[Scorer]] = {"items": ItemScorer, "values": ValueScorer}


def load(path: str | PathLike[str], *, key: Key | None = None) -> Scorer:
    """Read a model that `to_runtime` wrote; no code is run from it.

    Parameters
    ----------
    path : path-like
        The file.
    key : bytes, Ed25519PublicKey or Ed25519PrivateKey, optional
        The key that the file must be signed with, at least 32 bytes or a key of the package ``cryptography``; a file
        that is not, or was changed since, is refused. Without a key a signature is not looked at.

    Returns
    -------
    Scorer
        What predicts and explains.

    Raises
    ------
    RuntimeFileError
        If the file is no runtime model, is damaged, or is not signed with the key.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> import clearset as cs
    >>> from clearset import runtime
    >>> products = {"stars": [[5, 4], [1], [5, 5, 5], [2, 3]]}
    >>> model = cs.SetRegressor([cs.Feature("stars", monotonic="increasing")], random_state=0)
    >>> _ = model.fit(pa.table(products), [120.0, 20.0, 180.0, 60.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.to_runtime(Path(folder) / "sales.runtime")
    ...     scorer = runtime.load(Path(folder) / "sales.runtime")
    >>> scorer.predict(products).shape
    (4,)
    """
    if find_spec("clearset._native") is None:
        raise ImportError("clearset.runtime needs the native module. Install clearset; a copy of the sources lacks it.")
    description, arrays = read_runtime_file(path, key)
    try:
        scorer = _KINDS[description["kind"]](description, arrays)
        scorer.check()
        return scorer
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError) as error:
        raise RuntimeFileError(f"{str(path)!r} is no runtime model of this version ({brief(error)}).") from None
