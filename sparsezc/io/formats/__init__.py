"""The file formats, one a file."""
