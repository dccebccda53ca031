"""The claims: the functions of the backend, and the arguments that each accepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import Parameter, Signature, signature
from types import SimpleNamespace
from typing import Any, TypeVar

from networkx.utils import backends

from sparsezc.core.matrix import Matrix
from sparsezc.exceptions import DomainMismatch, InvalidValue
from sparsezc.networkx_backend.graphs import networkx_versions

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Claim:
    """A function, and its conditions on arguments beyond NetworkX's own."""

    function: Callable[..., Any]
    signature: Signature
    defaults: dict[str, Any]
    needed: int
    #: Arguments that must be None.
    absent: tuple[str, ...]
    #: The position and the name of each argument that names an edge attribute.
    attributes: tuple[tuple[int, str], ...]
    undirected: bool
    directed: bool
    #: The reason to decline graphs with loops; empty: they are accepted.
    loops: str
    reason: Callable[[dict[str, Any]], str | None] | None
    multigraph: bool
    #: No argument is a graph: the function makes one, as ``from_numpy_array`` does.
    made: bool
    #: There is no condition on arguments.
    takes_all: bool


CLAIMS: dict[str, Claim] = {}


class _Backend(SimpleNamespace):
    """The functions by their names; NetworkX looks them up before each call."""

    def _offer(self, **functions: Callable[..., Any]) -> None:
        """Add functions."""
        vars(self).update(functions)

    def __getattr__(self, name: str) -> Any:
        """Raise an error for a function that this backend lacks; its message names NetworkX as the alternative.

        If NetworkX tries several backends, it takes the error as a refusal, and tries the next one.
        """
        if name in backends._registered_algorithms and not under_test():
            if backends._registered_algorithms[name].mutates_input is True:
                raise NotImplementedError(f"{name} changes its graph, which a Matrix does not allow; use nx.Graph(G)")
            raise NotImplementedError(f"sparsezc has no {name}; {_theirs(name)}")
        raise AttributeError(name)


def _theirs(name: str) -> str:
    return (
        f"NetworkX itself computes {name}: leave out backend=, and for a graph that is a Matrix set"
        " nx.config.fallback_to_nx = True"
    )


#: Not a module, which takes 3 us longer to refuse a name: some calls of NetworkX look up three names that are missing.
BACKEND = _Backend()


def claims(
    *absent: str,
    undirected: bool = False,
    directed: bool = False,
    loops: str = "",
    reason: Callable[[dict[str, Any]], str | None] | None = None,
    multigraph: bool = False,
) -> Callable[[Function], Function]:
    """Claim a function by its name.

    Parameters
    ----------
    absent : str
        Arguments that must be None, if the installed NetworkX has them.
    undirected : bool
        Decline directed graphs, which NetworkX's function accepts.
    directed : bool
        Decline undirected graphs.
    loops : str, optional
        The reason to decline graphs with loops; only for functions that read the whole graph, as the search for a loop
        reads all nodes.
    reason : callable, optional
        Called with all arguments; returns the reason why the function cannot run with them, or None.
    multigraph : bool
        Accept graphs with parallel edges.
    """

    def claim(function: Function) -> Function:
        name, known = networkx_versions.name_of(function.__name__), networkx_versions.signature_of(function)
        defaults = {p.name: p.default for p in known.parameters.values()}
        needed = sum(default is Parameter.empty for default in defaults.values())
        attributes = tuple((place, one) for place, one in enumerate(defaults) if one in ("weight", "distance"))
        must_be_none = tuple(one for one in absent if one in defaults)
        takes_all = not (absent or undirected or directed or loops or reason)
        CLAIMS[name] = Claim(
            function, known, defaults, needed, must_be_none, attributes, undirected, directed, loops, reason,
            multigraph, False, takes_all,
        )  # fmt: skip
        BACKEND._offer(**{name: function})
        return function

    return claim


def makes(reason: Callable[[dict[str, Any]], str | None]) -> Callable[[Function], Function]:
    """Claim a function that makes a graph from objects that are not graphs; `reason` is as for :func:`claims`."""

    def claim(function: Function) -> Function:
        claims(reason=reason)(function)
        name = networkx_versions.name_of(function.__name__)
        CLAIMS[name] = replace(CLAIMS[name], made=True)
        return function

    return claim


def under_test() -> bool:
    """Return whether NetworkX's tests run with a backend: it then compares graphs with its own, and uses these."""
    return bool(backends._dispatchable._is_testing)


