"""The types of values: the built-in ones and users' own; and the domains of operators."""
