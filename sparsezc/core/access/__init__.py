"""Access of algorithms to matrices, vectors and what their engine has for these, by public names."""
