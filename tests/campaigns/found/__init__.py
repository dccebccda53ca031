"""Findings of the campaigns, each a test of its own; empty while all findings are repaired."""
