"""Second copies of a matrix, or of a part of it, that make some products cheaper."""
