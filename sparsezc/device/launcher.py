"""Launches with arguments by name.

A :class:`Launcher` is a compiled kernel with the parameters that its CUDA text declares. A launch names every argument:
in kernel-argument groups, NamedTuples whose fields have the parameters' names, or one by one::

    kernel.launch(blocks, rows.arguments, Mask(words, flip), counter=counter)

The order of the arguments is determined once for each combination of groups and names; each later launch costs one
look-up. The first launch of a combination also compares the values with the parameters' types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from sparsezc.device.protocol import Device, Kernel
from sparsezc.device.signature import Order, Shape, Signature, typedefs

_Changing = TypeVar("_Changing", bound=tuple[Any, ...])
THREADS = 256  # threads of a block, as in the __launch_bounds__ of every kernel that is not resized

#: Compare arguments with the parameters' types at every launch, as tests do, not only at the first of a combination.
always_check = False


class Launcher:
    """A compiled kernel that is launched with arguments by name.

    Parameters
    ----------
    function : callable
        The device's kernel, which takes the number of blocks, the threads of a block, and the arguments in order.
    signature : Signature
    types : mapping of str to numpy.dtype
        The types that the kernel's prelude names.
    """

    __slots__ = ("_at_once", "_orders", "_typed", "_types", "function", "signature", "threads")

    def __init__(self, function: Kernel, signature: Signature, types: Mapping[str, np.dtype[Any]]) -> None:
        self.function, self.signature, self._at_once = function, signature, 0
        self._types, self._typed, self.threads = types, signature.typed(types), THREADS
        self._orders: dict[Shape, Order] = {}

    @classmethod
    def compiled(cls, device: Device, text: str, name: str) -> Launcher:
        """Compile the kernel `name` of a complete text."""
        signature, types = Signature.parse(text, name, "its text"), typedefs(text)
        return cls(device.compile(text, name, signature.passed(types)), signature, types)

    def resize(self, threads: int, shared: int = 0) -> None:
        """Make later launches use blocks of `threads` threads and `shared` bytes of dynamic shared memory.

        `threads` is the number in the text's ``__launch_bounds__``.
        """
        self.threads = threads
        if shared:
            self.function.reserve(shared)

    def launch(self, blocks: int, /, *groups: Any, **named: Any) -> None:
        """Launch `blocks` blocks of :attr:`threads` threads, by default :data:`THREADS`.

        A pointer is an array, an address or 0. A Python integer stands for any integer type; one of 2^63 or more is
        given as numpy.uint64.

        Raises
        ------
        TypeError
            An argument is missing, belongs to no parameter, or is not of its parameter's type. The message names it.
        """
        self.function(blocks, self.threads, self._ordered(groups, named))

    def launch_together(self, blocks: int, /, *groups: Any, **named: Any) -> None:
        """Launch at most :attr:`at_once` blocks, which can wait for each other; otherwise as :meth:`launch`."""
        self.function.together(min(blocks, self.at_once), THREADS, self._ordered(groups, named))

    def keep(self, blocks: int, changing: type[_Changing], /, *groups: Any) -> Callable[[_Changing], None]:
        """Return a function that repeats the launch with other values of the arguments in the group `changing`.

        The caller keeps the arrays among the other arguments alive.

        Parameters
        ----------
        changing : type
            A NamedTuple whose fields are consecutive parameters of the kernel, in the same order.
        *groups
            All arguments, as :meth:`launch` takes them.

        Raises
        ------
        TypeError
            As :meth:`launch`; or the fields of `changing` are not consecutive parameters. Later launches are unchecked.
        """
        arguments = self._ordered(groups, {})
        first, count = self.signature.consecutive(changing)
        if wrong := [place for place, _ in self._typed if first <= place < first + count]:
            name = self.signature.parameters[wrong[0]].name
            raise TypeError(f"{self.signature.kernel}: argument {name!r} cannot change, as launches convert it")
        again = self.function.keep(blocks, self.threads, arguments, first, count)
        if not always_check:
            return again

        def checked(group: _Changing) -> None:
            if type(group) is not changing:
                needed, given = changing.__name__, type(group).__name__
                raise TypeError(f"{self.signature.kernel}: a group {needed} is needed, {given} was given")
            self.signature.check((*arguments[:first], *group, *arguments[first + count :]), self._types)
            again(group)

        return checked

    @property
    def at_once(self) -> int:
        """The number of blocks that the device runs at the same time."""
        if not self._at_once:
            self._at_once = self.function.at_once(THREADS)
        return self._at_once

    def _ordered(self, groups: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        shape: Shape = tuple(map(type, groups))
        values: tuple[Any, ...] = tuple(chain.from_iterable(groups))
        if named:
            shape, values = (*shape, *named), (*values, *named.values())
        order = self._orders.get(shape)
        return self._first(shape, values) if order is None else order(values)

    def _first(self, shape: Shape, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Check the arguments of the first launch of a combination, and cache their order."""
        order = self.signature.order(shape)
        if self._typed:
            order = _Converting(order, self._typed)
        arguments = order(values)
        self.signature.check(arguments, self._types)
        if not always_check:
            self._orders[shape] = order
        return arguments


class _Converting:
    """An order of arguments that also converts the numbers whose types the prelude names.

    Integers of fixed types need no conversion: a device passes eight bytes, of which a kernel reads its parameter's.
    """

    __slots__ = ("_order", "_typed")

    def __init__(self, order: Order, typed: list[tuple[int, type[np.generic]]]) -> None:
        self._order, self._typed = order, typed

    def __call__(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        arguments = list(self._order(values))
        for place, kind in self._typed:
            if type(arguments[place]) is not kind:
                arguments[place] = kind(arguments[place])
        return tuple(arguments)
