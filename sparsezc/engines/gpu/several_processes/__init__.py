"""Steps that several processes take together, each with some rows of a matrix: many searches, labels, colours."""
