"""Graphs in and out: files, made graphs, and other libraries' objects.

>>> import sparsezc as gb
>>> A = gb.io.read("star:5")
>>> A.nrows, A.nvals
(5, 8)
"""

from sparsezc.io.reader import read
from sparsezc.io.writer import convert, write

__all__ = ["convert", "read", "write"]
