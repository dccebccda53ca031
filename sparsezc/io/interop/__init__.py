"""Conversions to and from other libraries' objects, one library a file."""
