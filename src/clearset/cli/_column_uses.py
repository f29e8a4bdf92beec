"""What each column of a training table is used for, and why others are ignored."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from clearset.cli._table_files import list_columns
from clearset.cli._unusable_columns import why_unusable
from clearset.sets import PLACES, SIZE, resolve_features

_MOST = 20


@dataclass(frozen=True)
class ColumnUses:
    """The names of the columns of each use, and why each of the others is ignored."""

    uses: Mapping[str, Sequence[str]]
    ignored: Mapping[str, str]

    @property
    def features(self) -> list[str]:
        """The columns that are features."""
        return [name for use, names in self.uses.items() if use.startswith("features") for name in names]

    def lines(self) -> Iterator[str]:
        """Yield lines that say it: a line for each use, and one for each reason."""
        reasons: dict[str, list[str]] = {}
        for name, reason in self.ignored.items():
            reasons.setdefault(reason, []).append(name)
        told = [(use, _listed(names)) for use, names in self.uses.items() if names]
        told += [("ignored", f"{_listed(names)}: {reason}") for reason, names in list(reasons.items())[:_MOST]]
        if (more := len(reasons) - _MOST) > 0:
            told.append(("ignored", f"and more, for {more} other reasons"))
        width, last = max(len(use) for use, _ in told), ""
        for use, what in told:
            yield f"  {use if use != last else '':<{width}}  {what}"
            last = use


def uses_of_numbers(
    X: pa.Table,
    declared: Sequence[Any] | None,
    where: str,
    ignore: Sequence[str],
    decimal: str | None,
    *,
    whole: bool = True,
) -> ColumnUses:
    """Return what the columns of X are used for: as the file `where` declares, or every numeric one as a feature.

    X is the whole table, or its first rows.
    """
    if declared is None:
        ignored = dict.fromkeys(ignore, "named by --ignore")
        for name in X.column_names:
            reason = ignored.get(name) or why_unusable(name, X[name], decimal, whole=whole)
            if reason is not None:
                ignored[name] = reason
        features = [name for name in X.column_names if name not in ignored]
    else:
        features = [feature.name for feature in resolve_features(X, declared)]
        ignored = {name: f"not declared in '{where}'" for name in X.column_names if name not in features}
    lists = {*list_columns(X), *PLACES}
    of_tokens = [name for name in features if name in lists]
    if not of_tokens:  # each set has one token, and its features are those of the set
        return ColumnUses({"features": features}, ignored)
    of_sets = [name for name in features if name not in lists]
    if declared is None:
        of_sets.append(SIZE)
    return ColumnUses({"features of tokens": of_tokens, "features of sets": of_sets}, ignored)


def uses_of_items(names: Sequence[str], others: Iterable[str]) -> ColumnUses:
    """Return what columns are used for where some are named as those of items or texts."""
    return ColumnUses(
        {"items or texts": names}, {name: "not named by --column" for name in others if name not in names}
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name if name.isprintable() else repr(name) for name in names[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST:,} more"
