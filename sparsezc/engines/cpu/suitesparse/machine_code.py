"""Loops over entries in machine code, by numba."""

from __future__ import annotations

from contextlib import suppress
from types import FunctionType
from typing import Any

__all__ = ["compiled"]


def compiled(numba: Any, function: Any) -> Any:
    """Return a function that numba compiles at its first use, and keeps on disk where it may write.

    It may call other functions of its file, which are compiled with it: numba compiles anew once the file changes.
    """
    _make_known(numba, function)
    try:
        made = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder that numba may write to
        return numba.njit(nogil=True)(function)
    made._cache = _Kept(made._cache)
    return made


def _make_known(numba: Any, function: Any) -> None:
    """Register with numba the functions of a function's own file that it calls itself, not in a nested function."""
    for name in function.__code__.co_names:
        helper = function.__globals__.get(name)
        if isinstance(helper, FunctionType) and helper.__module__ == function.__module__ and helper not in _known:
            _known.add(helper)
            _make_known(numba, helper)
            numba.extending.register_jitable(helper)


_known: set[Any] = set()


class _Kept:
    """numba's cache files of one function; if they cannot be read or written, it is compiled again.

    numba itself raises for a damaged file, as a crash of the system leaves, and on a full disk.
    """

    def __init__(self, files: Any) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def load_overload(self, *given: Any) -> Any:
        """Return the machine code of some types; None if there is none."""
        try:
            return self._files.load_overload(*given)
        except Exception:  # unpickling may raise any
            with suppress(Exception):
                self._files.flush()
            return None

    def save_overload(self, *given: Any) -> None:
        """Keep machine code, if possible."""
        with suppress(Exception):
            self._files.save_overload(*given)
