"""The machine's host memory: its total, and the part that can be allocated without evicting other processes' memory.

Linux's estimate is MemAvailable in /proc/meminfo (free and reclaimable pages); a container's limit is that of its
control group, or of a group above it. On other systems the limit is unknown, and no allocation is refused in advance.
Source: Linux kernel documentation, filesystems/proc and admin-guide/cgroup-v1/memory, cgroup-v2.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

_ROOT = ""  # the folder of proc and sys
# Files of a control group: its limit, its usage, and the parts of the usage that are caches of files. Pages that were
# read twice, such as a mapped file's, count as active, but are reclaimed like the others: MemAvailable includes both.
_FILES = {
    2: ("memory.max", "memory.current", {"inactive_file", "active_file"}),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}),
}


def available() -> int | None:
    """Return the bytes of host memory that can be allocated now; None if the machine does not report them."""
    found = [*_system(), *_groups(), *_limits()]
    return min(found) if found else None


def total() -> int | None:
    """Return the total bytes of host memory; None if the machine does not report them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # the system is not POSIX, or lacks these names
        return None


def used() -> int:
    """Return the resident bytes of this process, or their peak if the system reports only that."""
    if sizes := _text("proc/self/statm").split():
        return int(sizes[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        import resource
    except ImportError:  # another system
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _system() -> Iterator[int]:
    if (found := _number("MemAvailable:", _text("proc/meminfo"))) is not None:
        yield found * 1024


def _groups() -> Iterator[int]:
    """Yield the bytes left by the limits of the process's control group and of the groups above it."""
    for line in _text("proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        version, root = (1, "sys/fs/cgroup/memory") if controllers else (2, "sys/fs/cgroup")
        names = [name for name in path.split("/") if name]
        for depth in range(len(names), -1, -1):
            yield from _left("/".join([root, *names[:depth]]), version)


def _left(group: str, version: int) -> Iterator[int]:
    limit_name, used_name, caches = _FILES[version]
    limit = _text(f"{group}/{limit_name}").strip()
    # Without a limit, a group of version 2 has "max" or no such file; one of version 1 has more than any machine.
    if not limit.isdigit() or int(limit) >= 1 << 60:
        return
    used = _text(f"{group}/{used_name}").strip()
    if used.isdigit():
        parts = _text(f"{group}/memory.stat")
        cache = sum(_number(name, parts) or 0 for name in caches)
        yield max(int(limit) - max(int(used) - cache, 0), 0)


def _limits() -> Iterator[int]:
    """Yield the bytes left by the process's own limits: of addresses (ulimit -v) and of data (ulimit -d)."""
    sizes = _text("proc/self/statm").split()
    try:
        import resource
    except ImportError:  # another system
        return
    for limit, place in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        most = resource.getrlimit(limit)[0]
        if most != resource.RLIM_INFINITY and sizes:
            yield max(most - int(sizes[place]) * os.sysconf("SC_PAGE_SIZE"), 0)


def _number(name: str, text: str) -> int | None:
    """Return the number after a name at the start of a line, or None; the text is not split into its many lines."""
    _, _, rest = f"\n{text}".partition(f"\n{name} ")
    return int(rest.split(maxsplit=1)[0]) if rest else None


def _text(path: str) -> str:
    """Return a system file's content; "" on another system, or in a container that hides the file."""
    try:
        with open(f"{_ROOT}/{path}") as file:  # noqa: PTH123  # a Path takes twice as long, for a dozen files a call
            return file.read()
    except OSError:
        return ""
