"""Construction of matrices from edges or a generator: sorted, merged and placed, within limits of memory."""
