"""Placement ``gather``: Subway, whose host threads put the active rows together and copy them.

Subway gathers always. Here a piece of the matrix of which so much is wanted that copying all of it takes less time is
copied from where it lies.
Source: A. H. N. Sabet, Z. Zhao, R. Gupta, Subway: minimizing data transfer during out-of-GPU-memory graph processing,
EuroSys 2020, doi:10.1145/3342195.3387537.
"""

from sparsezc.engines.gpu.placements.gather_rows import parts

__all__ = ["parts"]
