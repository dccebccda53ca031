"""The time on several ranks: predicted, and new bounds of rows from what was measured."""
