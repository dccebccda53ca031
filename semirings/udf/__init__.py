"""Operators made of Python and NumPy functions, translated for the CPU and the GPU."""
