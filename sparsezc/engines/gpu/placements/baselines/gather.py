"""Placement ``gather``: Subway, whose host threads gather the active rows, which are then copied.

Subway always gathers. Here a piece of the matrix is copied whole if so many of its entries are wanted that copying
takes less time.
Source: A. H. N. Sabet, Z. Zhao, R. Gupta, Subway: minimizing data transfer during out-of-GPU-memory graph processing,
EuroSys 2020, doi:10.1145/3342195.3387537.
"""

from sparsezc.engines.gpu.placements.gather_rows import parts

__all__ = ["parts"]
