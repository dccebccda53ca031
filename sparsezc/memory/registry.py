"""A registry of one object of each class, made when it is first requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

__all__ = ["Registry"]


class _Droppable(Protocol):
    def drop(self) -> None: ...


_B = TypeVar("_B", bound=_Droppable)
_T = TypeVar("_T")


class Registry(dict[type[_B], _B], Generic[_B]):
    """Objects of one protocol by class, each made at first use."""

    if TYPE_CHECKING:

        def __getitem__(self, kind: type[_T]) -> _T: ...

    def __missing__(self, kind: Any) -> Any:
        made = self[kind] = kind()
        return made

    def drop(self) -> None:
        """Drop all objects: the forms that they have built, and their counts."""
        for each in self.values():
            each.drop()
        self.clear()
