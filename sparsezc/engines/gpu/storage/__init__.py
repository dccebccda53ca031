"""What the GPU engine holds behind a Vector and a Matrix, and in which order of the vertices."""
