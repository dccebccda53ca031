"""Kernels: generated and compiled from their texts, launched, and the arrays that launches reuse."""
