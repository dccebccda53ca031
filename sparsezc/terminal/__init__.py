"""Terminal output: progress bars, and names without control characters."""
