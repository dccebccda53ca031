"""Other programs' times on a GPU, read from their logs, beside a run of benchmarks.gap."""
