"""The pages, and the modules that draw their pictures."""
