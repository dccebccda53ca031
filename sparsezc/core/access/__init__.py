"""Functions by which algorithms reach matrices, vectors and their engine's capabilities without private names."""
