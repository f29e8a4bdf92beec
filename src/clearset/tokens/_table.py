"""The token table: building, updating, merging, showing, saving and loading it."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
import pyarrow as pa

from clearset import display
from clearset.files import Key
from clearset.sets import Task, exact_words, is_spark_frame, memory_limit
from clearset.tokens._build_folder import build_folder
from clearset.tokens._codes import Int32
from clearset.tokens._counted_examples import CountedExamples
from clearset.tokens._counting import available_threads, count_tokens, prior_of, without_unused
from clearset.tokens._filters import Filter, apply_filters, check_filters, check_kinds
from clearset.tokens._known_tokens import KnownTokens
from clearset.tokens._own_tokenizers import as_tokenizer
from clearset.tokens._statistics import Statistics
from clearset.tokens._streamed_columns import streamed_columns
from clearset.tokens._streamed_table import Counting, count_streamed
from clearset.tokens._table_rows import TokenStatistics, among_nulls, arrow_rows, token_statistics
from clearset.tokens._tokenizers import Subsets, Tokenizer, items_in


@dataclass(frozen=True, eq=False, kw_only=True)
class TokenTable(KnownTokens):
    """Counts and mean labels of tokens.

    Make one with `TokenTable.build`. It keeps its examples, so that `update` and `+` give, to the last bit, the table
    that all examples at once would give, in whatever order they come.

    Parameters
    ----------
    tokenizer : tokenizer
        Takes examples apart.
    classes : ndarray or None
        The classes, sorted; None for a number.
    prior : ndarray of shape (C,) or float
        Shares of the classes, or the mean label.
    vocabulary : Arrow array of strings
        The items of the tokens.
    index : TokenIndex
        Finds tokens in examples.
    statistics : Statistics
        What is known about each token.
    corrections : Corrections or None, default=None
        Learned corrections to the values of some tokens.
    filters : tuple of filters
        The filters that tokens had to pass.
    task : {"classes", "number"}
        Whether labels are classes or a number.
    n_examples : int
        The number of examples.
    examples : CountedExamples or None, default=None
        The examples; None for a table that cannot be updated.

    Examples
    --------
    >>> import clearset as cs
    >>> recipes = [["salt", "lime"], ["salt", "feta"], ["lime", "salt", "chili"]]
    >>> table = cs.TokenTable.build(recipes, ["thai", "greek", "thai"], cs.Subsets(2), [cs.MinCount(2)])
    >>> table
    TokenTable(Subsets(max_size=2), 3 tokens of 2 items, from 3 examples of 2 classes)
    >>> table.lookup(["lime", "salt"]).mean
    1.0
    >>> table.lookup(["feta"]) is None
    True
    """

    filters: tuple[Filter, ...]
    task: Task
    n_examples: int
    examples: CountedExamples | None = None

    @classmethod
    def build(
        cls,
        X: Any,
        y: Any,
        tokens: Any = None,
        filters: Any = (),
        *,
        task: str = "auto",
        sample_weight: Any = None,
        engine: Any = "auto",
        threads: int | None = None,
        column: str | Sequence[str] | None = None,
        max_memory: int | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "TokenTable":
        """Count the tokens of examples.

        Examples that do not fit into memory are read in batches from a Parquet file, a folder of them or an Arrow data
        set. The table is the same to the last bit, but without its examples, so that it cannot be updated.

        Parameters
        ----------
        X : column of lists or of strings, pair of columns, or list; or path, Arrow data set or DataFrame of Spark
            The examples, or where they are: the path of a Parquet file or of a folder of them, a
            ``pyarrow.dataset.Dataset``, or a DataFrame of Spark. These hold labels and weights too, which the next
            arguments name.
        y : series, array or list, or str
            The labels, or the name of their column.
        tokens : tokenizer, default=Subsets()
            Takes examples apart: `Items`, `Words`, `Subsets`, `NGrams`, `Cross`, `Difference`, a `Union` of several,
            or an object with a method ``tokens(example)``.
        filters : sequence of filters, optional
            Filters that tokens have to pass, all of them: `MinCount`, `MaxInterval`, `MaxSize`, `OfKind`, or functions.
        task : {"auto", "classes", "number"}, default="auto"
            Whether labels are classes or a number. With ``"auto"``, numbers with fractions and more than 100 distinct
            numbers are a number.
        sample_weight : array-like, optional; str for examples that are read in batches
            The weights of the examples in means; counts ignore them, but for examples of weight 0, which are left out.
        engine : {"auto", "local"} or SparkSession, default="auto"
            Where to count: in this process, or on Spark's executors; ``"auto"`` counts where the data are. The table is
            the same, but Spark's comes without its examples.
        threads : int, optional
            The number of threads of this process; by default all cores. The table does not depend on it.
        column : str or pair of str, optional
            The column of items of a Parquet file or data set, two of them for `Cross` and `Difference`; by default the
            only columns of lists or strings beside the labels.
        max_memory : int or str, optional
            Bytes, or a text such as ``"2GB"``: the memory that reading in batches may take, the table included. By
            default half of what is available. What does not fit goes to scratch files in the folder for temporary
            files.
        checkpoint : path-like, optional
            A folder to keep in what finished passes over files have left, 12 bytes for each item of an example and 16
            for an example. After the process was killed, the same call goes on from there, and makes the same table. A
            checkpoint of another build, of files that have changed or of another version is refused. The folder is
            removed when the table is done.

        Returns
        -------
        TokenTable
            The table.
        """
        tokenizer = as_tokenizer(Subsets() if tokens is None else tokens)
        filters = check_filters(filters)
        check_kinds(filters, tokenizer.kinds)
        if is_spark_frame(X) or not isinstance(engine, str):
            from clearset.tokens.spark import build_with_spark

            if column is not None or max_memory is not None:
                raise ValueError(
                    "column and max_memory are for files. Of a DataFrame, select items, labels and weights."
                )
            _no_checkpoint(checkpoint, "on Spark")
            return build_with_spark(X, y, tokenizer, filters, engine, task=task, sample_weight=sample_weight)
        if engine not in ("auto", "local"):
            raise ValueError(f"engine is {engine!r}; choose 'auto', 'local' or a SparkSession.")
        if (columns := streamed_columns(X, y, sample_weight, tokenizer, column, max_memory)) is not None:
            memory, threads = memory_limit(max_memory), available_threads(threads)
            build = {"tokens": exact_words(tokenizer), "filters": exact_words(filters), "task": task}
            with build_folder(checkpoint, lambda: {**build, **columns.described()}) as folder:
                found = count_streamed(columns, task, Counting(tokenizer, filters, threads, memory), folder)
            return cls(tokenizer=tokenizer, filters=filters, **vars(found))
        _no_checkpoint(checkpoint, "in memory")
        examples = CountedExamples.read(X, y, tokenizer, task, sample_weight)
        return cls.of_examples(examples, tokenizer, filters, threads)[0]

    @classmethod
    def of_examples(
        cls,
        examples: CountedExamples,
        tokenizer: Tokenizer,
        filters: tuple[Filter, ...],
        threads: int | None = None,
        folds: Int32 | None = None,
        n_folds: int = 0,
    ) -> tuple["TokenTable", tuple[Statistics, ...]]:
        """Return the table of examples, and for each fold the statistics outside of it; see `cross_fit`."""
        examples, rows = examples.canonical(tokenizer)
        folds = None if folds is None else folds[rows]
        vocabulary, index, statistics, out_of_fold = count_tokens(
            examples, tokenizer, filters, available_threads(threads), folds, n_folds
        )
        classes, prior = prior_of(examples)
        table = cls(
            tokenizer=tokenizer,
            filters=filters,
            task=examples.labels.task,
            classes=classes,
            prior=prior,
            n_examples=len(examples),
            vocabulary=vocabulary,
            index=index,
            statistics=statistics,
            examples=examples,
        )
        return table, out_of_fold

    def __repr__(self) -> str:
        label = "a number" if self.classes is None else f"{len(self.classes)} classes"
        left_out = "" if self.examples is not None else ", without its examples"
        return (
            f"TokenTable({self.tokenizer!r}, {len(self):,} tokens of {len(self.vocabulary):,} items, "
            f"from {self.n_examples:,} examples of {label}{left_out})"
        )

    def _repr_html_(self) -> str:
        return display.token_table_html(self)

    # Looking tokens up

    def lookup(self, token: str | int | Iterable[str | int]) -> TokenStatistics | None:
        """Return the statistics of a token, or None if it is not in the table.

        Parameters
        ----------
        token : str, int, or iterable of these
            One item, or the items of the token; their order matters only in n-grams.

        Returns
        -------
        TokenStatistics or None
            Its statistics.
        """
        number = int(self.numbers_of([token])[0])
        return None if number < 0 else token_statistics(self, number)

    def lookup_many(self, tokens: Sequence[str | int | Iterable[str | int]]) -> pa.Table:
        """Return the rows of `to_arrow` for several tokens; nulls for a token that is not in the table."""
        asked = [items_in(token) for token in tokens]
        numbers = self.numbers_of(asked)
        known = np.flatnonzero(numbers >= 0)
        rows = among_nulls(arrow_rows(self, numbers[known]), known, len(numbers))
        return rows.set_column(0, "token", pa.array(asked, pa.large_list(pa.large_string())))

    def to_arrow(self) -> pa.Table:
        """Return token, size, count, weight, mean, variance, low and high; of several classes also class_weights.

        Tables of several kinds of tokens, which a `Union` makes, have a column ``kind`` beside the tokens.
        """
        return arrow_rows(self)

    def top(self, n: int = 20, by: str = "count") -> pa.Table:
        """Return the n rows of `to_arrow` with the greatest count, weight, size, mean or variance."""
        if by not in ("count", "weight", "size", "mean", "variance"):
            raise ValueError(f"by is {by!r}; choose one of: count, weight, size, mean, variance.")
        values = getattr(self, f"{by}s")
        if values.ndim == 2:
            raise ValueError(
                f"The mean label of {values.shape[1]} classes is no single number. Sort by another column."
            )
        return arrow_rows(self, np.argsort(-values, kind="stable")[: max(n, 0)])

    # Other tables

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> "TokenTable":
        """Return the table with further examples, the same as if all had come at once.

        Parameters
        ----------
        X, y, sample_weight : as in `build`, the last one optional
            The examples; there may be new items and new classes.

        Returns
        -------
        TokenTable
            The new table.
        """
        examples = self._kept_examples("updated")
        more = CountedExamples.read(X, y, self.tokenizer, self.task, sample_weight)
        table, _ = self.of_examples(examples + more, self.tokenizer, self.filters)
        return table.carrying(self)

    def __add__(self, other: "TokenTable") -> "TokenTable":
        """Return the table of the examples of both, with the corrections of the first that has them."""
        if not isinstance(other, TokenTable):
            return NotImplemented
        for name, option in (("tokenizer", "tokens"), ("task", "task"), ("filters", "filters")):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(
                    f"Tables can be merged if they were built alike, but the {name} is {mine!r} in one and {theirs!r} "
                    f"in the other. Build both with the same {option}=."
                )
        examples = self._kept_examples("merged") + other._kept_examples("merged")
        table, _ = self.of_examples(examples, self.tokenizer, self.filters)
        carrying = table.carrying(self)
        return carrying if carrying.corrections else table.carrying(other)

    def filter(self, *filters: Filter | Sequence[Filter]) -> "TokenTable":
        """Return the table of the tokens that pass further filters.

        Parameters
        ----------
        *filters : filters
            The further filters, or a list of them; those of the table stay.

        Returns
        -------
        TokenTable
            The smaller table, the same as if it had been built with all filters.
        """
        further = check_filters(filters[0] if len(filters) == 1 else filters)
        check_kinds(further, self.tokenizer.kinds)
        kept = np.flatnonzero(apply_filters(further, self.statistics))
        masks = np.zeros(len(self.index), np.uint32)
        masks[self.nodes[kept]] = 1
        vocabulary, index = without_unused(self.vocabulary, self.index.restrict(masks)[0], self.tokenizer)
        table = replace(self, vocabulary=vocabulary, index=index, statistics=self.statistics.take(kept))
        return replace(table, filters=(*self.filters, *further)).carrying(self)

    def carrying(self, other: "TokenTable") -> "TokenTable":
        """Return this table with those corrections of another one of the same classes whose tokens it has."""
        corrections, mine, theirs = other.corrections, self.classes, other.classes
        alike = mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
        return replace(self, corrections=corrections.carried(other, self) if corrections and alike else None)

    def without_examples(self) -> "TokenTable":
        """Return the table without its examples: it is smaller and holds no rows of data, but cannot be updated."""
        return replace(self, examples=None)

    def _kept_examples(self, what: str) -> CountedExamples:
        if self.examples is None:
            raise ValueError(
                f"This table was left without its examples, so it cannot be {what}: tokens that were too rare before "
                "could not be counted. Build it again from all examples, or keep them: save(path, examples=True)."
            )
        return self.examples

    # Files

    def save(self, path: str | os.PathLike[str], examples: bool = True, *, key: Key | None = None) -> None:
        """Write the table to a Parquet file, and its examples to one beside it.

        Parameters
        ----------
        path : path-like
            The file, such as ``table.parquet``; the examples go to ``table.parquet.<hash of them>.examples``.
        examples : bool, default=True
            Whether to write the examples; without them the table can be used but not updated.
        key : bytes or Ed25519PrivateKey, optional
            The key to sign both files with; see `clearset.load`.
        """
        from clearset.tokens import _table_storage

        _table_storage.save(self, path, examples, key)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], tokens: Any = None, filters: Any = None, *, key: Key | None = None
    ) -> "TokenTable":
        """Read what `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.
        tokens : tokenizer, optional
            The user's own tokenizer, if the table was built with one: files hold no code.
        filters : sequence of filters, optional
            The filters, if the user's own functions were among them and the table is to be updated.
        key : bytes, Ed25519PublicKey or Ed25519PrivateKey, optional
            The key that both files must be signed with; without one no signature is looked at.

        Returns
        -------
        TokenTable
            The table; without its examples if their file is not there. Damaged files raise an `ArtifactError`.
        """
        from clearset.tokens import _table_storage

        return _table_storage.load(path, tokens, filters, key)

    def write_parquet(self, file: IO[bytes]) -> None:
        """Write the table without its examples to an open file."""
        from clearset.tokens import _table_storage

        _table_storage.write(self, file)

    @classmethod
    def read_parquet(cls, file: IO[bytes] | bytes, tokens: Any = None, filters: Any = None) -> "TokenTable":
        """Read what `write_parquet` wrote, from an open file or its bytes."""
        from clearset.tokens import _table_storage

        return _table_storage.read(file, tokens, filters)


def _no_checkpoint(checkpoint: Any, where: str) -> None:
    """Raise an error if a checkpoint is asked for where there is none."""
    if checkpoint is not None:
        raise ValueError(
            f"checkpoint is for examples in Parquet files; these are counted {where}. Leave it out, or give X as the "
            "path of a file or folder."
        )
