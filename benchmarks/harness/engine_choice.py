"""The engine and placement of a benchmark: the meaning of ``--engine`` and ``--placement`` on this machine."""

from __future__ import annotations

import argparse

from sparsezc.device import cuda

PLACEMENTS = ("device", "zerocopy", "hybrid", "cached", "gather", "stream")


def placements(parser: argparse.ArgumentParser, text: str) -> list[str]:
    """Return the placements that a text such as "device,zerocopy" names; end the program if it names others."""
    named = text.split(",")
    if unknown := set(named) - set(PLACEMENTS):
        parser.error(f"--placement: {sorted(unknown)[0]!r} is none of {', '.join(PLACEMENTS)}")
    return named


def choose_engine(options: argparse.Namespace) -> str | None:
    """Set `used_engine`, and for the CPU engine `placements`; return a reason if --engine cannot be used."""
    why = cuda.reason()
    if options.engine == "gpu" and why:
        return f"--engine gpu: {why}"
    options.used_engine = "cpu" if options.engine == "cpu" or why else "gpu"
    if options.used_engine == "cpu":
        options.placements = ["host"]
    return None
