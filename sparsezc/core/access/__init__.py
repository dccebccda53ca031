"""Functions that give algorithms access to matrices, vectors and engines' capabilities without private names."""
