"""The one frame of every benchmark: trials, results, plots, the machine, the copy rates."""
