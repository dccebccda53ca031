"""Measurements of one mechanism each: the link, shifted reads, scattered reads, ways of transfer."""
