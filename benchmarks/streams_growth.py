"""Fits on more and more sets within the same limit of memory: six features, a hundred tokens a set on average."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks._results import write_table
from benchmarks.streams import COLUMNS, FILES_OF_THEIR_OWN, MEANINGS, Case, rows


def main() -> None:
    """Measure fits from a million tokens to a billion."""
    groups: list[tuple[list[Case], int]] = [
        ([(n_files, "2GB", 3)], repeats) for n_files, repeats in ((1, 3), (10, 1), (100, 1), (1_000, 1))
    ]
    with tempfile.TemporaryDirectory(prefix="clearset-streams-") as name:
        found = list(rows(Path(name), groups, largest_set=199))
    write_table(
        "streams_growth",
        "Fits on files: from a million tokens to a billion",
        "Sets of six features and 1 to 199 tokens in Parquet files, each of a million tokens; beyond "
        f"{FILES_OF_THEIR_OWN} files, others are further names of the same.\n{MEANINGS}The machine was shared with "
        "other work, which seconds tell more of than processor time does.",
        COLUMNS,
        found,
    )


if __name__ == "__main__":
    main()
