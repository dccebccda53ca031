"""The frame of all benchmarks: trials, results, plots, the machine, the copy rates."""
