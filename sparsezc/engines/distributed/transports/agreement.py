"""Checks that ranks agree: about the facts of an object, and about the order of collectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.exceptions import InvalidValue

_COLLECTIVES = {"numbers", "objects", "gather", "gather_both", "scatter", "scatter_both", "shared", "shift"}

if TYPE_CHECKING:
    from sparsezc.engines.distributed.transports.protocol import Transport

_READING = ("", "reading")

__all__ = ["Checked", "refuse_difference"]


def refuse_difference(transport: Transport, where: str, mine: tuple[Any, ...], names: tuple[str, ...]) -> None:
    """Raise the same error on every rank if the ranks' facts of an object differ.

    Raises
    ------
    InvalidValue
        The message names the first difference and its ranks.
    """
    every = transport.objects(mine)
    for k, name in enumerate(names):
        for rank, other in enumerate(every):
            if other[k] != every[0][k]:
                raise InvalidValue(
                    f"{where}: {name} is {every[0][k]} on rank 0 and {other[k]} on rank {rank}; all ranks must give the"
                    " same"
                )


class Checked:
    """A transport whose ranks compare the collectives that they are about to run (``config.check``).

    If one rank has strayed from the others, all ranks raise an error. Statements that exchange nothing are compared,
    too, as their operands may differ.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._sequence = 0
        self.statement: tuple[str, str] = _READING  # the text that must be equal, and the text for messages

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._transport, name)
        if name not in _COLLECTIVES:
            return found

        def agreed(*arguments: Any) -> Any:
            self._agree(name)
            return found(*arguments)

        return agreed

    def begin(self, statement: tuple[str, str]) -> None:
        """Compare the statement that all ranks run next."""
        self.statement = statement
        self._agree("a statement")

    def end(self) -> None:
        """Note that the statement has ended: collectives that follow belong to a reader of results."""
        self.statement = _READING

    def _agree(self, name: str) -> None:
        self._sequence += 1
        key, said = self.statement
        every = self._transport.objects((self._sequence, name, key, said))
        for rank, other in enumerate(every):
            if other[:3] != every[0][:3]:
                raise InvalidValue(f"ranks have strayed: {_told(0, every[0])}, and {_told(rank, other)}")


def _told(rank: int, what: tuple[int, str, str, str]) -> str:
    sequence, name, _, said = what
    return f"rank {rank} is at collective {sequence}, {name} for {said}"
