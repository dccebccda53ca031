"""Sphinx: `pip install -e ".[docs]" && sphinx-build -W docs build/docs` makes these pages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

project = "sparsezc"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3  # links such as coverage.md#classes
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
html_theme = "alabaster"
html_theme_options = {"description": "A GraphBLAS for graphs larger than the GPU", "page_width": "1100px"}
