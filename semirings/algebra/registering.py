"""Operators made by users: from Python functions, with parameters, named in a namespace or anonymous."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

from sparsezc.exceptions import InvalidValue
from sparsezc.semirings.types.datatypes import ALL, BOOL, DataType

__all__ = ["FromFunction", "NameTaken", "Parameterized", "Path", "define", "enter", "namespace", "parameterize"]


class NameTaken(InvalidValue, AttributeError):
    """The operator's name is taken. Also an AttributeError, as in python-graphblas."""


class Path(SimpleNamespace):
    """A namespace within a dotted name: ``my`` and ``path`` of ``unary.my.path.increment``."""


_namespaces: dict[str, ModuleType] = {}


def define(namespace: ModuleType) -> None:
    """Make a module the namespace of the operators of its name: ``binary``, ``monoid`` ..."""
    _namespaces[namespace.__name__.rpartition(".")[2]] = namespace


def namespace(kind: str) -> ModuleType:
    """Return the namespace of a kind of operators."""
    return _namespaces[kind]


def enter(kind: str, name: str, op: Any) -> Any:
    """Put an operator into the namespace of its kind; a dotted name creates the namespaces between.

    Raises
    ------
    NameTaken
        The name is taken.
    InvalidValue
        It is no valid name.
    """
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        raise InvalidValue(f"{name!r} is no name for an operator; letters, digits, _ and dots between parts are needed")
    owner: Any = namespace(kind)
    for part in parts[:-1]:
        if not hasattr(owner, part):
            setattr(owner, part, Path())
        owner = getattr(owner, part)
        if not isinstance(owner, Path):
            raise NameTaken(f"{kind}.{name}: {part!r} is an object, not a namespace")
    if hasattr(owner, parts[-1]):
        raise NameTaken(f"{kind}.{name} is already defined")
    setattr(owner, parts[-1], op)
    return op


def parameterize(cls: Any, make: Callable[..., Any], name: str, function: Callable[..., Any] | None = None) -> Any:
    """Make an operator with parameters: used directly it has the defaults; called, it returns that of the arguments.

    Parameters
    ----------
    cls : class
        The kind of operator.
    make : callable
        Takes the parameters and makes the operator.
    name : str
    function : callable, optional
        The user's function.

    Returns
    -------
    operator
        An instance of a class derived from `cls`, so it works wherever one of the kind is needed.
    """
    found = _classes.get(cls)
    if found is None:
        found = _classes[cls] = type(f"Parameterized{cls.__name__}", (Parameterized, cls), {})
    made = object.__new__(found)
    made.__dict__.update(name=name, _make_one=make, _made={}, _given=function)
    return made


_classes: dict[Any, Any] = {}


