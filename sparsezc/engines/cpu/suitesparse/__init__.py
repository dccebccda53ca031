"""What the CPU engine says to python-graphblas, and what it reads from its objects."""
