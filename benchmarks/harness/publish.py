"""Published results: ``python -m benchmarks.harness.publish RESULT FOLDER [--name NAME]``.

A published result is small enough to read: a line for each case, with setting, minimum, median and maximum. Every trial
is kept in a compressed file beside it, ``NAME.trials.json.gz``, with every number of the cases' series, from which
tables and plots can be made again. A result of counts alone has no such file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from pathlib import Path
from typing import Any

from benchmarks.harness.summary import summary


def archive(path: Path) -> Path:
    """Return the path of the archive with the trials of a published result."""
    return path.with_suffix(".trials.json.gz")


def content(path: Path) -> dict[str, Any]:
    """Return a result file as a dict, every case with its trials and series.

    Raises
    ------
    ValueError
        The archive belongs to another run.
    """
    found: dict[str, Any] = json.loads(path.read_text())
    cases: list[dict[str, Any]] = found["cases"]
    if any(_is_apart(case) for case in cases):
        kept = json.loads(gzip.decompress(archive(path).read_bytes()))
        if kept["started"] != found["started"] or len(kept["trials"]) != len(cases):
            raise ValueError(
                f"{archive(path)} has the trials of {len(kept['trials'])} cases of the run of {kept['started']}; those"
                f" of {len(cases)} cases of {found['started']} are needed"
            )
        series = kept.get("series", [{}] * len(cases))
        for case, trials, its in zip(cases, kept["trials"], series, strict=True):
            case |= {"trials": trials, "series": its}
    for case in cases:
        case.setdefault("trials", [])
        case.setdefault("series", {})
    return found


def _is_apart(case: dict[str, Any]) -> bool:
    """Return whether the trials or series of a case are in an archive."""
    derived = case.get("derived", {})
    return "trials" in derived or ("series" in derived and "series" not in case)


def publish(result: Path, folder: Path, name: str | None = None) -> Path:
    """Write a result and, beside it, its trials and series, if it has any; return the result's new path.

    Raises
    ------
    ValueError
        A case is not in the published form: it has a median but no trials, as in a copy of a published result without
        its archive; its minimum, median and maximum are not those of its trials or series; or its setting or notes
        have a list of numbers.
    """
    found = content(result)
    cases = found["cases"]
    for case in cases:
        if why := refused(case):
            raise ValueError(f"{result}: case {case['name']!r} {why}")
    target = folder / f"{name or result.stem}.json"
    folder.mkdir(parents=True, exist_ok=True)
    trials, series = ([case.pop(key) for case in cases] for key in ("trials", "series"))
    for case, its in zip(cases, trials, strict=True):
        case["derived"] |= {"trials": len(its)} if its else {}
    if any(trials) or any(series):
        kept = {"started": found["started"], "trials": trials} | ({"series": series} if any(series) else {})
        archive(target).write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))
    else:
        archive(target).unlink(missing_ok=True)
    target.write_text(_lines(found))
    return target


def refused(case: dict[str, Any]) -> str:
    """Return the reason why a case with its trials and series is not in the published form; "" if it is.

    >>> refused({"trials": [], "series": {}, "derived": {}, "notes": {"seconds": [0.1, 0.2]}})
    "has a list of numbers in notes.seconds; numbers of trials or rounds belong in the case's series"
    """
    derived, trials, series = case["derived"], case["trials"], case["series"]
    if not trials and derived.get("median") is not None:
        return "has a median but no trials; the run's own file has"
    if trials and not _is_summary(derived, [trial["seconds"] / case.get("parts", 1) for trial in trials]):
        return "has another minimum, median or maximum than its trials"
    told = derived.get("series", {})
    for name in sorted({*series, *told}):
        if name not in series or not _is_summary(told.get(name, {}), series[name]):
            return f"has another minimum, median or maximum of {name!r} than its series"
    for key in ("setting", "notes"):
        if where := _list_of_numbers(case.get(key), key):
            return f"has a list of numbers in {where}; numbers of trials or rounds belong in the case's series"
    return ""


def _is_summary(told: dict[str, Any], numbers: list[float]) -> bool:
    """Return whether numbers have the given minimum, median and maximum."""
    found = summary(numbers)._asdict() if numbers else {}
    return bool(found) and all(told.get(key) is not None and math.isclose(told[key], found[key]) for key in found)


def _list_of_numbers(value: Any, where: str) -> str:
    """Return the place of the first list of numbers in nested dicts and lists; "" if there is none."""
    if isinstance(value, dict):
        return next((found for key, each in value.items() if (found := _list_of_numbers(each, f"{where}.{key}"))), "")
    if not isinstance(value, list):
        return ""
    if any(isinstance(each, (int, float)) and not isinstance(each, bool) for each in value):
        return where
    return next((found for each in value if (found := _list_of_numbers(each, where))), "")


def _lines(found: dict[str, Any]) -> str:
    """Write a result as JSON with a line for each case.

    >>> print(_lines({"unit": "ms", "cases": [{"name": "one"}, {"name": "two"}]}), end="")
    {
     "unit": "ms",
     "cases": [
      {"name": "one"},
      {"name": "two"}
     ]
    }
    """
    parts = []
    for key, value in found.items():
        if key == "cases" and value:
            value_text = "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
        else:
            value_text = json.dumps(value)
        parts.append(f" {json.dumps(key)}: {value_text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", type=Path, help="a result file, or a published one")
    parser.add_argument("folder", type=Path, help="for example benchmarks/published/algorithms")
    parser.add_argument("--name", help="without .json (default: the result's own)")
    asked = parser.parse_args()
    print(f"published: {publish(asked.result, asked.folder, asked.name)}")


if __name__ == "__main__":
    main()
