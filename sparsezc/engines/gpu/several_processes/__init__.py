"""Steps of algorithms on several processes, each with its part of a matrix's rows: many searches, labels, colours."""
