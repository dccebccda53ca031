"""A progress bar for what takes longer than two seconds, on a terminal or where ``config.progress`` asks for one."""

from __future__ import annotations

import sys
import time
from typing import Any

_PATIENCE = 2.0  # seconds before a bar appears


def wanted() -> bool:
    """Whether a bar may be shown: ``config.progress`` if it is set, else only on a terminal."""
    from sparsezc.config import config

    choice = config.progress
    return choice if isinstance(choice, bool) else sys.stderr is not None and sys.stderr.isatty()


class Progress:
    """Counts up to `total`; a bar on stderr appears once two seconds have passed with work left.

    >>> progress = Progress(10, "reading"); progress.advance(4); progress.close()
    """

    def __init__(self, total: int, label: str, unit: str = "B") -> None:
        self._total, self._label, self._unit = total, label, unit
        self._done = 0
        self._start = time.monotonic()
        self._bar: Any = None
        self._silent = False

    def advance(self, amount: int) -> None:
        """Count `amount` more."""
        self._done += amount
        if self._bar is not None:
            self._bar.update(amount)
        elif not self._silent and time.monotonic() - self._start > _PATIENCE and self._done < self._total:
            if wanted():
                from tqdm import tqdm  # type: ignore[import-untyped]

                self._bar = tqdm(
                    total=self._total, initial=self._done, desc=self._label, unit=self._unit,
                    unit_scale=True, leave=False, file=sys.stderr,
                )  # fmt: skip
            else:
                self._silent = True

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        self._silent = True
