"""Agreement between ranks: what they say of one object must be the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparsezc.errors import InvalidValue

if TYPE_CHECKING:
    from sparsezc.engines.distributed.transport import Transport

__all__ = ["refuse_difference"]


def refuse_difference(transport: Transport, where: str, mine: tuple[Any, ...], names: tuple[str, ...]) -> None:
    """Raise one error on every rank if what they say of an object differs.

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
