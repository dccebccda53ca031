"""The pages of the applications, and their pictures."""
