"""Arrays in scratch files hold what arrays in memory would, and leave nothing behind."""

import gc
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearset.sets import ScratchArray, _scratch

LENGTH = 5000  # 20 kB: several pages


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


places = st.integers(0, LENGTH)


@given(st.lists(st.tuples(places, places, st.integers(0, 2**32 - 1)), max_size=8), places, places)
def test_windows_show_what_was_written(writes, start, stop):
    array, expected = ScratchArray(LENGTH, np.uint32), np.zeros(LENGTH, np.uint32)
    for one, other, value in writes:
        part = slice(min(one, other), max(one, other))
        values = (value + np.arange(part.stop - part.start, dtype=np.uint64)).astype(np.uint32)
        array[part] = values
        expected[part] = values
    np.testing.assert_array_equal(array[start:stop], expected[start:stop])
    np.testing.assert_array_equal(array[:], expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64])
def test_other_types_at_odd_places(dtype):
    array = ScratchArray(3001, dtype)
    array[1021:1029] = np.arange(8, dtype=dtype)
    assert array.dtype == dtype
    assert len(array) == 3001
    np.testing.assert_array_equal(array[1020:1030], [0, *range(8), 0])
    np.testing.assert_array_equal(array[3000:], [0])
    assert array[5:5].dtype == array[9:3].dtype == dtype


def test_windows_see_later_writes_and_cannot_be_written():
    array = ScratchArray(10, np.uint32)
    window = array[2:5]
    array[3:4] = np.array([7], np.uint32)
    np.testing.assert_array_equal(window, [0, 7, 0])
    with pytest.raises(ValueError, match="read-only"):
        window[0] = 1


def test_values_must_fit():
    array = ScratchArray(10, np.uint32)
    with pytest.raises(ValueError, match="3 values do not fit into 2 places"):
        array[0:2] = np.zeros(3, np.uint32)


def test_no_file_is_left_not_even_while_the_array_lives(folder):
    array = ScratchArray(1000, np.uint32)
    array[:] = np.arange(1000, dtype=np.uint32)
    assert list(folder.iterdir()) == []
    window = array[5:7]
    del array
    gc.collect()
    np.testing.assert_array_equal(window, [5, 6])  # a window lives on


def test_files_are_closed_with_the_array():
    def n_open():
        return len(list(Path("/proc/self/fd").iterdir()))

    if not Path("/proc/self/fd").exists():
        pytest.skip("open files can be counted on Linux only")
    before = n_open()
    arrays = [ScratchArray(10, np.uint32) for _ in range(5)]
    assert n_open() == before + 5
    del arrays
    gc.collect()
    assert n_open() == before


def test_a_full_disk_is_said_before_anything_is_written(folder, monkeypatch):
    monkeypatch.setattr(_scratch.shutil, "disk_usage", lambda path: SimpleNamespace(free=10**9))
    with pytest.raises(OSError, match=r"needs 4\.0 GB, but '.*' has 1\.0 GB left. Set TMPDIR .*max_memory"):
        ScratchArray(10**9, np.uint32)
    assert list(folder.iterdir()) == []


def test_what_fits_stays_in_memory():
    assert isinstance(_scratch.scratch_array(10, np.uint32, 40), np.ndarray)
    assert isinstance(_scratch.scratch_array(10, np.uint32, 39), ScratchArray)
