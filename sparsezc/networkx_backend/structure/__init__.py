"""Components, cores, communities, links and sets, with NetworkX's names."""
