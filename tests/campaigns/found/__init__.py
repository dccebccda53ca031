"""Findings of the campaigns, each as a test of its own; empty while all findings are repaired."""
