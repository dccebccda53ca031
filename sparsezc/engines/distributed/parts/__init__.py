"""The parts that ranks have of matrices and vectors: layouts, local objects, and what travels between ranks."""
