"""The configuration: one object, whose errors name the wrong setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import sparsezc as gb
from sparsezc.config import parse_bytes


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = {
        key: gb.config.get(key) for key in ("engine", "placement", "budget", "host_budget", "fallback", "progress")
    }
    yield
    gb.config.set(**before)


def test_set_for_good_and_for_a_block() -> None:
    gb.config.set(engine="cpu", budget="16GB")
    assert (gb.config.engine, gb.config.get("budget")) == ("cpu", "16GB")
    with gb.config.set(engine="auto", progress=False) as inside:
        assert (inside.engine, gb.config.progress, gb.config.budget) == ("auto", False, "16GB")
    assert (gb.config.engine, gb.config.progress) == ("cpu", "auto")
    with pytest.raises(ZeroDivisionError), gb.config.set(fallback="error"):
        raise ZeroDivisionError
    assert gb.config.fallback == "warn"
    gb.config.placement = "device"
    assert gb.config.placement == "device"
    gb.config.reset()
    assert (gb.config.engine, gb.config.placement, gb.config.budget) == ("auto", "auto", None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("engine", "tpu"),
        ("engine", None),
        ("placement", "host"),
        ("fallback", True),
        ("progress", 1),
        ("progress", "yes"),
        ("budget", 0),
        ("budget", -5),
        ("budget", 1.5),
        ("budget", True),
        ("budget", "many"),
        ("budget", "GB"),
        ("budget", "-1GB"),
        ("host_budget", 0),
        ("host_budget", "much"),
    ],
)
def test_bad_values_are_refused_by_name(key: str, value: Any) -> None:
    before = gb.config.get(key)
    with pytest.raises(gb.exceptions.InvalidValue, match=f"config: {key}="):
        gb.config.set(**{key: value})
    with pytest.raises(gb.exceptions.InvalidValue, match=f"config: {key}="):
        setattr(gb.config, key, value)
    assert gb.config.get(key) == before


@pytest.mark.parametrize("value", [np.int64(5), np.uint8(5), np.float32(0.5), np.float64(0.5)])
def test_numpy_s_numbers_are_kept_as_python_s(value: Any) -> None:
    gb.config.set(budget=value)
    assert gb.config.budget == value
    assert type(gb.config.budget) in (int, float)


def test_the_nearest_setting_is_offered() -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="no setting 'budgt'; did you mean 'budget'"):
        gb.config.set(budgt="2GB")
    with pytest.raises(KeyError, match="no setting 'plcement'; did you mean 'placement'"):
        gb.config["plcement"]


def test_settings_cannot_be_deleted() -> None:
    for key in ("engine", "colour"):
        with pytest.raises(gb.exceptions.InvalidValue, match=f"config: {key} cannot be deleted"):
            delattr(gb.config, key)
    assert gb.config.engine == "auto"


def test_unknown_settings_are_refused_and_nothing_changes() -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="'colour'"):
        gb.config.set(engine="cpu", colour="red")
    assert gb.config.engine == "auto"
    with pytest.raises(gb.exceptions.InvalidValue, match="'colour'"):
        gb.config.colour = "red"  # type: ignore[attr-defined]
    assert gb.config.get("colour", "none") == "none"


@pytest.mark.parametrize(
    ("text", "number"), [("16GB", 16 * 10**9), ("1.5 GiB", 3 * 2**29), ("512mib", 2**29), ("100", 100), ("7 b", 7)]
)
def test_bytes(text: str, number: int) -> None:
    assert parse_bytes(text) == number


def test_it_explains_itself() -> None:
    text = repr(gb.config)
    for key in ("engine = 'auto'", "placement = 'auto'", "budget = None", "fallback = 'warn'", "progress = 'auto'"):
        assert key in text
    assert text.count("#") == 15


def test_new_matrices_go_where_the_configuration_says() -> None:
    gb.config.set(engine="cpu")
    assert gb.Matrix.from_coo([0], [0], [1])._engine.name == "cpu"


def test_a_block_that_has_ended_and_is_kept_does_not_hold_others_back() -> None:
    before = gb.config.autocompute
    with gb.config.set(autocompute=False):
        kept = gb.config.set(autocompute=True)
        with kept:
            pass
        assert gb.config.autocompute is False
        never_entered = gb.config.set(autocompute=False)
    assert gb.config.autocompute is before
    assert kept is not never_entered
