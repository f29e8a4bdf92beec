import pyarrow as pa
import pytest

import clearset as cs
from clearset.cli._column_uses import ColumnUses, uses_of_items, uses_of_numbers

SETS = pa.table(
    {"stars": [[5, 4], [1]], "price": [9.5, 5.0], "title": ["a", "b"], "same": [1, 1], "id": [7, 8], "n": [[1, 2], [3]]}
)


def test_every_numeric_column() -> None:
    found = uses_of_numbers(SETS, None, "", ["id"], ".")
    assert found.uses == {"features of tokens": ["stars", "n"], "features of sets": ["price", cs.SIZE]}
    assert found.features == ["stars", "n", "price", cs.SIZE]
    assert found.ignored == {
        "id": "named by --ignore",
        "title": "text, first value 'a'; a category? Declare it with --features",
        "same": "the same value everywhere, 1",
    }


def test_declared_features() -> None:
    declared = ["price", cs.Feature("stars", monotonic="increasing"), cs.SIZE]
    found = uses_of_numbers(SETS, declared, "f.yaml", [], ".")
    assert found.uses == {"features of tokens": ["stars"], "features of sets": ["price", cs.SIZE]}
    assert found.ignored == dict.fromkeys(["title", "same", "id", "n"], "not declared in 'f.yaml'")
    placed = uses_of_numbers(SETS, ["price", "stars", cs.PLACE], "f.yaml", [], ".")
    assert placed.uses == {"features of tokens": ["stars", cs.PLACE], "features of sets": ["price"]}
    with pytest.raises(ValueError, match=r"'prise' is unknown\. Did you mean 'price'"):
        uses_of_numbers(SETS, ["prise"], "f.yaml", [], ".")


def test_sets_of_one_token() -> None:
    found = uses_of_numbers(SETS.select(["price", "title", "id"]), None, "", [], ".")
    assert found.uses == {"features": ["price", "id"]}


def test_items() -> None:
    found = uses_of_items(["title"], ["price", "title", "id"])
    assert found.uses == {"items or texts": ["title"]}
    assert found.ignored == {"price": "not named by --column", "id": "not named by --column"}


def test_lines() -> None:
    uses = ColumnUses(
        {"features of tokens": ["a", "b\x1b[31m"], "features of sets": [], "label": ["y"]},
        {"c": "text", "d": "no values", "e": "text"},
    )
    assert list(uses.lines()) == [
        "  features of tokens  a, 'b\\x1b[31m'",
        "  label               y",
        "  ignored             c, e: text",
        "                      d: no values",
    ]


def test_lines_stay_few() -> None:
    many = [f"x{place}" for place in range(1000)]
    uses = ColumnUses({"features": many}, {f"t{place}": f"reason {place}" for place in range(100)})
    features, *ignored = uses.lines()
    assert features.endswith("x18, x19 and 980 more")
    assert len(ignored) == 21
    assert ignored[-1].endswith("and more, for 80 other reasons")
