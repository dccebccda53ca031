"""``python -m tests.campaigns [NAME ...] --seconds N --seed S``: run N seconds, and save failures as tests."""

from __future__ import annotations

import argparse
import sys

from tests.campaigns import frame


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(frame.names())}; all by default")
    parser.add_argument("--seconds", type=float, help="how long each campaign runs (10 if --trials is not given)")
    parser.add_argument("--trials", type=int, help="how many trials each makes at most")
    parser.add_argument("--seed", type=int, default=0, help="trials of another seed are other trials")
    parser.add_argument("--first", type=int, default=0, help="the number of the first trial, to repeat one")
    parser.add_argument("--json", action="store_true", help="a line of JSON a campaign instead of a table")
    parser.add_argument("--no-save", action="store_true", help="do not write what failed as tests")
    asked = parser.parse_args()
    if unknown := sorted(set(asked.names) - set(frame.names())):
        parser.error(f"no campaign is called {unknown[0]!r}; there are {', '.join(frame.names())}")
    seconds = 10.0 if asked.seconds is None and asked.trials is None else asked.seconds
    results = []
    for name in asked.names or frame.names():
        result = frame.run(name, asked.seed, seconds=seconds, trials=asked.trials, first=asked.first)
        results.append(result)
        print(frame.summary([result]) if asked.json else result.report(), flush=True)
        if not asked.no_save:
            for _, failure in result.failures:
                print(f"  saved {frame.save(name, failure)}", flush=True)
    return 1 if any(result.failures for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
