"""Files as bytes: found and decompressed when read, and complete or absent after writing."""
