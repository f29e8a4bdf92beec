"""How much memory may be used."""

import os
import re
from contextlib import suppress
from pathlib import Path

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
# Below this nothing useful can be done.
LEAST_MEMORY = 64 * 10**6


def memory_limit(max_memory: int | str | None) -> int:
    """Return a limit of memory in bytes; without one, half of what is available now.

    Parameters
    ----------
    max_memory : int, str or None
        Bytes, or a text such as ``"2GB"``, ``"512 MiB"``.

    Returns
    -------
    int
        The number of bytes.

    Examples
    --------
    >>> memory_limit("2GB"), memory_limit("1 GiB")
    (2000000000, 1073741824)
    """
    if max_memory is None:
        return max(available_memory() // 2, LEAST_MEMORY)
    limit: float | None = None
    if isinstance(max_memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", max_memory.lower())
        limit = None if found is None else float(found[1]) * _UNITS[found[2] or ""]
    elif isinstance(max_memory, int) and not isinstance(max_memory, bool):
        limit = float(max_memory)
    if limit is None:
        raise ValueError(f"max_memory is {max_memory!r}; give a number of bytes or a text such as '2GB' or '512MiB'.")
    if limit < LEAST_MEMORY:
        raise ValueError(f"max_memory is {max_memory!r}; at least {LEAST_MEMORY // 10**6} MB are needed.")
    return int(limit)


def available_memory() -> int:
    """Return the bytes of memory that this process could still take."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # no such limit, or "max"
            found.append(int(Path(limit).read_text()))
    return min(found)
