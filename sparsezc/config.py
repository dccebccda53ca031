"""The one configuration object, ``sparsezc.config``.

>>> import sparsezc as gb
>>> with gb.config.set(engine="cpu", progress=False):
...     gb.config.engine
'cpu'
>>> gb.config.engine
'auto'
"""

from __future__ import annotations

import itertools
from _thread import RLock
from collections.abc import Callable
from numbers import Integral, Real
from operator import index
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from sparsezc.exceptions import InvalidValue, meant, no_attribute
from sparsezc.process.first_use import provided

__all__ = ["Config", "config", "parse_bytes"]

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def parse_bytes(text: str) -> int:
    """Parse a number of bytes such as ``"16GB"`` or ``"1.5 GiB"`` as an integer.

    Raises
    ------
    InvalidValue
        The text is no number with a unit among B, KB, MB, GB, TB, KiB, MiB, GiB, TiB, has a fraction and no unit, or is
        less than a byte.
    """
    number = text.strip().rstrip("BbKkMmGgTtIi ")
    unit = text.strip()[len(number) :].strip().lower()
    try:
        size = float(number) * _UNITS[unit]
        if not 1 <= size < 2**63 or not (unit or size.is_integer()):
            raise ValueError
    except (KeyError, ValueError):
        raise InvalidValue(f"{text!r} is no number of bytes; write for example '16GB' or '512MiB'") from None
    return int(size)


def parse_budget(text: str) -> int | float:
    """Parse a share such as ``"0.5"`` as a float, or a number of bytes as an integer.

    >>> parse_budget("0.5"), parse_budget("2KB")
    (0.5, 2000)
    """
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    return share if 0 < share <= 1 else parse_bytes(text)


def bytes_of(name: str, value: int | str) -> int:
    """Convert an argument, a number of bytes or a text like ``"2GB"``, to an integer.

    >>> bytes_of("memory", "2GB")
    2000000000

    Raises
    ------
    InvalidValue
        The argument is neither; the message names it.
    """
    try:
        if isinstance(value, str):
            return parse_bytes(value)
        if not isinstance(value, bool) and (number := index(value)) > 0:
            return number
    except (InvalidValue, TypeError):
        pass
    raise InvalidValue(f"{name}={value!r} is not allowed; a number of bytes, or a text like '2GB', is needed")


def _choice(*allowed: Any) -> Callable[[Any], str | None]:
    def check(value: Any) -> str | None:
        good = any(type(value) is type(a) and value == a for a in allowed)
        return None if good else "one of " + ", ".join(map(repr, allowed))

    return check


def _placement(value: Any) -> str | None:
    return _choice(*provided("names of placements")())(value)


def _budget(value: Any) -> str | None:
    need = "None, a number of bytes (16_000_000_000), a text like '16GB', or a share up to 1 like 0.8"
    if value is None:
        return None
    if isinstance(value, str):
        try:
            parse_budget(value)
        except InvalidValue:
            return need
        return None
    if isinstance(value, bool):
        return need
    if isinstance(value, Integral):
        return None if int(value) > 0 else need
    return None if isinstance(value, Real) and 0 < float(value) <= 1 else need


def _kept(key: str, value: Any) -> Any:
    """Return a setting in stored form: a share given as text becomes a number, and numbers become Python's."""
    if _KEYS[key].check is not _budget or value is None:
        return value
    if isinstance(value, str):
        share = parse_budget(value)
        return share if isinstance(share, float) else value
    return int(value) if isinstance(value, Integral) else float(value)


class _Key(NamedTuple):
    default: Any
    check: Callable[[Any], str | None]  # the requirement that is not met; None if the value is allowed
    doc: str


