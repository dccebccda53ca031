"""Facilities of a whole process: locks that its threads wait for, and files that load at first use."""
