"""Kernels: their texts put together and compiled, their launches, and the arrays that launches reuse."""
