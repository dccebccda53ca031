"""Fast parsing of numbers in lines of text, with errors that name the line.

Lines of plain decimal digits, which nearly every graph file holds, are parsed by one C loop; everything else (signs,
fractions, exponents, NaN) by NumPy's strict table reader. A wrong line is searched for only once an error is known to
exist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsezc.exceptions import InvalidValue
from sparsezc.io.build import weights as weighting
from sparsezc.io.build.table_columns import NamedVertices
from sparsezc.io.build.weights import FROM_FILE, Weights
from sparsezc.io.files.source import Lines
from sparsezc.semirings.types import datatypes

_PLAIN = b"0123456789 \t\r\n"
_COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*", re.MULTILINE)
_LAST = 2**63 - 1  # the largest integer of NumPy's reader
_FRACTION = re.compile(rb"[.eEnN]")  # one of these is in every weight that is no whole number
_INFINITE = re.compile(rb"[+-]?inf(inity)?", re.IGNORECASE)
TINY = re.compile(rb"[eE]-[0-9]{3}|0{200}")  # one of these is in every number that becomes 0 in FP64
EXACT = 2**53  # floats below it hold whole numbers exactly
_WHOLE = re.compile(rb"[+-]?[0-9]+")
_ATTRIBUTES = re.compile(rb"^[^\s,]+[\s,]+[^\s,]+[\s,]+(?=\{)", re.MULTILINE)
_NOTHING_AFTER = re.compile(rb"(,)[ \t\r]*[,\n]")
_NOTHING_BEFORE = re.compile(rb"(?:^|\n)[ \t]*(,)")
_NAMES = "; relabel=True (--relabel) numbers names"
_TEXTS = "; relabel=True (--relabel) takes all ids as names"
_DIGITS = 400  # digits of a whole number that are converted: longer numbers are out of range in any case


def without_comments(data: bytes) -> bytes:
    r"""Return the text with its ``#`` and ``%`` lines emptied; lines keep their numbers.

    >>> without_comments(b"# a b\n1 2\n")
    b'\n1 2\n'
    """
    return _COMMENT.sub(b"", data) if b"#" in data or b"%" in data else data


def counts(data: bytes) -> NDArray[np.int32]:
    r"""Return the number of words in each line of text that ends with a newline.

    >>> counts(b"1 2\n\n 3\n")
    array([2, 0, 1], dtype=int32)
    """
    text = np.frombuffer(data, np.uint8)
    blank = text <= 32
    first = np.empty(text.size, np.bool_)
    first[0] = not blank[0]
    np.greater(blank[:-1], blank[1:], out=first[1:])
    ends = np.flatnonzero(text == 10)
    return np.diff(np.cumsum(first, dtype=np.int32)[ends], prepend=np.int32(0))


def is_plain(data: bytes) -> bool:
    """Return whether the text holds decimal digits and white space only."""
    return not data.translate(None, _PLAIN)


def plain_integers(data: bytes) -> NDArray[np.int64]:
    """Return all numbers of a plain text; a number of 2**63 or more becomes 2**63 - 1."""
    if not data.strip():  # NumPy would parse an empty text as a number
        return np.empty(0, np.int64)
    return np.fromstring(data, np.int64, sep=" ")


def table(
    lines: Lines,
    columns: int | None,
    *,
    base: int = 0,
    weights: Weights = FROM_FILE,
    exact: bool | None = None,
    order: Sequence[int] = (0, 1, 2),
) -> tuple[list[NDArray[Any]], int]:
    """Return the columns of lines with equal numbers of words: two vertex numbers, then at most one weight.

    Parameters
    ----------
    lines : Lines
        Lines that start with ``#`` or ``%`` are comments. Commas count as blanks, but not without a number.
    columns : int or None
        The number of words that each line must have; None: that of the first line, which must be 2 or 3.
    base : int
        The number that the file gives to its first vertex.
    weights : Weights
        The type that must hold each weight, if one is requested.
    exact : bool, optional
        Refuse whole weights that do not fit 64 bits; False: they become floats. None: True if the weights are used.
    order : sequence of int
        The positions of the row's id, the column's and the weight in a line.

    Returns
    -------
    (list of arrays, columns)
        The ids as int64 from 0 on, the weights as int64, uint64 (one is 2**63 or more, none is negative) or float64. If
        an integer type is requested, the weights are exact: uint64 for UINT64, else int64.

    Raises
    ------
    FileFormatError
        A word is no number, or no type of 64 bits holds it.
    InvalidValue
        The requested type does not hold a weight.
    """
    exact = weights.kind == "file" if exact is None else exact
    data = without_comments(lines.data)
    if b"{" in data and (found := _ATTRIBUTES.search(data)):
        raise lines.error(
            data.count(b"\n", 0, found.end()),
            "found attributes in braces, as NetworkX's write_edgelist writes them; its write_weighted_edgelist, or"
            " data=False, writes a list that can be read",
        )
    if b"," in data:
        _check_commas(lines, data)
        data = data.replace(b",", b" ")
    words = counts(data)
    full = words[words > 0]
    if not full.size:
        return [], columns or 0
    columns = columns or int(full[0])
    if not 2 <= columns <= 3:
        raise lines.error(int(np.flatnonzero(words)[0]), f"found {in_words(columns)}; 2 or 3 are needed")
    if (full != columns).any():
        bad = int(np.flatnonzero((words != columns) & (words > 0))[0])
        raise lines.error(bad, f"found {in_words(words[bad])}; {columns} are needed, as in the lines before")
    numbers = plain_integers(data).reshape(-1, columns) if is_plain(data) else None
    if numbers is not None and int(numbers.max()) < _LAST:
        result: list[NDArray[Any]] = [numbers[:, order[k]] for k in range(columns)]
    else:
        result = _strict(lines, data, order[:columns], base, exact)
        if any(int(result[k].max()) == _LAST for k in range(2)):
            raise explain(lines, data, order[:columns], base, exact)
    for k in range(2):
        if int(result[k].min()) < base:
            raise explain(lines, data, order[:columns], base, exact)
        result[k] = result[k] - base if base else result[k]
    if columns > 2 and weights.kind == "file":
        result[2] = _fitted(lines, data, result[2], order[2], weights.dtype)
    return result, columns


def _check_commas(lines: Lines, data: bytes) -> None:
    """Raise FileFormatError for a comma without words on both sides: later words would move to another column."""
    if found := _NOTHING_AFTER.search(data) or _NOTHING_BEFORE.search(data):
        at = data.count(b"\n", 0, found.start(1))
        line = data.split(b"\n", at + 1)[at]
        raise lines.error(at, f"found {shown(line)}; a number is needed on both sides of a comma")


def _fitted(lines: Lines, data: bytes, values: NDArray[Any], at: int, dtype: datatypes.DataType | None) -> NDArray[Any]:
    """Return the weights, word `at` of each line, after checking that `dtype` holds them; exact for an integer type."""
    floats = values.dtype.kind == "f"
    if floats:
        _check_range(lines, data, values, at, dtype)
    if dtype is None:
        return values
    large, exact = np.empty(0, np.int64), np.empty(0, np.int64)
    if floats and dtype.is_integer:
        large = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= EXACT))
        exact = _exact(lines, data, at, large, dtype)
        values[large] = 0

    def place(bad: int) -> str:
        return lines.place(int(np.flatnonzero(counts(data))[bad]), at)

    weighting.check_fit(values, dtype, place)
    if not dtype.is_integer:
        return values
    whole = values.astype(np.uint64 if dtype is datatypes.UINT64 else np.int64)
    whole[large] = exact
    return whole


def _weights(data: bytes, at: int) -> list[tuple[int, bytes]]:
    """Return the number of each line that has words, and its word `at`."""
    return [(index, line.split()[at]) for index, line in enumerate(data.split(b"\n")) if line.strip()]


def _exact(lines: Lines, data: bytes, at: int, large: NDArray[Any], dtype: datatypes.DataType) -> NDArray[Any]:
    """Return exactly the weights `large`, whole numbers written like fractions (1e18), which floats may round."""
    from decimal import Decimal

    bounds = np.iinfo(dtype.np_type)
    words = _weights(data, at) if large.size else []
    exact = []
    for index, word in (words[k] for k in large.tolist()):
        number = Decimal(word.decode())
        if not bounds.min <= number <= bounds.max or number != number.to_integral_value():
            raise _unfit(lines, index, word, at, dtype)
        exact.append(int(number))
    return np.array(exact, dtype.np_type)


def _check_range(lines: Lines, data: bytes, values: NDArray[Any], at: int, dtype: datatypes.DataType | None) -> None:
    """Raise an error for a number that is infinite or 0 only because FP64 cannot hold it."""
    suspect = np.isinf(values)
    if TINY.search(data):
        suspect |= values == 0
    words = _weights(data, at) if suspect.any() else []
    for index, word in (words[k] for k in np.flatnonzero(suspect).tolist()):
        digits = re.split(rb"[eE]", word)[0]
        if not _INFINITE.fullmatch(word) and re.search(rb"[1-9]", digits):
            raise _unfit(lines, index, word, at, dtype)


def _unfit(lines: Lines, index: int, word: bytes, at: int, dtype: datatypes.DataType | None) -> Exception:
    """Return the error for a weight, the word `at` of a line, that its type does not hold."""
    found = f"found the weight {shown(word)[1:-1]}"
    if dtype is None:
        return lines.error(index, f"{found}; FP64 holds {weighting.needed(datatypes.FP64)}", at)
    needed = f"weights={dtype.name!r} needs {weighting.needed(dtype)}"
    return InvalidValue(f"{lines.place(index, at)}: {found}; {needed}")


def _strict(lines: Lines, data: bytes, order: Sequence[int], base: int, exact: bool) -> list[NDArray[Any]]:
    """Return the columns of text that has not only digits, or may have numbers that are too large."""
    weighted = len(order) > 2
    floats = weighted and (not exact or _FRACTION.search(data))
    for weight in (np.int64, np.uint64, np.float64)[: 1 + weighted + bool(floats)]:
        fields = [(str(k), weight if k in order[2:] else np.int64) for k in range(len(order))]
        try:
            found = np.loadtxt(BytesIO(data), dtype=fields, comments=None, ndmin=1)
            return [np.ascontiguousarray(found[str(k)]) for k in order]
        except (ValueError, OverflowError):
            continue
    raise explain(lines, data, order, base, exact)


def explain(lines: Lines, data: bytes, order: Sequence[int], base: int, exact: bool) -> Exception:
    """Return the error for the first wrong line."""
    whole: list[tuple[int, int, int]] = []  # whole weights, and the numbers of their lines and words
    for index, line in enumerate(data.split(b"\n")):
        for k, word in enumerate(line.split()):
            found = shown(word)
            if k in order[2:]:
                try:
                    float(word)
                except ValueError:
                    return lines.error(index, f"found {found}; a number is needed as the weight", k)
                if exact and _WHOLE.fullmatch(word) and not -(2**63) <= int(word[:_DIGITS]) < 2**64:
                    return lines.error(index, f"found the weight {found}; it must fit 64 bits", k)
                if exact and _WHOLE.fullmatch(word):
                    whole.append((int(word), index, k))
                continue
            if not _WHOLE.fullmatch(word):
                error = lines.error(index, f"found {found}; a whole number is needed as a vertex id{_NAMES}", k)
                return NamedVertices(*error.args)
            if int(word[:_DIGITS]) < base:
                return _no_id(lines, index, k, f"found the vertex id {found}; ids start at {base}", base)
            if int(word[:_DIGITS]) >= _LAST:
                return _no_id(lines, index, k, f"found the vertex id {found}; ids must be below 2^63 - 1", base)
    if whole and min(whole)[0] < 0 and max(whole)[0] > _LAST:
        most, index, k = max(whole)
        return lines.error(index, f"found the weight {most}; beside negative weights it must be below 2^63", k)
    return lines.error(0, f"these lines could not be read as {len(order)} columns of numbers")


def _no_id(lines: Lines, index: int, word: int, said: str, base: int) -> Exception:
    """Return the error for a whole number that is no id: in an edge list, whose ids start at 0, it may be a name."""
    return lines.error(index, said, word) if base else NamedVertices(*lines.error(index, said + _TEXTS, word).args)


def stated(word: bytes) -> int | None:
    r"""Return the whole number below 10^20 that a word of a header is; None if it is not one.

    >>> stated(b"27"), stated(b"-1"), stated(b"9" * 5000)
    (27, None, None)
    """
    return int(word) if len(word) <= 20 and word.isdigit() else None


def excerpt(message: str) -> str:
    r"""Return the start of another library's message, on one line, without terminal control characters.

    >>> print(excerpt("found \x1b[2J\n"))
    found \x1b[2J\n
    """
    start = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message[:200])
    return start + "..." * (len(message) > 200)


def in_words(count: int) -> str:
    """Return a number of columns with its noun.

    >>> in_words(1), in_words(2)
    ('1 column', '2 columns')
    """
    return f"{count} {'column' if count == 1 else 'columns'}"


def shown(word: bytes) -> str:
    r"""Return the start of a word or line as messages quote it.

    >>> print(shown("zwölf".encode()), shown(b"\xff\xfe0"))
    'zwölf' '\xff\xfe0'
    """
    start = word.strip()
    try:
        return repr(start.decode()[:40])
    except UnicodeDecodeError:
        return repr(start[:40])[1:]


def printed(prefix: bytes, *columns: NDArray[Any]) -> bytes:
    r"""Return lines of numbers separated by blanks, each after `prefix`; floats in the fewest exact digits.

    >>> printed(b"a ", np.array([1, 2]), np.array([0.5, 3.0]))
    b'a 1 0.5\na 2 3.0\n'
    """
    form = prefix.decode() + " ".join("%r" if column.dtype.kind == "f" else "%d" for column in columns) + "\n"
    parts = [column.tolist() for column in columns]
    flat = [None] * (len(parts) * len(parts[0]))
    for k, part in enumerate(parts):
        flat[k :: len(parts)] = part
    return (form * len(parts[0]) % tuple(flat)).encode()
