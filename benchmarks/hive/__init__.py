"""The HIVE applications and the operations under them, beside the figures that they must reach; see ``__main__.py``."""
