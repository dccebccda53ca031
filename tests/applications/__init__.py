"""The HIVE applications, and the algorithms that came with them, each held by a judge of its own."""
