"""Published results: a small file of summaries, and a compressed one of every trial beside it."""

from __future__ import annotations

import gzip
import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness import frame, publish

PUBLISHED = Path(__file__).parents[2] / "benchmarks" / "published"
RESULTS = sorted(PUBLISHED.rglob("*.json"))


def report(path: Path) -> frame.Report:
    made = frame.Report("spread", "ms", path)
    trials = [frame.Trial(None, seconds, 8) for seconds in (0.5, 0.25, 1.0)]
    made.add(frame.Case("one", trials=trials, series={"processor": [0.75, 0.5, 2.0]}))
    made.add(frame.Case("none"))
    return made


def test_a_published_result_loads_with_every_trial(tmp_path: Path) -> None:
    made = report(tmp_path / "run.json")
    path = publish.publish(made.path, tmp_path / "published", "h200-spread")
    text = json.loads(path.read_text())
    assert not {"trials", "series"} & set(text["cases"][0])
    assert {key: text["cases"][0]["derived"][key] for key in ("trials", "min", "median", "max")} == {
        "trials": 3, "min": 0.25, "median": 0.5, "max": 1.0,
    }  # fmt: skip
    assert text["cases"][0]["derived"]["series"] == {"processor": {"min": 0.5, "median": 0.75, "max": 2.0}}
    assert text["cases"][1]["derived"] == {}
    assert frame.load(path).cases == made.cases
    assert publish.publish(path, path.parent).read_text() == path.read_text()  # publishing again changes nothing


def test_the_trials_of_another_run_are_refused(tmp_path: Path) -> None:
    path = publish.publish(report(tmp_path / "run.json").path, tmp_path / "published")
    kept = json.loads(gzip.decompress(publish.archive(path).read_bytes()))
    publish.archive(path).write_bytes(gzip.compress(json.dumps(kept | {"started": "yesterday"}).encode()))
    with pytest.raises(ValueError, match="yesterday"):
        publish.content(path)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_what_is_published_is_in_the_published_form(path: Path) -> None:
    for case in publish.content(path)["cases"]:
        assert not publish.refused(case)
        derived, trials = case["derived"], case["trials"]
        assert derived.get("trials", 0) == len(trials)
        assert set(derived.get("series", ())) == set(case["series"])
        if trials:
            seconds = sorted(trial["seconds"] / case["parts"] for trial in trials)
            assert (derived["min"], derived["max"]) == pytest.approx((seconds[0], seconds[-1]))
            assert derived["median"] == pytest.approx(statistics.median(seconds))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_published_result_has_a_line_for_each_case_and_an_archive_of_its_trials(path: Path) -> None:
    cases = json.loads(path.read_text())["cases"]
    assert len(path.read_text().splitlines()) <= len(cases) + 12
    assert not any({"trials", "series"} & set(case) for case in cases)
    assert publish.archive(path).exists() == any(case["derived"] for case in cases)


def test_counts_have_no_archive(tmp_path: Path) -> None:
    made = frame.Report("counts", "ms", tmp_path / "run.json")
    made.add(frame.Case("one", notes={"received_bytes": 8, "orders": ["rows", "columns"], "built": [True, False]}))
    folder = tmp_path / "published"
    folder.mkdir()
    publish.archive(folder / "run.json").write_bytes(b"of an earlier run, which was timed")
    path = publish.publish(made.path, folder)
    assert list(folder.iterdir()) == [path]
    assert frame.load(path).cases == made.cases


def test_an_archive_without_series_is_read(tmp_path: Path) -> None:
    made = report(tmp_path / "run.json")
    made.cases[0].series = {}
    path = publish.publish(made.save(), tmp_path / "published")
    assert set(json.loads(gzip.decompress(publish.archive(path).read_bytes()))) == {"started", "trials"}
    assert frame.load(path).cases == made.cases


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"trials": []}, "a median but no trials"),
        ({"parts": 2}, "another minimum, median or maximum than its trials"),
        ({"series": {}}, "another minimum, median or maximum of 'processor' than its series"),
        ({"series": {"processor": [0.75]}}, "another minimum, median or maximum of 'processor' than its series"),
        ({"series": {"processor": [0.75, 0.5, 2.0], "one card": [1.0]}}, "of 'one card' than its series"),
        ({"notes": {"seconds": [[0.1, 0.2]]}}, "a list of numbers in notes.seconds"),
        ({"notes": {"peers": {"one": {"seconds": [1]}}}}, "a list of numbers in notes.peers.one.seconds"),
        ({"setting": {"sizes": [1, 2]}}, "a list of numbers in setting.sizes"),
    ],
    ids=str,
)
def test_what_is_not_in_the_published_form_is_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    path = report(tmp_path / "run.json").path
    lines = json.loads(path.read_text())
    lines["cases"][0] |= change
    path.write_text(json.dumps(lines))
    with pytest.raises(ValueError, match=why):
        publish.publish(path, tmp_path / "published")
    assert not (tmp_path / "published").exists()
