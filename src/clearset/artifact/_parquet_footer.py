"""What the footer of a Parquet file declares, read without trusting any of it.

The footer is a structure in Thrift's compact encoding: fields with a number and a type each, ended by a zero byte.
Arrow reads footers as well, but the sizes of columns only in a way that ends the process where a footer is damaged.
"""

from dataclasses import dataclass
from typing import Any

# Types of Thrift's compact encoding.
_TRUE, _FALSE, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12
# Fields of a footer, of its row groups, of their columns, and of what is said of these.
_N_ROWS, _GROUPS = 3, 4
_COLUMNS, _N_ROWS_OF_GROUP = 1, 3
_ABOUT_COLUMN = 3
_N_VALUES, _N_BYTES, _N_STORED, _DATA, _DICTIONARY = 5, 6, 7, 9, 11
# Fields of the header of a page, and the number of values in what is said of pages of each kind.
_UNPACKED, _PACKED, _PAGE, _ENTRIES, _PAGE_2, _IN_PAGE = 2, 3, 5, 7, 8, 1
_MOST_PAGES = 100_000
_DEEPEST = 20


@dataclass(frozen=True)
class Declared:
    """How much a Parquet file says that it holds.

    Attributes
    ----------
    rows : int
        The number of rows.
    values : int
        The number of values of all columns, those in lists counted one by one.
    uncompressed : int
        The number of bytes of all columns before compression.
    """

    rows: int
    values: int
    uncompressed: int


def read_declared(content: bytes) -> Declared:
    """Read what a footer declares; raise a ValueError where it is damaged.

    Parameters
    ----------
    content : bytes
        What the file holds.

    Returns
    -------
    Declared
        The declared numbers.
    """
    try:
        length = int.from_bytes(content[-8:-4], "little")
        if content[-4:] != b"PAR1" or not 0 < length <= len(content) - 12:
            raise ValueError("it does not end as Parquet files do")
        footer = _Reader(content[-8 - length : -8]).struct(0)
        groups = footer[_GROUPS]
        columns = [column[_ABOUT_COLUMN] for group in groups for column in group[_COLUMNS]]
        _check_pages(content, columns)
        numbers = [[column[_N_VALUES], column[_N_BYTES]] for column in columns]
        rows = [footer[_N_ROWS], *(group[_N_ROWS_OF_GROUP] for group in groups)]
        if min([*rows, *(number for pair in numbers for number in pair)]) < 0:
            raise ValueError("a declared number is negative")
        return Declared(max(rows[0], sum(rows[1:])), sum(pair[0] for pair in numbers), sum(pair[1] for pair in numbers))
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("its footer is incomplete") from error


def _check_pages(content: bytes, columns: list[dict[int, Any]]) -> None:
    """Raise a ValueError unless the pages of columns hold no more than their columns are said to hold."""
    n_pages = 0
    for column in columns:
        place = min(offset for offset in (column[_DATA], column.get(_DICTIONARY) or column[_DATA]) if offset > 0)
        end, n_values, n_bytes = place + column[_N_STORED], 0, 0
        while place < end and n_pages < _MOST_PAGES:
            reader = _Reader(content, place)
            page = reader.struct(0)
            of_values = page.get(_PAGE) or page.get(_PAGE_2) or {}
            if min(page[_UNPACKED], page[_PACKED], of_values.get(_IN_PAGE, 0)) < 0:
                raise ValueError("a declared number is negative")
            n_values += of_values.get(_IN_PAGE, 0)
            n_bytes += reader.place - place + page[_UNPACKED]
            if page.get(_ENTRIES, {}).get(_IN_PAGE, 0) > column[_N_VALUES]:
                raise ValueError("a dictionary has more entries than its column has values")
            place = reader.place + page[_PACKED]
            n_pages += 1
        if place != end or end > len(content) or n_values != column[_N_VALUES] or n_bytes > column[_N_BYTES]:
            raise ValueError("the pages of a column are not as large as the footer says")


class _Reader:
    """Reads one value after the other; structures become dicts by the numbers of their fields."""

    def __init__(self, content: bytes, place: int = 0) -> None:
        self._content, self.place = content, place

    def struct(self, depth: int) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._integer()
            fields[number] = self._value(header & 15, depth)
        return fields

    def _value(self, kind: int, depth: int, *, in_list: bool = False) -> Any:
        if depth > _DEEPEST:
            raise ValueError("its footer is nested too deeply")
        if kind in (_TRUE, _FALSE) and not in_list:
            return kind == _TRUE
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind == _DOUBLE:
            return self._skip(8)
        if kind == _BINARY:
            return self._skip(self._varint())
        if kind in _LISTS:
            header = self._byte()
            length = header >> 4 if header >> 4 < 15 else self._varint()
            return [self._value(header & 15, depth + 1, in_list=True) for _ in range(length)]
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"its footer has a field of type {kind}")

    def _byte(self) -> int:
        byte = self._content[self.place]
        self.place += 1
        return byte

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("its footer has a number that is too large")

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, length: int) -> None:
        self.place += length
