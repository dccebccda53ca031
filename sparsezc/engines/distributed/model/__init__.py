"""Models of the time on several ranks: predictions, and new bounds of rows from measured times."""
