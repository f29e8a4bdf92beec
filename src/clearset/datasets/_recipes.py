"""Recipes: their ingredients and their cuisines."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clearset.datasets._files import Folder, Source, as_types, check_columns, find_file, read_columns
from clearset.datasets._labelled import Labelled
from clearset.datasets._list_columns import sets_of_names

_SOURCE = Source(
    "recipes",
    ("recipes.parquet", "train.json"),
    "train.json is the training file of Kaggle's competition whats-cooking, also in the data set "
    "kaggle/recipe-ingredients-dataset.",
)
_COLUMNS = {"cuisine": pa.string(), "ingredients": pa.list_(pa.string())}


def load_recipes(folder: Folder = None, *, stem: bool = True, words: bool = False) -> Labelled:
    """Load recipes as sets of ingredients, with their cuisine (Kaggle's "What's Cooking?", recipes by Yummly).

    39,774 recipes of 20 cuisines. Ingredients are lower-cased; those without letters and digits are left out.

    Parameters
    ----------
    folder : path, default=None
        Where ``recipes.parquet`` or Kaggle's ``train.json`` is, or ``recipes/`` with one of them. None: the
        folder that the environment variable ``CLEARSET_DATA`` names, then ``../shared/data``.
    stem : bool, default=True
        Whether each word of an ingredient is stemmed ("black oliv"), which needs the package snowballstemmer.
    words : bool, default=False
        Whether the words of the ingredients are items beside them, marked as words ("salt (word)"): sugar as
        an ingredient says something else than as a word of one.

    Returns
    -------
    Labelled
        X is a list column of ingredients, y the names of the cuisines.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from clearset.datasets import load_recipes
    >>> recipe = {"id": 7, "cuisine": "greek", "ingredients": ["Black Olives", "feta"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (pathlib.Path(folder) / "train.json").write_text(json.dumps([recipe]))
    ...     recipes = load_recipes(folder)
    ...     with_words = load_recipes(folder, words=True)
    >>> recipes.X.to_pylist(), recipes.y.tolist()
    ([['black oliv', 'feta']], ['greek'])
    >>> with_words.X.to_pylist()
    [['black oliv', 'feta', 'black (word)', 'oliv (word)', 'feta (word)']]
    """
    path = find_file(_SOURCE, folder)
    table = _read_json(path) if path.suffix == ".json" else read_columns(path, _COLUMNS)
    lists = table["ingredients"].combine_chunks()
    spelled = lists.flatten().dictionary_encode()
    names = pa.array(_names(spelled.dictionary.to_pylist(), stem), pa.string())
    codes = spelled.indices.to_numpy().astype(np.int64)
    sizes = pc.list_value_length(lists).to_numpy().astype(np.int64)
    named = pc.not_equal(names, "").to_numpy(zero_copy_only=False)[codes]
    sizes = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[named], minlength=len(sizes))
    codes = codes[named]
    if words:
        names, codes, sizes = _with_words(names, codes, sizes)
    cuisines = table["cuisine"].to_numpy().astype(str)
    return Labelled(sets_of_names(names, codes, sizes), cuisines)


def _read_json(path: Path) -> pa.Table:
    try:
        recipes = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON file: {error}") from error
    if not isinstance(recipes, list) or not all(isinstance(recipe, dict) for recipe in recipes):
        raise ValueError(
            f"{path} should hold a list of recipes, each with its 'cuisine' and 'ingredients'; "
            f"received {str(recipes)[:60]!r}."
        )
    try:
        table = pa.Table.from_pylist(recipes)
    except pa.ArrowException as error:
        raise ValueError(f"{path} cannot be read as recipes: {error}") from error
    check_columns(path, table.column_names, _COLUMNS)
    return as_types(path, table, _COLUMNS)


def _names(spelled: list[str], stem: bool) -> list[str]:
    words = [re.findall(r"\w+", name.lower()) for name in spelled]
    if not stem:
        return [" ".join(each) for each in words]
    try:
        # It comes without types, and only who stems needs it.
        stemmer: Any = import_module("snowballstemmer").stemmer("english")
    except ImportError as error:
        raise ImportError(
            "Recipes are stemmed with snowballstemmer, which is not installed: pip install 'clearset[reproduce]', "
            "or load them with stem=False."
        ) from error
    return [" ".join(stemmer.stemWords(each)) for each in words]


def _with_words(names: pa.Array, codes: Any, sizes: Any) -> tuple[pa.Array, Any, Any]:
    """Add to every recipe the words of its ingredients, each once."""
    lists = pc.utf8_split_whitespace(names)
    words = lists.flatten().dictionary_encode()
    recipes = np.repeat(np.arange(len(sizes)), sizes)
    found = pa.ListArray.from_arrays(lists.offsets, words.indices).take(pa.array(codes))
    pairs = np.repeat(recipes, pc.list_value_length(found).to_numpy()) * len(words.dictionary)
    word_recipes, word_codes = np.divmod(np.unique(pairs + found.flatten().to_numpy()), max(len(words.dictionary), 1))
    recipes = np.concatenate([recipes, word_recipes])
    codes = np.concatenate([codes, len(names) + word_codes])
    marked = pc.binary_join_element_wise(words.dictionary, "(word)", " ")
    order = np.argsort(recipes, kind="stable")
    return pa.concat_arrays([names, marked]), codes[order], np.bincount(recipes, minlength=len(sizes))
