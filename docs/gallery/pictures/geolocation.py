"""A map with the median and the average of degrees, and the distances between them for all users."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from docs.gallery.pictures import style

EARTH = 6371.0088  # km
#: Outlines of countries: Natural Earth, 1:110m, in the public domain; simplified to a third of a degree.
OUTLINES = Path(__file__).with_name("north_america.csv")


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the great-circle distance in km between places in degrees."""
    (f, g), (x, y) = np.radians(np.moveaxis(a, -1, 0)), np.radians(np.moveaxis(b, -1, 0))
    h = np.sin((x - f) / 2) ** 2 + np.cos(f) * np.cos(x) * np.sin((y - g) / 2) ** 2
    return 2 * EARTH * np.arcsin(np.sqrt(h))


def published(around: np.ndarray, rounds: int = 1000) -> np.ndarray:
    """Return the fixed point of averages of degrees, weighted by inverse distance; `around`: (users, friends, 2)."""
    at = around.mean(axis=1)
    for _ in range(rounds):
        weight = 1 / np.maximum(distance(around, at[:, None]), 1e-9)
        new = (weight[..., None] * around).sum(axis=1) / weight.sum(axis=1)[:, None]
        moved, at = np.abs(new - at).max(), new
        if moved < 1e-3:  # degrees, Gunrock's tolerance
            break
    return at


def errors(found: SimpleNamespace) -> tuple[np.ndarray, np.ndarray]:
    """Return each user's distances in km from the median to the published rule's place and to the plain average."""
    around = found.given.reshape(found.users, found.friends, 2)
    median = found.located.to_dense()[: found.users]
    return distance(median, published(around)), distance(median, around.mean(axis=1))


def holds(found: SimpleNamespace) -> bool:
    """Return True if the program's results are those that its page states, in kilometres to the nearest ten."""
    weighted, plain = errors(found)
    far = [*np.percentile(weighted, [50, 90]), np.median(plain)]
    return bool(found.located.nvals == 2 * len(found.places) and np.round(far, -1).tolist() == [130, 230, 340])


def draw(found: SimpleNamespace) -> Figure:
    """Draw the user whose error is nearest the 70th percentile, and all errors."""
    off, _ = errors(found)
    user = int(np.abs(off - np.percentile(off, 70)).argmin())
    around = found.given.reshape(found.users, found.friends, 2)
    median, other = found.located.to_dense()[user], published(around)[user]
    figure, (left, right) = style.panels(1.35, 1, height=4.3)
    _map(left)
    for friend in around[user]:
        left.plot(*project(arc(median, friend)).T, color=style.OURS, lw=0.9, alpha=0.6, zorder=2)
    left.scatter(*project(around[user]).T, s=30, color=style.INK, zorder=3, label="friends")
    large = {"s": 110, "ec": "white", "zorder": 4}
    left.scatter(*project(other).T, marker="X", color=style.PUBLISHED, label="averages of degrees", **large)
    left.scatter(*project(median).T, marker="o", color=style.OURS, label="median on the sphere", **large)
    left.set_title(f"A user and nine friends: {off[user]:.0f} km apart")
    left.legend(loc="lower left", handletextpad=0.3)
    right.hist(off, bins=np.arange(0, 401, 25), color=style.PUBLISHED, ec="white")
    right.set_ylim(0, right.get_ylim()[1] * 1.1)
    middle = np.median(off)
    right.axvline(middle, color=style.INK, lw=1.2)
    right.text(middle + 8, right.get_ylim()[1], f"half: beyond {middle:.0f} km", va="top")
    right.set(xlabel="distance from the median on the sphere, km", ylabel="users")
    right.set_title("Averages of degrees, 200 users")
    return figure


def project(places: np.ndarray) -> np.ndarray:
    """Return Lambert's azimuthal equal-area projection around 45 N, 97 W."""
    f, g = np.radians(places[..., 0]), np.radians(places[..., 1] + 97)
    f0 = np.radians(45)
    cosine = np.sin(f0) * np.sin(f) + np.cos(f0) * np.cos(f) * np.cos(g)
    k = np.sqrt(2 / (1 + cosine))
    return np.stack(
        [k * np.cos(f) * np.sin(g), k * (np.cos(f0) * np.sin(f) - np.sin(f0) * np.cos(f) * np.cos(g))], axis=-1
    )


def arc(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return places along the great circle between two."""
    f, g = np.radians([a, b]).T
    u, v = np.stack([np.cos(f) * np.cos(g), np.cos(f) * np.sin(g), np.sin(f)], axis=1)
    t = np.linspace(0, 1, 40)[:, None]
    x = (1 - t) * u + t * v  # points of the chord, in the directions of the arc's
    return np.degrees(np.stack([np.arctan2(x[:, 2], np.hypot(x[:, 0], x[:, 1])), np.arctan2(x[:, 1], x[:, 0])], axis=1))


def _map(axes: Any) -> None:
    outlines = np.genfromtxt(OUTLINES, delimiter=",", skip_header=1)
    ends = np.flatnonzero(np.isnan(outlines[:, 0]))
    for ring in np.split(outlines, ends):
        ring = ring[~np.isnan(ring[:, 0])]
        if len(ring):
            axes.fill(*project(ring).T, fc="#efefef", ec="#bdbdbd", lw=0.6, zorder=0)
    for latitude in range(20, 80, 20):
        line = np.c_[np.full(200, latitude), np.linspace(-180, -20, 200)]
        axes.plot(*project(line).T, color="#e0e0e0", lw=0.6, zorder=-1)
    for longitude in range(-160, -20, 20):
        line = np.c_[np.linspace(5, 80, 100), np.full(100, longitude)]
        axes.plot(*project(line).T, color="#e0e0e0", lw=0.6, zorder=-1)
    style.bare(axes)
    axes.set(xlim=(-0.62, 0.62), ylim=(-0.5, 0.44), aspect="equal")
