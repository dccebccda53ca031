"""The machine's memory: in all, and the part that a new process may take without evicting others.

Linux's estimate is MemAvailable of /proc/meminfo (free pages and those that it can reclaim); a container's limit is
that of its control group, or of a group above it. On other systems the limit is unknown, and nothing is refused in
advance.
Source: Linux kernel documentation, filesystems/proc and admin-guide/cgroup-v1/memory, cgroup-v2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")
# Of a control group: its limit, its usage, and the parts of that which are a cache of files. Pages read twice, such as
# a mapped file's, count as active, and are given up like the others: MemAvailable has both, too.
_FILES = {
    2: ("memory.max", "memory.current", {"inactive_file", "active_file"}),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}),
}


def available() -> int | None:
    """Return the bytes of host memory that may be taken now; None if the machine does not report them."""
    found = [*_system(), *_groups()]
    return min(found) if found else None


def total() -> int | None:
    """Return the bytes of host memory in all; None if the machine does not report them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not POSIX, or without these names
        return None


def used() -> int:
    """Return the bytes of memory that this process holds now, or held at most if the system reports only that."""
    for line in _lines(_ROOT / "proc" / "self" / "statm"):
        return int(line.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        import resource
    except ImportError:  # another system
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _system() -> Iterator[int]:
    for line in _lines(_ROOT / "proc" / "meminfo"):
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            yield int(rest.split()[0]) * 1024


def _groups() -> Iterator[int]:
    """Yield the bytes that each limit leaves: that of the process's control group and of those above it."""
    for line in _lines(_ROOT / "proc" / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        version, root = (1, "memory") if controllers else (2, "")
        folder = Path(path.lstrip("/"))
        for each in (folder, *folder.parents):
            yield from _left(_ROOT / "sys" / "fs" / "cgroup" / root / each, version)


def _left(group: Path, version: int) -> Iterator[int]:
    limit_name, used_name, caches = _FILES[version]
    limit, used = (next(_lines(group / name), "") for name in (limit_name, used_name))
    if limit.isdigit() and used.isdigit():  # a v2 group without a limit says "max"; the root has none of these files
        words = (line.split() for line in _lines(group / "memory.stat"))
        cache = sum(int(pair[1]) for pair in words if pair[0] in caches)
        yield max(int(limit) - max(int(used) - cache, 0), 0)


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text().splitlines()
    except OSError:  # another system, or a container that hides it
        return
