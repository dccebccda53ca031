"""Proofs of answers, which share no code with the algorithms."""
