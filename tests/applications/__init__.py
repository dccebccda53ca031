"""The HIVE applications and the algorithms added with them, each tested by a judge of its own."""