_KEYS = {
    "engine": _Key(
        "auto",
        lambda value: _choice("auto", *sorted(Config.engines))(value),
        "the engine of matrices from gb.io.read and the generators: 'auto' is the GPU if one can be used; 'gpu', or an"
        " engine that a program registered, is also that of the constructors (from_coo ...)",
    ),
    "placement": _Key(
        "auto",
        _placement,
        "the memory of a GPU matrix's arrays: 'auto' is device memory if all fits the budget, else 'hybrid': host"
        " memory, whose most read part is in device memory; docs/placements.md describes the others",
    ),
    "oversubscribe": _Key(
        False,
        _choice(True, False),
        "whether placement 'uvm' may take more managed memory than the device has free, which hangs some devices",
    ),
    "budget": _Key(
        None,
        _budget,
        "device memory that may be used: None (nine tenths of the free memory), bytes, '16GB', or a share",
    ),
    "host_budget": _Key(
        None,
        _budget,
        "host memory for making one matrix: None (nine tenths of the available memory), bytes, '16GB', or a share",
    ),
    "head_cache": _Key(
        "auto",
        _choice("auto", "on", "off"),
        "whether the first neighbours of each row, hubs first, are kept in device memory, where searches read them"
        " before host memory: 'auto' builds this cache for zero-copy matrices once searches have read as much as"
        " building it reads; 'on' at the first search, in any placement. Batches of searches over the link read the"
        " upper triangle of a symmetric matrix, cached in half of the ids' memory: with 'auto' once it would have saved"
        " the time of building it",
    ),
    "head_budget": _Key(
        None, _budget, "device memory of one such cache: None (32 bytes a row), bytes, '2GB', or a share"
    ),
    "packing": _Key(
        "auto",
        _choice("auto", "on", "off"),
        "whether small whole values are packed into the spare bits of 4-byte ids, in 4 more bytes of memory an entry,"
        " so that products which read both need one request: 'auto' does so for zero-copy matrices once products have"
        " read as much as packing reads; 'on' at the first product, in any placement",
    ),
    "rows_per_warp": _Key(
        "auto",
        _choice("auto", 1, 32),
        "how many rows a warp of a product or traversal reads together. 1: all of a row by one warp in aligned requests"
        " of 128 bytes, even of a hub, never from column blocks, hub columns or rows in groups; 32: short rows"
        " share requests; 'auto': 1 if rows are long and few, else 32. Except with 1, rows of more than 2,048"
        " entries (512 in small matrices) are divided among warps",
    ),
    "fallback": _Key(
        "warn",
        _choice("warn", "error", "silent"),
        "the action if the GPU engine lacks an operation: run it on the CPU engine (with a warning), or raise an error",
    ),
    "autocompute": _Key(
        True,
        _choice(True, False),
        "whether an expression that has not run is computed where its result is needed, as in A.mxv(v).nvals; if not,"
        " .new() must be called (python-graphblas's default)",
    ),
    "mapnumpy": _Key(
        False,
        _choice(True, False),
        "python-graphblas's setting for the operators of its .numpy namespaces; here both settings mean the same",
    ),
    "check": _Key(
        False,
        _choice(True, False),
        "whether ranks of a distributed program compare their statements before each exchange, so that all raise an"
        " error, instead of hanging, if one has strayed",
    ),
    "rebalance": _Key(
        True,
        _choice(True, False),
        "whether ranks of a distributed program move rows from ranks whose products take longer to others, where that"
        " pays; sums of floating-point numbers then depend on when rows move",
    ),
    "progress": _Key("auto", _choice("auto", True, False), "progress bars for work that takes longer than two seconds"),
}


