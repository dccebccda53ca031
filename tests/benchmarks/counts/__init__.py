"""Tests of the benchmarks' counts that are computed without running the counted work."""
