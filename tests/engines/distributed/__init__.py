"""Tests of the distributed engine: modules of checks, each run by one mpiexec at some number of ranks."""
