"""Components, cores, communities, links and sets, by NetworkX's names."""
