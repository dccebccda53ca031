"""``python -m tests.coverage --update`` writes docs/coverage.md; without the option it prints the page."""

from __future__ import annotations

import sys
import warnings

import graphblas

graphblas.init("suitesparse", blocking=True)

from sparsezc.device import cuda  # noqa: E402  -- the judge must be started before
from tests.coverage import page  # noqa: E402
from tests.emulator.device import EmulatedDevice  # noqa: E402
from tests.emulator.rehearsal import rehearse  # noqa: E402


def main() -> None:
    emulated = EmulatedDevice()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        emulated.compile_many(rehearse([page.classes]))
        cuda.use(emulated)
        text = page.HEAD + page.classes() + page.algebra() + page.others() + page.SUITE
    if "--update" in sys.argv[1:]:
        page.PAGE.write_text(text)
    else:
        print(text, end="")


main()
