"""Sphinx: `pip install -e ".[docs]" && sphinx-build -W docs build/docs` makes these pages."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.gallery import pictures

project = "sparsezc"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3  # links such as coverage.md#classes
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
html_theme = "alabaster"
html_theme_options = {"description": "A GraphBLAS for graphs larger than the GPU", "page_width": "1100px"}
# Without matplotlib the gallery's pages have no pictures.
_drawing = importlib.util.find_spec("matplotlib") is not None
suppress_warnings = [] if _drawing else ["image.not_readable"]


def setup(app):
    """Draw the gallery's pictures before the pages are read, so that each shows what its program finds today."""
    if _drawing:
        app.connect("builder-inited", lambda _: pictures.draw_all())
