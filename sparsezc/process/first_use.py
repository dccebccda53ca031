"""Files that load when they are first used: behind a package's names, and behind the operations of a table.

A program that searches a graph therefore loads the files of a search, not those of the other fifty algorithms. A higher
folder registers the functions that lower ones call by :func:`provide`, so that imports point downwards only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from types import ModuleType
from typing import Any

from sparsezc.exceptions import no_attribute

__all__ = ["function", "home", "names", "provide", "provided"]

#: For each package with a table of names, the file of each name; filled by :func:`names`.
_homes: dict[str, dict[str, str]] = {}
#: For each package, its names that are also the names of files; filled by :func:`names`.
_of_files: dict[str, frozenset[str]] = {}
#: The functions of higher folders that lower ones call, by name.
_provided: dict[str, Callable[..., Any]] = {}


class _WithObjects(ModuleType):
    """A package in which a name is the object of a file (``algorithms.bfs``, ``config``), not the file of that name.

    Python sets ``bfs`` in the package to the file whenever ``algorithms.bfs`` is first imported.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in _of_files[self.__name__]):
            super().__setattr__(name, value)


def names(
    package: str, files: Mapping[str, str], modules: str = ""
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package whose names load their files at first use.

    Type checkers need the names, too: the package imports them ``if TYPE_CHECKING``, and calls this function ``else``.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    files : mapping of str to str
        For each file, by its name in the package, the names in it that the package offers, separated by blanks.
    modules : str
        The files and folders that the package offers themselves, separated by blanks.

    Returns
    -------
    (list of str, callable, callable)

    Examples
    --------
    >>> __all__, __getattr__, __dir__ = names("sparsezc", {"core.matrix": "Matrix"}, "semirings.agg")
    >>> __all__, __getattr__("Matrix"), __getattr__("agg").__name__
    (['Matrix', 'agg'], <class 'sparsezc.core.matrix.Matrix'>, 'sparsezc.semirings.agg')
    """
    homes = {name: (f"{package}.{file}", name) for file, inside in files.items() for name in inside.split()}
    homes |= {module.rpartition(".")[2]: (f"{package}.{module}", "") for module in modules.split()}
    _homes[package] = {name: module for name, (module, _) in homes.items()}
    found = sys.modules[package]
    if clashing := homes.keys() & files.keys():
        _of_files[package] = frozenset(clashing)
        found.__class__ = _WithObjects

    def load(name: str) -> Any:
        if name not in homes:
            if find_spec(f"{package}.{name}"):  # `from package import file` looks the name up before it loads the file
                raise AttributeError(name=name, obj=found)
            raise no_attribute(f"module {package!r}", name, homes, found)
        module, attribute = homes[name]
        value: Any = import_module(module)
        if attribute:
            value = getattr(value, attribute)
        vars(found)[name] = value  # the next use finds it without this function
        return value

    return sorted(homes), load, lambda: sorted(found.__all__)


def home(package: str, name: str) -> str:
    """Return the file that defines a name of a package, without loading it.

    >>> import sparsezc.algorithms
    >>> home("sparsezc.algorithms", "bfs_parents")
    'sparsezc.algorithms.bfs'
    """
    return _homes[package][name]


def function(file: str, name: str) -> Callable[..., Any]:
    """Return a function that calls the function `name` of a file, which its first call loads.

    Tables have such entries for operations that few programs use. The name may be a method's: ``"Matrix.dup"``.

    >>> function("math", "gcd")(12, 18)
    6
    """
    found: Callable[..., Any] | None = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal found
        if found is None:
            found = attrgetter(name)(import_module(file))
        return found(*args, **kwargs)

    return call


def provide(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Register functions of higher folders, by name, for lower folders that need them.

    >>> provide({"half": lambda x: x / 2})
    >>> provided("half")(3)
    1.5
    """
    _provided.update(functions)


def provided(name: str) -> Callable[..., Any]:
    """Return the function that a higher folder registered under this name."""
    return _provided[name]
