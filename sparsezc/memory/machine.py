"""What the machine says of its own memory: what a new process may take without pushing others out, and what there is.

Linux's estimate is MemAvailable of /proc/meminfo (free pages and those that it can give up); a container's limit is its
control group's, or that of a group above it. Elsewhere the limit is unknown, and nothing is refused in advance.
Source: Linux kernel documentation, filesystems/proc and admin-guide/cgroup-v1/memory, cgroup-v2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")
_FILES = {  # of a control group: its limit, what it uses, and the part of that which is a cache of files
    2: ("memory.max", "memory.current", "inactive_file"),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def available() -> int | None:
    """Bytes of host memory that may be taken now; None where the machine does not say."""
    found = [*_system(), *_groups()]
    return min(found) if found else None


def total() -> int | None:
    """Bytes of host memory in all; None where the machine does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not POSIX, or without these names
        return None


def used() -> int:
    """Bytes of memory that this process holds now; what it held at most where the system does not say."""
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
    """What each limit leaves, of the process's group and of those above it."""
    for line in _lines(_ROOT / "proc" / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        version, root = (1, "memory") if controllers else (2, "")
        folder = Path(path.lstrip("/"))
        for each in (folder, *folder.parents):
            yield from _left(_ROOT / "sys" / "fs" / "cgroup" / root / each, version)


def _left(group: Path, version: int) -> Iterator[int]:
    limit_name, used_name, cache_name = _FILES[version]
    limit, used = (next(_lines(group / name), "") for name in (limit_name, used_name))
    if limit.isdigit() and used.isdigit():  # a v2 group without a limit says "max"; the root has none of these files
        words = (line.split() for line in _lines(group / "memory.stat"))
        cache = next((int(pair[1]) for pair in words if pair[0] == cache_name), 0)
        yield max(int(limit) - max(int(used) - cache, 0), 0)


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text().splitlines()
    except OSError:  # another system, or a container that hides it
        return
