"""Gunrock's scaling table: counts of our own runs beside the formulas of its study."""
