"""Measurements of one mechanism each: the host link, and transfers of rows; and the graphs that benchmarks generate."""
