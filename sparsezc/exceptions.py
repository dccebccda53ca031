"""The errors of sparsezc: python-graphblas's names, each also the built-in error that a caller would catch.

Every error derives from :class:`GraphblasException`, so ``except gb.exceptions.GraphblasException`` catches them all.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = [
    "ConvergenceFailure",
    "DeviceUnavailable",
    "DimensionMismatch",
    "DomainMismatch",
    "EmptyObject",
    "FileFormatError",
    "GraphblasException",
    "IndexOutOfBound",
    "InsufficientSpace",
    "InvalidIndex",
    "InvalidObject",
    "InvalidValue",
    "NoValue",
    "NotImplementedException",
    "NullPointer",
    "OutOfMemory",
    "OutputNotEmpty",
    "Panic",
    "PerformanceWarning",
    "UdfParseError",
    "UninitializedObject",
    "UnknownDtype",
]


class GraphblasException(Exception):
    """The base class of every error that sparsezc raises on purpose."""

    def _say(self, *words: str) -> None:
        """Replace the message."""
        self.args = words


class NoValue(GraphblasException, KeyError):
    """An element that is not present was requested."""


class UninitializedObject(GraphblasException, RuntimeError):
    """An object was used before it was made."""


class InvalidObject(GraphblasException, ValueError):
    """An object's content is damaged."""


class NullPointer(GraphblasException, RuntimeError):
    """A required object is missing."""


class InvalidValue(GraphblasException, ValueError):
    """An argument has a value that is not allowed."""


class InvalidIndex(GraphblasException, IndexError):
    """An index is malformed."""


class DomainMismatch(GraphblasException, TypeError):
    """Types do not fit the operator."""


class DimensionMismatch(GraphblasException, ValueError):
    """Sizes do not fit each other."""


class OutputNotEmpty(GraphblasException, ValueError):
    """An output that must be empty is not."""


class EmptyObject(GraphblasException, ValueError):
    """A scalar without a value was used where one is needed."""


class OutOfMemory(GraphblasException, MemoryError):
    """Memory of the host or of the device is short; the message gives the bytes needed and the bytes available."""


class InsufficientSpace(GraphblasException, ValueError):
    """An output array is too small."""


class IndexOutOfBound(GraphblasException, IndexError):
    """An index is outside the object."""


class Panic(GraphblasException, RuntimeError):
    """An underlying library reported an unexpected failure."""


class NotImplementedException(GraphblasException, NotImplementedError):
    """The operation does not exist here, or not for these types or on this engine."""


class UnknownDtype(GraphblasException, TypeError, ValueError):
    """A name or object that is no GraphBLAS type was given where a type is needed."""


class UdfParseError(GraphblasException, TypeError):
    """A Python function cannot become an operator; the message names the construct and its line."""


class ConvergenceFailure(GraphblasException, ArithmeticError):
    """An iteration did not converge within the allowed number of rounds."""


class FileFormatError(GraphblasException, ValueError):
    """A file is damaged, or not of the format of its name; the message names file and line."""


class DeviceUnavailable(GraphblasException, RuntimeError):
    """A GPU was requested and none can be used; the message gives the reason."""


class PerformanceWarning(UserWarning):
    """An operation ran in a slower way than the user asked for (such as on the CPU engine)."""


def warn_slow(message: str) -> None:
    """Warn of a slower way, at the line of the user's program that caused it."""
    warn_caller(message, PerformanceWarning)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that called the package."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("sparsezc", "contextlib"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


#: The call that makes a Matrix of a graph, by the library of the graph's class.
_MAKERS = {
    "builtins": "",
    "graphblas": "gb.from_graphblas({})",
    "networkx": "gb.io.from_networkx({})",
    "numpy": "gb.Matrix.from_dense({}, missing_value=0)",
    "scipy": "gb.io.from_scipy_sparse({})",
    "pandas": "gb.io.from_pandas_edgelist({})",
    "polars": "gb.io.from_polars({})",
    "pyarrow": "gb.io.from_arrow({})",
    "torch": "gb.io.from_torch_sparse({})",
}


def maker(value: object, name: str) -> str:
    """Return ``", which gb.io.from_networkx(A) makes"`` for a graph that is no Matrix, else ``""``.

    >>> maker("web.txt", "A")
    ', which gb.io.read(A) makes'
    >>> maker(5, "A")
    ''
    """
    library = next(root for each in type(value).__mro__ if (root := str(each.__module__).partition(".")[0]) in _MAKERS)
    made = _MAKERS[library]
    if library in ("numpy", "torch") and getattr(value, "ndim", 2) != 2:  # a number or a vector
        made = ""
    if library == "builtins":
        made = "gb.io.read({})" if isinstance(value, str) else ""
        made = "gb.Matrix.from_edgelist({}) (of pairs) or from_dense (of rows)" if isinstance(value, list) else made
    return f", which {made.format(name)} makes" if made else ""


#: GraphBLAS's names by those that other libraries have for the same operators.
_ELSEWHERE = {
    "sum": "plus", "add": "plus", "+": "plus", "prod": "times", "product": "times", "mul": "times", "multiply": "times",
    "*": "times", "last": "second", "or": "lor", "and": "land", "xor": "lxor",
}  # fmt: skip


def meant(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'bfs'?"`` for the known name that is nearest to a word, or ``""`` if none is near.

    An operator's name in other libraries counts as near to its name here, however it is spelled.

    >>> meant("bsf", ["bfs", "sssp"])
    "; did you mean 'bfs'?"
    >>> meant("last", ["first", "second"])
    "; did you mean 'second'?"
    >>> meant("x", ["bfs", "sssp"])
    ''
    """
    from difflib import get_close_matches  # imported for a message alone

    word, names = word.lower()[:100], list(known)
    same = _ELSEWHERE.get(word)
    found = [same] if same in names else get_close_matches(word, names, 1, 0.6)
    return f"; did you mean {found[0]!r}?" if found else ""


@contextmanager
def naming(graph: str | os.PathLike[str], others: Mapping[str, str] | None = None) -> Iterator[None]:
    """Put the graph's name in front of an error that does not name it.

    `others`: the files of other arguments; an error that begins with the name of one is given that file's name.

    >>> with naming("a.txt"):
    ...     raise FileFormatError("too long")
    Traceback (most recent call last):
        ...
    sparsezc.exceptions.FileFormatError: a.txt: too long
    """
    try:
        yield
    except GraphblasException as error:
        about = str(error.args[0]).split(maxsplit=1)[:1] if error.args else []
        add_name(error, next((file for name, file in (others or {}).items() if [name] == about), graph))
        raise


def add_name(error: GraphblasException, graph: str | os.PathLike[str]) -> None:
    """Put the graph's name in front of an error's message that lacks it."""
    about_graph = not isinstance(error, DeviceUnavailable)
    if about_graph and error.args and Path(graph).name not in str(error.args[0]):
        error._say(f"{graph}: {error.args[0]}", *error.args[1:])


def no_attribute(what: str, name: str, known: Iterable[str], owner: object) -> AttributeError:
    """Return the error for an attribute that an object lacks, with the nearest name in its text, as notebooks show it.

    >>> str(no_attribute("config", "budgt", ["budget", "engine"], None))
    "config has no attribute 'budgt'; did you mean 'budget'?"
    """
    nearest = "" if name.startswith("_") else meant(name, known)
    # With a `name` beside `obj`, Python's own traceback would repeat the suggestion.
    return AttributeError(f"{what} has no attribute {name!r}{nearest}", obj=owner)


def __dir__() -> list[str]:
    return sorted(__all__)
