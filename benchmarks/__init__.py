"""Benchmarks: run from a checkout (``python -m benchmarks.gap --help``), never installed; see README.md."""
