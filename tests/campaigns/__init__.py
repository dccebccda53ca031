"""Campaigns: random attacks on files, writers, programs, calls, threads and limits, of any duration."""
