"""Kernels and rules of the published suites: GAP and Graphalytics."""
