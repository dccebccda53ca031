"""What a terminal shows: progress bars, and names without control characters."""
