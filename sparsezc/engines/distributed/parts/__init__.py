"""The parts that ranks have of matrices and vectors: partitions, local objects, and exchanges between ranks."""
