"""Answers of commands: the report that is printed, the kinds of answers of algorithms, and the files of ``--out``."""
