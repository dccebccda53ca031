"""Files as bytes: found and decompressed when read; after writing, either whole or absent."""
