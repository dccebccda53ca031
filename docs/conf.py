"""Sphinx: `pip install -e ".[docs]" && sphinx-build -W docs build/docs` makes these pages."""

import importlib.util
import sys
from pathlib import Path

from sphinx.addnodes import pending_xref

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sparsezc
from docs.gallery import pictures

project = "sparsezc"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["substitution"]
# `name = value  # what it is`, a line a setting, as a table.
_settings = [line.split("#", 1) for line in repr(sparsezc.config).splitlines()]
_rows = [f"| `{setting.strip()}` | {said.strip()} |" for setting, said in _settings]
myst_substitutions = {"settings": "\n".join(["| setting and default | meaning |", "| --- | --- |", *_rows])}
myst_heading_anchors = 3  # links such as coverage.md#classes
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
html_theme = "furo"  # light and dark, and no request to another host
html_title = "sparsezc"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
# Without matplotlib the gallery's pages have no pictures.
_drawing = importlib.util.find_spec("matplotlib") is not None
suppress_warnings = [] if _drawing else ["image.not_readable"]


def unlink_words(_, doctree):
    """Make plain text of words in types that are no classes: the "shape" of "Matrix, shape (n, n)" is no method."""
    for link in list(doctree.findall(pending_xref)):
        if link.get("reftype") == "class" and link["reftarget"][:1].islower() and "." not in link["reftarget"]:
            link.replace_self(link.children)


def setup(app):
    """Have the gallery's pictures drawn before the pages are read, so that each shows what its program finds today."""
    app.connect("doctree-read", unlink_words)
    if _drawing:
        app.connect("builder-inited", lambda _: pictures.draw_all())
