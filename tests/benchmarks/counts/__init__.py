"""Tests of what benchmarks count without running it."""
