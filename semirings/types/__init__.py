"""The types of values: the built-in ones, users' own, and which domain an operator has."""
