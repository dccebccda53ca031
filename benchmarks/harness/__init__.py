"""The frame of all benchmarks: trials, results, plots, facts of the machine, and copy rates."""
