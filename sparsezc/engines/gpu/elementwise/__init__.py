"""Elementwise operations on vectors and matrices, transposes, extraction and assignment."""