class Parameterized:
    """An operator with parameters. All other attributes are those of the operator with the default parameters."""

    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the operator for these parameters, cached; given objects, apply the operator of the defaults."""
        if any(hasattr(arg, "_call_operator") for arg in args):
            return self()(*args, **kwargs)
        mine = self.__dict__
        key = (args, tuple(sorted(kwargs.items())), *map(type, (*args, *kwargs.values())))
        try:
            return mine["_made"][key]
        except KeyError:
            return mine["_made"].setdefault(key, self._with(args, kwargs))
        except TypeError:  # an unhashable parameter is not cached
            return self._with(args, kwargs)

    def _with(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        op = self.__dict__["_make_one"](*args, **kwargs)
        op._made_with(self, args, kwargs)
        return op

    @property
    def orig_func(self) -> Any:
        """The registered function that takes the parameters."""
        return self.__dict__["_given"]

    def __getattribute__(self, name: str) -> Any:
        if name in _OWN or name.startswith("__"):
            return object.__getattribute__(self, name)
        return getattr(self(), name)

    def __getitem__(self, key: Any) -> Any:
        return self()[key]

    def __contains__(self, key: Any) -> bool:
        return key in self()

    def __reduce_ex__(self, protocol: Any) -> Any:
        from sparsezc.semirings.algebra.names import lookup

        return lookup, (type(self).kind, self.name)  # type: ignore[attr-defined]


_OWN = frozenset(("name", "kind", "_with", "orig_func"))


class FromFunction:
    """Construction of an operator of this kind from a Python function."""

    kind: ClassVar[str]

    @classmethod
    def _of(
        cls, function: Callable[..., Any], name: str | None, is_udt: bool = False, types: tuple[DataType, ...] = ALL
    ) -> Any:
        from sparsezc.semirings.udf.functions import (
            UserFunction,  # the translator is imported only for the first function
        )

        user_function = UserFunction(cls.kind, function, is_udt, types)
        if cls.kind == "select" and any(result is not BOOL for _, result in user_function.domain.values()):
            raise InvalidValue(
                f"{function.__name__}: a SelectOp must have BOOL return type, as it decides which entries are kept"
            )
        numpy, cuda = function, ""
        if user_function.domain:
            numpy, cuda, _ = user_function[next(iter(user_function.domain))]
        made: Any = cls(name or function.__name__, numpy=numpy, cuda=cuda, domain=user_function.domain)  # type: ignore[call-arg]
        made._made_of(user_function)
        return made

    @classmethod
    def register_anonymous(
        cls, func: Callable[..., Any], name: str | None = None, *, parameterized: bool = False, is_udt: bool = False
    ) -> Any:
        """Make an operator of a Python function, without a name in a namespace.

        Parameters
        ----------
        func : callable
            Takes numbers and returns one: ``f(x)``, ``f(x, y)`` or ``f(x, i, j, thunk)``, by the kind. It is translated
            from its text, so it consists of arithmetic, comparisons, ``and``, ``or``, ``not``, ``if``, assignments and
            functions of math and numpy; docs/operators.md has them all. With `parameterized` it takes the parameters
            and returns the function of numbers.
        name : str, optional
            Its name in messages.
        parameterized : bool
            ``op(parameters)`` is the operator.
        is_udt : bool
            The operator works with user-defined types too: records, whose fields are ``x["name"]``. For these it need
            not be translatable; Numba, which must be installed, compiles it for the CPU engine at its first use with a
            type.

        Raises
        ------
        UdfParseError
            Something in the function cannot be translated; the message names it and its line.
        TypeError
            `func` is no Python function.

        >>> import sparsezc as gb
        >>> clip = gb.unary.register_anonymous(lambda x: min(max(x, 0), 255))
        >>> gb.Vector.from_dense([-5, 30, 300]).apply(clip).new().to_dense()
        array([  0,  30, 255])
        """
        if not parameterized:
            return cls._of(func, name, is_udt)
        called = name or func.__name__
        return parameterize(cls, lambda *args, **kwargs: cls._of(func(*args, **kwargs), called, is_udt), called, func)

    @classmethod
    def register_new(
        cls,
        name: str,
        func: Callable[..., Any],
        *,
        parameterized: bool = False,
        is_udt: bool = False,
        lazy: bool = False,
    ) -> Any:
        """Make an operator as :meth:`register_anonymous` does, and put it into its namespace under `name`.

        Parameters
        ----------
        name : str
            Dots make namespaces: ``"my.path.increment"``.
        func, parameterized, is_udt
            As in :meth:`register_anonymous`.
        lazy : bool
            Accepted for python-graphblas's programs; the function is always translated at once.

        Raises
        ------
        NameTaken
            The name is taken (also an AttributeError).
        """
        made = cls.register_anonymous(func, name, parameterized=parameterized, is_udt=is_udt)
        enter(cls.kind, name, made)
        other = {"indexunary": "select", "select": "indexunary"}.get(cls.kind)
        if other is not None and all(result is BOOL for result in made.types.values()):
            _brother(other, name, func, parameterized, is_udt)
        return made


def _brother(kind: str, name: str, func: Callable[..., Any], parameterized: bool, is_udt: bool) -> None:
    """Register a BOOL function of an entry as both an index-unary and a select operator."""
    from sparsezc.semirings.algebra.names import names_of

    if name not in names_of(kind):
        cls: Any = type(next(op for op in names_of(kind).values() if op.kind == kind))
        enter(kind, name, cls.register_anonymous(func, name, parameterized=parameterized, is_udt=is_udt))
