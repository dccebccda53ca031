"""The specification by example; CONTRIBUTING.md has the commands to run its parts."""
