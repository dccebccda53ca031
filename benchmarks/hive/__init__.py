"""The HIVE applications and their operations, beside the figures that they must reach; see ``__main__.py``."""
