"""Several tokenizers of the same examples: tokens of several kinds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from clearset.tokens._codes import Int64, Joining, Run
from clearset.tokens._tokenizers import Items, Subsets, Tokenizer, Words
from clearset.tokens._two_columns import Cross, Difference
from clearset.tokens._vocabulary import tagged

_MEMBERS: dict[str, type[Tokenizer]] = {
    member.__name__.lower(): member for member in (Items, Words, Subsets, Cross, Difference)
}
_NAMED = ", ".join(f"{member.__name__}()" for member in _MEMBERS.values())
_BETWEEN = "="  # a kind and an item; no kind has it


@dataclass(frozen=True, repr=False, init=False)
class Union(Tokenizer):
    """Tokens of several kinds: those of each of some tokenizers.

    Items are written with the kind of their tokens, ``"words=olive"``, so that equal tokens of two kinds stay apart.
    The kind is a feature that a set function reads, `OfKind` filters the tokens of one, and larger tokens cover those
    of their own kind only.

    Parameters
    ----------
    *members : tokenizers
        Any of `Items`, `Words` and `Subsets`, or of `Cross` and `Difference` of the same columns, each at most once.
        Those of another `Union` count as its members; a single one counts as if it stood alone.

    Examples
    --------
    >>> import clearset as cs
    >>> tokens = cs.Union(cs.Items(), cs.Words())
    >>> tokens.parts([["olive oil", "salt"]]).to_pylist()
    [['items=olive oil', 'items=salt', 'words=olive', 'words=oil', 'words=salt']]
    >>> table = cs.TokenTable.build([["olive oil"], ["black olive"], ["salt"]], [1, 1, 0], tokens)
    >>> table.lookup("words=olive").count
    2
    """

    members: tuple[Tokenizer, ...]

    def __init__(self, *members: Tokenizer) -> None:
        found: list[Tokenizer] = []
        for member in members:
            found += member.members if isinstance(member, Union) else [member]
        object.__setattr__(self, "members", tuple(found))
        self._check()

    def _check(self) -> None:
        for member in self.members:
            if type(member) not in _MEMBERS.values():
                raise TypeError(
                    f"A member of the Union is {member!r}; its members are any of {_NAMED}. NGrams and one's own "
                    "tokenizers stand alone; Words() takes the words of texts without their order."
                )
        if not self.members:
            raise ValueError("Union() has no members; give tokenizers, such as Union(Items(), Words()).")
        for place, member in enumerate(self.members):
            if self.kinds.index(self.kinds[place]) < place:
                raise ValueError(
                    f"{self!r} has two members of the kind {self.kinds[place]!r}, whose tokens could not be told apart."
                    " Leave one out."
                )
            if member.sides != self.sides:
                raise ValueError(
                    f"{self.members[0]!r} and {member!r} read different columns; the members of a Union read the same."
                )

    def __repr__(self) -> str:
        return f"Union({', '.join(map(repr, self.members))})"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tokens: the names of the members in lower case."""
        return tuple(type(member).__name__.lower() for member in self.members)

    @property
    def sides(self) -> tuple[str | int, ...]:
        """The columns of all members."""
        return self.members[0].sides

    def parts(self, X: Any) -> pa.LargeListArray:
        """Return the items of every member, each with its kind."""
        return tagged([f"{kind}{_BETWEEN}" for kind in self.kinds], [member.parts(X) for member in self.members])

    def joining(self, vocabulary: pa.LargeStringArray) -> Joining:
        """Tokens are subsets of the items of one kind, of which a tree has no others."""
        sizes = [run.joining.max_size for run in self.runs(vocabulary)]
        return Joining("subsets", None if None in sizes else max(size for size in sizes if size is not None))

    def ranks(self, vocabulary: pa.LargeStringArray) -> NDArray[Any]:
        """Return numbers that rise from kind to kind, and within the kinds of pairs from left to right."""
        ranks = 2 * self._kinds_of(vocabulary)
        for number, member in enumerate(self.members):
            of_kind = np.flatnonzero(ranks == 2 * number)
            ranks[of_kind] += member.ranks(self._untagged(number, vocabulary.take(pa.array(of_kind))))
        return ranks

    def runs(self, vocabulary: pa.LargeStringArray) -> tuple[Run, ...]:
        """Return the runs of codes of the members; raise a ValueError where items are not in their order."""
        kinds = self._kinds_of(vocabulary)
        if (np.diff(kinds) < 0).any():
            raise ValueError("The items are not in the order of their kinds.")
        edges = np.searchsorted(kinds, np.arange(len(self.members) + 1)).tolist()
        return tuple(
            Run(first, end, member.joining(self._untagged(number, vocabulary.slice(first, end - first))))
            for number, (member, first, end) in enumerate(zip(self.members, edges[:-1], edges[1:], strict=True))
        )

    def _kinds_of(self, vocabulary: pa.LargeStringArray) -> Int64:
        """Return the number of the member of each item."""
        kinds = np.full(len(vocabulary), -1)
        for number, kind in enumerate(self.kinds):
            tag = f"{kind}{_BETWEEN}"
            kinds[pc.starts_with(vocabulary, tag).to_numpy(zero_copy_only=False).astype(np.bool_)] = number
        if (kinds < 0).any():
            item = vocabulary[int(np.argmin(kinds))].as_py()
            raise ValueError(f"The item {item!r} is of none of the kinds {', '.join(self.kinds)}.")
        return kinds

    def _untagged(self, number: int, vocabulary: pa.LargeStringArray) -> pa.LargeStringArray:
        return pc.utf8_slice_codeunits(vocabulary, len(self.kinds[number]) + len(_BETWEEN))

    def to_json(self) -> dict[str, Any]:
        """Return the members as JSON values."""
        return {"kind": "union", "members": [member.to_json() for member in self.members]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the tokenizer that `to_json` described."""
        kinds = [member["kind"] for member in document["members"]]
        if unknown := [kind for kind in kinds if kind not in _MEMBERS]:
            raise ValueError(f"A Union has members of the kinds {', '.join(_MEMBERS)}; {unknown[0]!r} is none of them.")
        return cls(*(_MEMBERS[member["kind"]].from_json(member) for member in document["members"]))