class Config:
    """The settings of the whole process; read them as attributes, change them with :meth:`set`.

    ``print(gb.config)`` explains each: ``engine``, ``placement``, ``oversubscribe``, ``budget``, ``host_budget``,
    ``head_cache``, ``head_budget``, ``packing``, ``rows_per_warp``, ``fallback``, ``autocompute``, ``mapnumpy``,
    ``check``, ``rebalance`` and ``progress``. No environment variable is read. Assigning (``gb.config.engine =
    "cpu"``) is the same as ``set``.
    """

    #: Names of engines; expr/engines/registry.py adds those that programs register.
    engines: ClassVar[set[str]] = {"cpu", "gpu", "distributed"}
    engine: str
    placement: str
    oversubscribe: bool
    budget: int | float | str | None
    host_budget: int | float | str | None
    head_cache: Literal["auto", "on", "off"]
    head_budget: int | float | str | None
    packing: Literal["auto", "on", "off"]
    rows_per_warp: Literal["auto", 1, 32]
    fallback: Literal["warn", "error", "silent"]
    autocompute: bool
    mapnumpy: bool
    check: bool
    rebalance: bool
    progress: Literal["auto"] | bool

    def __init__(self) -> None:
        self.reset()

    def __setattr__(self, key: str, value: Any) -> None:
        self._check(key, value)
        object.__setattr__(self, key, _kept(key, value))

    if not TYPE_CHECKING:  # with it a type checker would accept every name

        def __getattr__(self, key: str) -> Any:
            raise no_attribute("config", key, _KEYS, self)

    def __delattr__(self, key: str) -> None:
        raise InvalidValue(f"config: {key} cannot be deleted; config.reset() gives every setting its default")

    @staticmethod
    def _check(key: str, value: Any) -> None:
        if key not in _KEYS:
            raise InvalidValue(f"config has no setting {key!r}{meant(key, _KEYS)}; there are {', '.join(_KEYS)}")
        needed = _KEYS[key].check(value)
        if needed is not None:
            raise InvalidValue(f"config: {key}={value!r} is not allowed; needed is {needed}")

    def set(self, **settings: Any) -> _Restore:
        """Change settings: permanently as a statement, for a block as ``with gb.config.set(...):``.

        Raises
        ------
        InvalidValue
            A setting is unknown, or its value is not allowed; nothing changes then.
        """
        for key, value in settings.items():
            self._check(key, value)
        with changing:
            before = {key: getattr(self, key) for key in settings}
            for key, value in settings.items():
                object.__setattr__(self, key, _kept(key, value))
            return _Restore(self, before)

    def _restore(self, key: str, value: Any) -> None:
        """Set a setting to an earlier value, which needs no check."""
        object.__setattr__(self, key, value)

    def get(self, key: str, default: Any = None) -> Any:
        """Return one setting by name; `default` for an unknown name."""
        return getattr(self, key) if key in _KEYS else default

    def __getitem__(self, key: str) -> Any:
        if key not in _KEYS:
            raise KeyError(f"config has no setting {key!r}{meant(key, _KEYS)}")
        return getattr(self, key)

    def __contains__(self, key: object) -> bool:
        return key in _KEYS

    def reset(self) -> None:
        """Set every setting back to its default."""
        for key, entry in _KEYS.items():
            object.__setattr__(self, key, entry.default)

    def __dir__(self) -> list[str]:
        return sorted([*_KEYS, "get", "reset", "set"])

    def __repr__(self) -> str:
        lines = [f"{f'{key} = {getattr(self, key)!r}':<24}# {entry.doc}" for key, entry in _KEYS.items()]
        return "\n".join(lines)


class _Restore:
    """The result of :meth:`Config.set`; it restores the old values when a ``with`` block ends."""

    def __init__(self, config: Config, before: dict[str, Any]) -> None:
        self._config = config
        self._before = before
        self._number = next(_numbers)

    def __enter__(self) -> Config:
        with changing:
            _blocks.append(self)
        return self._config

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with changing:
            _blocks.remove(self)
            later = sorted((b for b in _blocks if b._number > self._number), key=lambda block: block._number)
            for key, value in self._before.items():
                inner = next((block for block in later if key in block._before), None)
                if inner is None:
                    self._config._restore(key, value)
                else:  # a block of another thread that ends later: it restores the values from before this one
                    inner._before[key] = value


#: Held while settings change; expr/writable.py makes it one of the shared locks, which a forked process frees.
changing = RLock()
_blocks: list[_Restore] = []  # blocks that were entered and have not ended
_numbers = itertools.count()  # numbers of blocks, in the order in which they changed settings
config = Config()
