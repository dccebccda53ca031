"""The stores of vectors and matrices on the GPU engine, and their vertex orders."""
