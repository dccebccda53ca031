"""Benchmarks: run from a checkout (``python -m benchmarks.gap --help``), never installed. README.md tells the rest."""
