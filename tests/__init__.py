"""The tests, written as a specification by example; CONTRIBUTING.md has the commands that run parts of them."""
