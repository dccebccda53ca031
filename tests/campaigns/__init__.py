"""Campaigns: attacks on files, writers, programs, calls, threads and limits, for as long as one likes."""
