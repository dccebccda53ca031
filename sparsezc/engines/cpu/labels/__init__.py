"""The best label of each row, moves to it, colours, and sums by labels, on the CPU engine."""
