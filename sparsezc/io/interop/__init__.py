"""Objects of other libraries, one library a file."""
