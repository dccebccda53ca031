"""Functions that make graphs: from tables and arrays, from sizes, by name, and from other graphs."""
