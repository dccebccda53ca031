"""Algorithms as loops over rows, for engines that compile them; their statements are the reference."""
