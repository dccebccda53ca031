"""The nearest right name for a wrong one, as messages offer it."""

from __future__ import annotations

from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'bfs'?"`` for the name that is most like a word, and nothing if none is.

    >>> meant("bsf", ["bfs", "sssp"])
    "; did you mean 'bfs'?"
    >>> meant("x", ["bfs", "sssp"])
    ''
    """
    from difflib import get_close_matches  # imported for a message alone

    found = get_close_matches(word.lower()[:100], list(known), 1, 0.6)
    return f"; did you mean {found[0]!r}?" if found else ""
