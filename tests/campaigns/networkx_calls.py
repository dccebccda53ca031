"""Every function of the NetworkX backend on odd graphs, compared with NetworkX: values, types, order, error classes.

A trial is one graph and one call of each function, with random arguments for its signature. Where docs/networkx.md
allows another answer, `allowed_differences` has the remaining conditions; `not_compared` has the calls that may be
declined.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.networkx_backend import entry_points

entry_points.provide(Path(tempfile.mkdtemp(prefix="entry-points-")))

import networkx as nx  # noqa: E402 - it looks for backends when it is imported

from sparsezc.config import config  # noqa: E402
from sparsezc.networkx_backend.interface import CLAIMS  # noqa: E402
from tests.campaigns.frame import Failure, Trial, _again  # noqa: E402
from tests.networkx_backend.allowed_differences import CHOICES, ORDER  # noqa: E402
from tests.networkx_backend.judging import Outcome, difference, outcome, pythons_own  # noqa: E402
from tests.networkx_backend.not_compared import NETWORKX_S_OWN, clash, may_decline, ors, with_numbers  # noqa: E402
from tests.networkx_backend.odd_graphs import Arguments, function_of, graph  # noqa: E402

DEADLINE, MEMORY = 60.0, None

# Functions that NetworkX leaves to its backends, and functions that make a graph: see tests/networkx_backend.
_NAMES = sorted(name for name, claim in CLAIMS.items() if name != "leiden_communities" and not claim.made)
_FUNCTIONS = {name: function_of(name) for name in _NAMES}


def trial(rng: np.random.Generator, folder: Path) -> Trial:
    """Make each call with NetworkX alone and with the backend, and compare.

    ``autocompute`` is off, as the package must not depend on it.
    """
    G = graph(rng)
    arguments = Arguments(rng, G)
    tried: dict[str, int] = {}
    silent = nx.config(warnings_to_ignore={"cache"}, fallback_to_nx=False)
    with warnings.catch_warnings(), silent, config.set(autocompute=False):
        warnings.simplefilter("ignore")
        for name in _NAMES:
            given = arguments.draw(name, _FUNCTIONS[name])
            theirs = outcome(lambda name=name, given=given: _FUNCTIONS[name](G, **given, backend="networkx"), 1.0)
            ours = theirs
            if theirs[0] != "endless":  # listing all paths over lengths of 0 would fill the memory
                ours = outcome(lambda name=name, given=given: _FUNCTIONS[name](G, **given, backend="sparsezc"))
            kind, wrong = _judge(name, G, given, ours, theirs)
            tried[kind] = tried.get(kind, 0) + 1
            if wrong:
                said = f"{name}({type(G).__name__} of {list(G)!r:.60}, {given!r:.200}): {wrong}"
                return Trial(
                    tried, Failure(said, _again("networkx_calls", *map(int, rng.bit_generator.seed_seq.entropy)))
                )
    return Trial(tried)


def _judge(name: str, G: Any, given: dict[str, Any], ours: Outcome, theirs: Outcome) -> tuple[str, str | None]:
    """Return the kind of a call, and the fault of its outcome or None."""
    if theirs[0] == "endless":
        return "NetworkX does not end", None
    theirs = with_numbers(name, G, given, theirs)
    if ours == ("raised", NotImplementedError) and theirs[1] is not NotImplementedError:
        return "declined", None if may_decline(name, G, given) else f"declined; NetworkX {theirs[0]} {theirs[1]!r:.60}"
    if ors(name, G) or (theirs == ("raised", ValueError) and clash(G)):
        return "NetworkX's own", None
    if name in NETWORKX_S_OWN and NETWORKX_S_OWN[name](G, given, theirs):
        return "NetworkX's own", None
    if ours[0] != theirs[0] or ours[0] == "raised":
        kind = "errors" if theirs[0] == "raised" else "answers"
        return kind, None if ours == theirs else f"{ours[0]} {ours[1]!r:.60}; NetworkX {theirs[0]} {theirs[1]!r:.60}"
    if any(isinstance(x, (np.generic, bool)) for _, _, data in G.edges(data=True) for x in data.values()):
        ours, theirs = ("returned", pythons_own(ours[1])), ("returned", pythons_own(theirs[1]))
    if name in CHOICES:
        return "answers of which others are right", CHOICES[name](G, given, ours[1], theirs[1])
    return "answers", difference(ours[1], theirs[1], 1e-6, order=name not in ORDER)
