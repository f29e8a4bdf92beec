"""Limits of memory, as people write them."""

import pytest

from clearset.sets import _memory, memory_limit


@pytest.mark.parametrize(
    ("written", "n_bytes"),
    [
        ("2GB", 2 * 10**9),
        ("2 gb", 2 * 10**9),
        ("2G", 2 * 10**9),
        ("1.5GB", 15 * 10**8),
        ("512 MiB", 2**29),
        ("512mi", 2**29),
        ("1TiB", 2**40),
        ("70000 kB", 7 * 10**7),
        (" 100000000 ", 10**8),
        ("100000000b", 10**8),
        (10**8, 10**8),
        (64 * 10**6, 64 * 10**6),
    ],
)
def test_bytes_and_texts(written, n_bytes):
    assert memory_limit(written) == n_bytes


@pytest.mark.parametrize(
    "written", ["", "GB", "two GB", "-2GB", "2XB", "2GB RAM", "1e9", "2,5GB", True, 2.5e9, b"2GB", [1]]
)
def test_what_is_no_limit(written):
    with pytest.raises(ValueError, match=r"max_memory is .*; give a number of bytes or a text such as '2GB'"):
        memory_limit(written)


@pytest.mark.parametrize("written", [0, -1, 10**6, "63MB", "1kB", 2])
def test_too_little(written):
    with pytest.raises(ValueError, match="at least 64 MB are needed"):
        memory_limit(written)


@pytest.mark.parametrize(("available", "limit"), [(10**10, 5 * 10**9), (10**6, 64 * 10**6)])
def test_by_default_half_of_what_is_available(monkeypatch, available, limit):
    monkeypatch.setattr(_memory, "available_memory", lambda: available)
    assert memory_limit(None) == limit


def test_what_is_available_is_no_more_than_the_machine_has():
    n_bytes = _memory.os.sysconf("SC_PHYS_PAGES") * _memory.os.sysconf("SC_PAGE_SIZE")
    assert 0 < _memory.available_memory() <= n_bytes
