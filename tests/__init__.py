"""The specification by example. CONTRIBUTING.md says how to run which part."""
