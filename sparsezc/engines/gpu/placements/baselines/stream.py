"""Placement ``stream``: GraphReduce, which copies edge-balanced ranges of rows through two alternating buffers.

Source: D. Sengupta, S. L. Song, K. Agarwal, K. Schwan, GraphReduce: processing large-scale graphs on accelerator-based
systems, SC 2015, doi:10.1145/2807591.2807655.
"""

from sparsezc.engines.gpu.placements.copy_ranges import parts

__all__ = ["parts"]