def register(replaced: Any, function: Function, **conditions: Any) -> Function:
    """Register a function of the user's program, which runs in place of NetworkX's, even if it is slower.

    Parameters
    ----------
    replaced : dispatchable function of NetworkX
        Such as ``nx.flow_hierarchy``.
    function : callable
        A function of the same name and arguments; graphs are passed as
        :class:`~sparsezc.networkx_backend.graphs.graph.Graph`.
    **conditions
        The conditions of :func:`claims`.

    Raises
    ------
    InvalidValue
        `replaced` has no backends, the names differ, or the function is already claimed.
    """
    name = getattr(replaced, "name", None)
    if name is None or not hasattr(replaced, "backends"):
        raise InvalidValue(f"{replaced!r} is not a function of NetworkX that has backends; nx.flow_hierarchy is one")
    if function.__name__ != name:
        raise InvalidValue(f"{function.__name__} cannot be registered for NetworkX's {name}: their names must be equal")
    if name in CLAIMS or "sparsezc" in replaced.backends:
        raise InvalidValue(f"{name} cannot be registered: sparsezc or an earlier registration has NetworkX's {name}")
    claims(**conditions)(function)
    replaced.backends.add("sparsezc")
    return function


def _made_by(value: Any) -> str:
    """Return the end of a message that names the call that makes a graph of a value; this imports no library."""
    if isinstance(value, Matrix):
        return "; sparsezc.networkx_backend.Graph(A) makes one of a Matrix"
    if getattr(value, "ndim", None) != 2:
        return ""
    kind = {"numpy": "numpy_array", "pandas": "pandas_edgelist", "scipy": "scipy_sparse_array"}
    library = type(value).__module__.partition(".")[0]
    return f"; nx.from_{kind[library]}(..., backend='sparsezc') makes one" if library in kind else ""


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a function can run with these arguments, else the reason; NetworkX calls this before it converts.

    NetworkX also calls it before each search from a node, which may be as short as this call, so it checks only what is
    necessary.
    """
    if name not in CLAIMS:
        return f"sparsezc has no {name}"
    claim = CLAIMS[name]
    count, known = len(args), claim.defaults
    for one in kwargs:
        if one not in known and (wrong := _unbound(claim, args, kwargs)) is not True:
            return wrong
    if (count < claim.needed or count > len(known)) and (wrong := _unbound(claim, args, kwargs)) is not True:
        return wrong
    if claim.made:
        return (claim.reason and claim.reason(given_to(claim, args, kwargs))) or True
    G = args[0] if count else kwargs[next(iter(known))]
    if not hasattr(G, "is_directed"):
        raise TypeError(f"{name}: {next(iter(known))} is a {type(G).__name__}; a graph is needed{_made_by(G)}")
    if not claim.multigraph and G.is_multigraph():
        return "sparsezc has this function for graphs without parallel edges only"
    for place, parameter in claim.attributes:
        value = args[place] if place < count else kwargs.get(parameter)
        if type(value) is not str and callable(value):
            return f"{parameter} is a function; sparsezc takes the name of an edge attribute"
    return True if claim.takes_all else _refused(claim, G, args, kwargs) or True


def can_run_or_say(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return :func:`can_run`'s result, but raise a reason, which NetworkX would not show if the call names the backend.

    Arguments that NetworkX's function does not have either raise a TypeError.
    """
    found = can_run(name, args, kwargs)
    if found is not True and not under_test():
        try:
            signature(backends._registered_algorithms[name].orig_func).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from error
        raise NotImplementedError(f"{name}: {found}; {_theirs(name)}")
    return found


def _unbound(claim: Claim, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True, or the reason why the arguments do not fit; callers check first, as bind() is slow."""
    try:
        claim.signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return True


def _refused(claim: Claim, G: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Return the first condition of the function that these arguments do not meet, or None."""
    if claim.undirected and G.is_directed():
        return "sparsezc has this function for undirected graphs only"
    if claim.directed and not G.is_directed():
        return "sparsezc has this function for directed graphs only"
    if claim.loops and _has_loops(G):
        return f"the graph has loops, {claim.loops}"
    given = given_to(claim, args, kwargs)
    for parameter in claim.absent:
        if given[parameter] is not None:
            return f"sparsezc does not support {parameter}"
    return claim.reason(given) if claim.reason else None


def _has_loops(G: Any) -> bool:
    """Return whether an edge joins a node with itself, without making a view of each node."""
    if (count := getattr(G, "number_of_loops", None)) is not None:
        return bool(count())
    return any(node in row for node, row in G._adj.items())


def given_to(claim: Claim, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, with defaults for missing ones."""
    return {**claim.defaults, **dict(zip(claim.defaults, args, strict=False)), **kwargs}


@contextmanager
def else_declined() -> Iterator[None]:
    """Convert sparsezc's errors to NotImplementedError, as NetworkX may have an answer."""
    try:
        yield
    except (InvalidValue, DomainMismatch) as error:
        raise NotImplementedError(f"sparsezc: {error}") from error
