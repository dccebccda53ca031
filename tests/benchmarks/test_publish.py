"""Published results: small files, and every trial in a compressed one beside each."""

from __future__ import annotations

import gzip
import json
import statistics
from pathlib import Path

import pytest

from benchmarks.harness import frame, publish

PUBLISHED = Path(__file__).parents[2] / "benchmarks" / "published"
RESULTS = sorted(PUBLISHED.rglob("*.json"))


def report(path: Path) -> frame.Report:
    made = frame.Report("spread", "ms", path)
    made.add(frame.Case("one", trials=[frame.Trial(None, seconds, 8) for seconds in (0.5, 0.25, 1.0)]))
    made.add(frame.Case("none"))
    return made


def test_a_published_result_loads_with_every_trial(tmp_path: Path) -> None:
    made = report(tmp_path / "run.json")
    path = publish.publish(made.path, tmp_path / "published", "h200-spread")
    text = json.loads(path.read_text())
    assert "trials" not in text["cases"][0]
    assert {key: text["cases"][0]["derived"][key] for key in ("trials", "min", "median", "max")} == {
        "trials": 3, "min": 0.25, "median": 0.5, "max": 1.0,
    }  # fmt: skip
    assert frame.load(path).cases == made.cases
    assert publish.publish(path, path.parent).read_text() == path.read_text()  # a second time changes nothing


def test_the_trials_of_another_run_are_refused(tmp_path: Path) -> None:
    path = publish.publish(report(tmp_path / "run.json").path, tmp_path / "published")
    kept = json.loads(gzip.decompress(publish.archive(path).read_bytes()))
    publish.archive(path).write_bytes(gzip.compress(json.dumps(kept | {"started": "yesterday"}).encode()))
    with pytest.raises(ValueError, match="yesterday"):
        publish.content(path)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_what_is_published_is_the_summary_of_its_trials(path: Path) -> None:
    for case in publish.content(path)["cases"]:
        derived, trials = case["derived"], case.get("trials", ())
        assert derived.get("trials", 0) == len(trials)
        if trials:
            seconds = sorted(trial["seconds"] / case["parts"] for trial in trials)
            assert (derived["min"], derived["max"]) == pytest.approx((seconds[0], seconds[-1]))
            assert derived["median"] == pytest.approx(statistics.median(seconds))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_published_result_has_a_line_for_each_case_and_an_archive(path: Path) -> None:
    cases = json.loads(path.read_text())["cases"]
    assert publish.archive(path).exists()
    assert len(path.read_text().splitlines()) <= len(cases) + 12
    assert not any("trials" in case for case in cases)


def test_medians_without_their_trials_are_not_published(tmp_path: Path) -> None:
    path = report(tmp_path / "run.json").path
    lines = json.loads(path.read_text())
    lines["cases"][0]["trials"] = []
    path.write_text(json.dumps(lines))
    with pytest.raises(ValueError, match="a median but no trials"):
        publish.publish(path, tmp_path / "published")
    assert not (tmp_path / "published").exists()
