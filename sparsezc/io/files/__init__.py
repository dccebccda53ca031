"""Files as bytes: found and decompressed on reading, and whole or not there at all after writing."""
