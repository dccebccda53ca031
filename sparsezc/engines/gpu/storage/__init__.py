"""Storage of vectors and matrices on the GPU engine, and the order of their vertices."""
