"""Tests of files of several ranks."""
