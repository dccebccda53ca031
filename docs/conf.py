"""Configuration of Sphinx: `pip install -e ".[docs]" && sphinx-build -W docs build/docs` builds these pages."""

import importlib.util
import re
import sys
from pathlib import Path

from docutils.nodes import colspec, container, entry, tgroup
from sphinx.addnodes import pending_xref

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sparsezc
from docs.gallery import pictures
from docs.learn import notebooks

project = "sparsezc"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["substitution"]
# A table of the settings, from lines of the form `name = value  # meaning`.
_settings = [line.split("#", 1) for line in repr(sparsezc.config).splitlines()]
_rows = [f"| `{setting.strip()}` | {said.strip()} |" for setting, said in _settings]
myst_substitutions = {"settings": "\n".join(["| setting and default | meaning |", "| --- | --- |", *_rows])}
myst_html_meta = {"description": "A GraphBLAS in Python for graphs larger than the GPU"}
myst_heading_anchors = 3  # so that links such as coverage.md#classes have targets
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False
html_theme = "furo"  # has a light and a dark form, and loads nothing from other hosts
html_theme_options = {"dark_css_variables": {"color-foreground-border": "#707070"}}  # arrows' contrast ratio: 3
pygments_dark_style = "a11y-high-contrast-dark"  # the theme's own style has text of too low contrast
html_title = "sparsezc"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_copyright = False
# Without matplotlib the gallery's pages have no pictures.
_drawing = importlib.util.find_spec("matplotlib") is not None
suppress_warnings = [] if _drawing else ["image.not_readable"]


def unlink_words(_, doctree):
    """Unlink words in types that are no classes, such as the "shape" of "Matrix, shape (n, n)"."""
    for link in list(doctree.findall(pending_xref)):
        if link.get("reftype") == "class" and link["reftarget"][:1].islower() and "." not in link["reftarget"]:
            link.replace_self(link.children)


def name_rows(_, doctree):
    """Make the first cell of each row a header in tables with an empty corner, which heads no column."""
    for group in doctree.findall(tgroup):
        corner = next(iter(group.findall(entry)))
        if not corner.astext():
            group.next_node(colspec)["stub"] = 1


def make_available(app, doctree):
    """Hide the list of headings beside pages whose tables are wider than the text."""
    if any("wide" in each["classes"] for each in doctree.findall(container)):
        app.env.metadata[app.env.docname]["hide-toc"] = True


#: The theme's HTML, and its replacement for readers with a keyboard or a screen reader only.
_MENDED = {
    "<pre>": '<pre tabindex="0">',  # the keyboard must reach boxes that scroll
    '<div class="diagram ': '<div tabindex="0" class="diagram ',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
    '<aside class="sidebar-drawer': '<aside aria-label="Pages" class="sidebar-drawer',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<th class="head stub"><p></p></th>': "<td></td>",  # an empty corner is no header
    '<th class="head"><p></p></th>': "<td></td>",
    '<div id="search-results"></div>': '<h1>Search</h1>\n<div id="search-results"></div>',  # the page lacks a heading
}


def mend(app, failed):
    """Replace the theme's HTML to which an audit of accessibility objects, in the finished pages."""
    for page in Path(app.outdir).rglob("*.html") if not failed and app.builder.name == "html" else ():
        text = page.read_text()
        for old, new in _MENDED.items():
            text = text.replace(old, new)
        page.write_text(re.sub("<t[dh].*?</t[dh]>", _breakable, text, flags=re.DOTALL))


def _breakable(cell):
    """Allow line breaks in a table cell's names after a dot or an underscore only."""
    between = r"(?<=\w\.)(?=\w)|(?<=[^\W_]_)(?=[^\W_])"
    return re.sub(r'(?<=<span class="pre">)[^<]+', lambda name: re.sub(between, "<wbr>", name[0]), cell[0])


def setup(app):
    """Register these functions, and the drawing of pictures and notebooks before the pages are read."""
    app.connect("doctree-read", unlink_words)
    app.connect("builder-inited", lambda _: notebooks.write_all())
    app.connect("doctree-read", make_available)
    app.connect("doctree-read", name_rows)
    app.connect("build-finished", mend)
    if _drawing:
        app.connect("builder-inited", lambda _: pictures.draw_all())
