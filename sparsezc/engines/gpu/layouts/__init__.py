"""Additional forms of a matrix's rows that make some products cheaper, and launches of pulls that repeat."""
