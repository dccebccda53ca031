"""Published results: ``python -m benchmarks.harness.publish RESULT FOLDER [--name NAME]``.

A published result is small enough to read: a line for each case, with setting, minimum, median and maximum. Every trial
is kept in a compressed file beside it, ``NAME.trials.json.gz``, so that tables and plots can be made again.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any


def archive(path: Path) -> Path:
    """Return the file of the trials of a published result."""
    return path.with_suffix(".trials.json.gz")


def content(path: Path) -> dict[str, Any]:
    """Return a result file as a dict, every case with its trials.

    Raises
    ------
    ValueError
        The archive belongs to another run.
    """
    found: dict[str, Any] = json.loads(path.read_text())
    if not any("trials" in case.get("derived", ()) for case in found["cases"]):
        return found  # nothing was put apart
    kept = json.loads(gzip.decompress(archive(path).read_bytes()))
    if kept["started"] != found["started"] or len(kept["trials"]) != len(found["cases"]):
        raise ValueError(
            f"{archive(path)} has the trials of {len(kept['trials'])} cases of the run of {kept['started']}; those of"
            f" {len(found['cases'])} cases of {found['started']} are needed"
        )
    for case, trials in zip(found["cases"], kept["trials"], strict=True):
        case["trials"] = trials
    return found


def publish(result: Path, folder: Path, name: str | None = None) -> Path:
    """Write a result and, beside it, its trials; returns the result's new path.

    Raises
    ------
    ValueError
        A case has a median but no trials, as in a copy of a published result without its archive.
    """
    found = content(result)
    trials = [case.pop("trials", []) for case in found["cases"]]
    for case, its in zip(found["cases"], trials, strict=True):
        if not its and case["derived"].get("median") is not None:
            raise ValueError(f"{result}: case {case['name']!r} has a median but no trials; the run's own file has")
    target = folder / f"{name or result.stem}.json"
    folder.mkdir(parents=True, exist_ok=True)
    for case, its in zip(found["cases"], trials, strict=True):
        case["derived"]["trials"] = len(its)
    text = json.dumps({"started": found["started"], "trials": trials})
    archive(target).write_bytes(gzip.compress(text.encode(), mtime=0))
    target.write_text(_lines(found))
    return target


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
