"""The placements of published systems, for comparison, as thin files over the mechanisms of the folder above.

* ``stream.py``: GraphReduce, which copies ranges of rows in turn;
* ``gather.py``: Subway, whose host threads gather the active rows;
* ``cached.py``: Ascetic, which keeps segments resident and gathers the rest.

EMOGI's UVM baseline, ``uvm``, has no file here: kernels read its migrating pages (memory/uvm.py) like device memory.
``placement="auto"`` never chooses any of them.
"""
