"""The pictures of the pages in ``docs/gallery/networks``."""
