"""The documentation's pages, and the modules that draw their pictures."""
