"""The generation, compilation and launch of kernels, and the arrays that launches reuse."""
