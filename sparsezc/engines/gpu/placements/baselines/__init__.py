"""The placements of published systems, for comparison: thin files over the transfer mechanisms beside this folder.

* ``stream.py``: GraphReduce, which copies ranges of rows in turn;
* ``gather.py``: Subway, whose host threads gather the active rows;
* ``cached.py``: Ascetic, which keeps segments resident and gathers the rest.

EMOGI's UVM baseline, ``uvm``, needs no file: kernels read its migrating pages (memory/uvm.py) as they read the card.
``placement="auto"`` takes none of them.
"""
