"""Tokens by enumeration, one example at a time."""

from itertools import combinations

from hypothesis import strategies as st

from clearset.tokens._codes import Joining

N_CODES = 6


def occurrences(row, joining):
    """Every token of a row with the places of its items."""
    n = len(row)
    for size in range(1, min(joining.max_items, n) + 1):
        if joining.kind == "ngrams":
            runs = [tuple(range(start, start + size)) for start in range(n - size + 1)]
        else:
            runs = list(combinations(range(n), size))
        for places in runs:
            token = tuple(row[place] for place in places)
            if joining.kind == "crosses" and size == 2 and not token[0] < joining.boundary <= token[1]:
                continue
            yield token, places


def tokens_of(row, joining):
    return {token for token, _ in occurrences(row, joining)}


def covering(row, table, joining):
    """The tokens of a row that the fallback keeps, given those of the table."""
    places_of = {}
    for token, places in occurrences(row, joining):
        if token in table:
            places_of.setdefault(token, []).append(set(places))
    kept, covered = set(), set()
    for size in range(len(row), 0, -1):
        now = {
            token for token, places in places_of.items() if len(token) == size and any(one - covered for one in places)
        }
        kept |= now
        covered |= {place for token in now for one in places_of[token] for place in one}
    return kept


def tree(items, parents):
    """The items of every node of a prefix tree."""
    out = []
    for item, parent in zip(items.tolist(), parents.tolist(), strict=True):
        out.append((*(out[parent] if parent >= 0 else ()), item))
    return out


def unpack(coded):
    return [coded.codes[a:b].tolist() for a, b in zip(coded.offsets[:-1], coded.offsets[1:], strict=True)]


joinings = st.one_of(
    st.builds(Joining, st.just("subsets"), st.one_of(st.none(), st.integers(1, 4))),
    st.builds(Joining, st.just("ngrams"), st.integers(1, 4)),
    st.builds(Joining, st.just("crosses"), st.sampled_from([None, 1, 2]), st.integers(0, N_CODES)),
)


@st.composite
def rows_of(draw, joining, max_rows=8):
    codes = st.integers(0, N_CODES - 1)
    row = st.lists(codes, max_size=7) if joining.kind == "ngrams" else st.sets(codes).map(sorted)
    return draw(st.lists(row, max_size=max_rows))


@st.composite
def examples(draw):
    joining = draw(joinings)
    return joining, draw(rows_of(joining))
