"""Lines with checksums: every change but missing last lines is noticed."""

import json
from pathlib import Path

import pytest

from clearset.tuning._summed_lines import SummedLines

LOGS = [{"op": number, "text": "x" * number} for number in range(5)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    lines = SummedLines(tmp_path / "lines")
    lines.append_logs(LOGS[:2])
    lines.append_logs(LOGS[2:])
    return tmp_path / "lines"


def test_what_was_written_is_read(path: Path) -> None:
    assert list(SummedLines(path).read_logs(0)) == LOGS
    assert list(SummedLines(path).read_logs(3)) == LOGS[3:]


def test_a_beginning_is_read_and_gone_on_with(path: Path) -> None:
    content = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(content[:3]))
    lines = SummedLines(path)
    lines.append_logs(LOGS[3:])
    assert path.read_bytes() == b"".join(content)


def test_every_changed_bit_is_noticed(path: Path) -> None:
    content = path.read_bytes()
    last_line_end = len(content) - 1
    for place in range(last_line_end):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises((ValueError, TypeError)):
            SummedLines(path)


def test_lines_that_are_moved_or_missing_are_noticed(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    for changed in (lines[1:], lines[:1] + lines[2:], [lines[1], lines[0], *lines[2:]], lines + lines[-1:]):
        path.write_bytes(b"".join(changed))
        with pytest.raises(ValueError, match="checksum"):
            SummedLines(path)


def test_lines_of_earlier_versions_are_covered_by_later_ones(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    old = "".join(json.dumps(log) + "\n" for log in LOGS[:2])
    path.write_text(old)
    SummedLines(path).append_logs(LOGS[2:])
    assert list(SummedLines(path).read_logs(0)) == LOGS
    path.write_text(path.read_text().replace('"op": 1', '"op": 7'))
    with pytest.raises(ValueError, match="line 3 does not match"):
        SummedLines(path)
