"""docs/coverage.md: python-graphblas's public names and the engine of each, found by running; only reasons are text.

``statements.py`` and ``suitesparse.py`` have a statement for each public name; ``find.py`` runs each on
python-graphblas, on the CPU engine and on the GPU engine, and records whether the CPU engine took part in the last;
``operators.py`` does so for each operator; ``page.py`` writes the page. ``python -m tests.coverage --update`` renews
it.
"""
