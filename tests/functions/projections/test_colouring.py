import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearset.functions.projections import monotone_rows
from clearset.functions.projections._colouring import colour_rows


@given(st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3, unique=True), min_size=1, max_size=30))
def test_is_what_one_row_after_the_other_gives(rows: list[list[int]]) -> None:
    groups: list[set[int]] = []
    expected = []
    for row in rows:
        colour = next((c for c, taken in enumerate(groups) if not taken & set(row)), len(groups))
        if colour == len(groups):
            groups.append(set())
        groups[colour] |= set(row)
        expected.append(colour)
    assert colour_rows(np.array(rows, dtype=np.int32)).tolist() == expected


def test_a_lattice_takes_one_colour_per_feature() -> None:
    assert colour_rows(monotone_rows((2,) * 6, (1,) * 6).indices).max() == 5
