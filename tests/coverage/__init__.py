"""docs/coverage.md: the public names of python-graphblas and their engines. Only reasons are written by hand.

``statements.py`` and ``suitesparse.py`` have a statement for each public name; ``find.py`` runs them on
python-graphblas, on the CPU engine and on the GPU engine, and watches whether the CPU engine has a part in it;
``operators.py`` does so for each operator; ``page.py`` writes the page.
``python -m tests.coverage --update`` renews it.
"""
