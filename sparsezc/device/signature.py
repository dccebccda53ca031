"""The parameters of a kernel, as its CUDA text declares them, and the order in which named arguments are passed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

#: The names of a launch's arguments: the type of each group (a NamedTuple, whose fields are names), then single names.
Shape = tuple[Any, ...]
#: A function that sorts the values of a shape into the order of the parameters.
Order = Callable[[tuple[Any, ...]], tuple[Any, ...]]
#: The type of each parameter, None for a pointer.
Passed = tuple[np.dtype[Any] | None, ...]

_KERNEL = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)')
_PARAMETER = re.compile(r"\s*(?:const\s+)?([\w ]+?)\s*(\*?)\s*(\w+)\s*")
_TYPEDEF = re.compile(r"^typedef (\w+) (\w+);", re.MULTILINE)
_TYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "bool": "?", "float": "f4", "double": "f8", "c64": "c8", "c128": "c16",
        "int": "i4", "unsigned int": "u4", "unsigned long long": "u8",
        **{f"{kind}{8 * size}": f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)},
    }.items()
}  # fmt: skip


_END = 2**63  # of Python integers: a device passes them as signed integers of eight bytes


class Parameter(NamedTuple):
    """One parameter: its name, its type or the type that it points to, and whether it is a pointer."""

    name: str
    ctype: str
    is_pointer: bool


def typedefs(prelude: str) -> dict[str, np.dtype[Any]]:
    """Return the types that a prelude defines by name, as by ``typedef u32 Id;``."""
    return {name: _TYPES[ctype] for ctype, name in _TYPEDEF.findall(prelude) if ctype in _TYPES}


def kernels(text: str) -> list[str]:
    """Return the names of a text's kernels; ``KERNEL`` is replaced by a name when the kernel is compiled."""
    return [match[1] for match in _KERNEL.finditer(text)]


@dataclass(frozen=True, eq=False)
class Signature:
    """The parameters of one kernel.

    Attributes
    ----------
    kernel : str
        The kernel and its file, as messages name them.
    parameters : tuple of Parameter
    """

    kernel: str
    parameters: tuple[Parameter, ...]
    _orders: dict[Shape, Order] = field(default_factory=dict, init=False)

    @classmethod
    def parse(cls, text: str, name: str, file: str) -> Signature:
        """Read the parameters of the kernel `name` from the text of its file."""
        found = {match[1]: match[2] for match in _KERNEL.finditer(text)}
        if name not in found and "KERNEL" not in found:
            raise ValueError(f"{file} has no kernel {name!r}")
        made = []
        for declared in found.get(name, found.get("KERNEL", "")).split(","):
            match = _PARAMETER.fullmatch(declared)
            if match is None:
                raise ValueError(f"{file}: {name} has a parameter that cannot be read: {declared.strip()!r}")
            made.append(Parameter(match[3], match[1], bool(match[2])))
        return cls(f"{name} ({file})", tuple(made))

    def order(self, shape: Shape) -> Order:
        """Return a function that sorts a shape's values into the parameters' order; raise TypeError on a mismatch."""
        made = self._orders.get(shape)
        if made is None:
            made = self._orders[shape] = self._made(list(_names(shape)))
        return made

    def _made(self, given: list[str]) -> Order:
        asked = [parameter.name for parameter in self.parameters]
        known, places = set(asked), {name: place for place, name in enumerate(given)}
        for name in places:
            if name not in known:
                raise TypeError(f"{self.kernel} has no parameter {name!r}; its parameters are {', '.join(asked)}")
        if len(places) < len(given):
            name = next(name for name in given if given.count(name) > 1)
            raise TypeError(f"{self.kernel}: argument {name!r} is given {given.count(name)} times")
        for name in asked:
            if name not in places:
                raise TypeError(f"{self.kernel}: argument {name!r} is missing")
        return tuple if given == asked else itemgetter(*(places[name] for name in asked))

    def consecutive(self, group: type[Any]) -> tuple[int, int]:
        """Return a group's first parameter's number and the group's size; raise TypeError if it is not consecutive."""
        asked, given = [parameter.name for parameter in self.parameters], list(_names((group,)))
        if given[0] not in asked:
            raise TypeError(f"{self.kernel} has no parameter {given[0]!r}; its parameters are {', '.join(asked)}")
        first = asked.index(given[0])
        if (found := asked[first : first + len(given)]) != given:
            needed = ", ".join(given)
            raise TypeError(f"{self.kernel}: consecutive parameters {needed} are needed, found {', '.join(found)}")
        return first, len(given)

    def passed(self, types: Mapping[str, np.dtype[Any]]) -> Passed:
        """Return the type in which each argument is passed; None for a pointer."""
        return tuple(None if p.is_pointer else types.get(p.ctype, _TYPES.get(p.ctype)) for p in self.parameters)

    def typed(self, types: Mapping[str, np.dtype[Any]]) -> list[tuple[int, type[np.generic]]]:
        """Return number and type of each parameter that is neither a pointer nor of a fixed integer type."""
        found = []
        for place, (name, ctype, is_pointer) in enumerate(self.parameters):
            if is_pointer or (ctype in _TYPES and _TYPES[ctype].kind in "iu"):
                continue
            if (dtype := types.get(ctype, _TYPES.get(ctype))) is None:
                raise ValueError(f"{self.kernel}: no type {ctype!r} is known for parameter {name!r}")
            found.append((place, dtype.type))
        return found

    def check(self, arguments: Sequence[Any], types: Mapping[str, np.dtype[Any]]) -> None:
        """Compare arguments, in the parameters' order, with their types; raise a TypeError that names a mismatch."""
        for (name, ctype, is_pointer), argument in zip(self.parameters, arguments, strict=True):
            dtype = types.get(ctype, _TYPES.get(ctype))
            wrong = _pointer_error(argument, dtype) if is_pointer else _number_error(argument, dtype)
            if wrong:
                declared = f"{ctype}*" if is_pointer else ctype
                raise TypeError(f"{self.kernel}: parameter {name!r} is {declared}, {wrong} was given")


def _names(shape: Shape) -> Iterator[str]:
    for part in shape:
        if isinstance(part, str):
            yield part
        elif hasattr(part, "_fields"):
            yield from part._fields
        else:
            raise TypeError(f"a group of kernel arguments must be a NamedTuple, not {part.__name__}")


def _pointer_error(argument: Any, dtype: np.dtype[Any] | None) -> str:
    """Describe an argument that is no pointer (an array, or an int or uint64 as address); "" if it is one."""
    if isinstance(argument, np.uint64) or (type(argument) is int and 0 <= argument < _END):
        return ""
    if not (hasattr(argument, "dtype") and hasattr(argument, "flags")) or isinstance(argument, np.generic):
        return f"{argument!r} ({type(argument).__name__})"
    if dtype is not None and argument.dtype.itemsize not in (dtype.itemsize, 1):
        return f"an array of {argument.dtype}"
    return "" if argument.flags.c_contiguous else "an array that is not contiguous"


def _number_error(argument: Any, dtype: np.dtype[Any] | None) -> str:
    """Describe an argument that is no number of this type; "" if it is one."""
    given = f"{argument!r} ({type(argument).__name__})"
    if dtype is None:
        return ""
    if isinstance(argument, np.generic):
        return "" if argument.dtype == dtype else given
    if dtype.kind not in "iu" or type(argument) is not int:
        return given
    bounds = np.iinfo(dtype)
    return "" if bounds.min <= argument <= bounds.max and argument < _END else given
