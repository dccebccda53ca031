"""Other programs' times on a GPU, read from what they printed, beside a run of benchmarks.gap."""
