"""Statements that the distributed engine runs by rows, by requests to the owners of rows, or by sums of all ranks."""
