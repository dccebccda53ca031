"""The audit of the built pages finds the defects of its rules."""

from __future__ import annotations

from pathlib import Path

from tests.house import accessibility, built_site

#: A page without a fault, and for each rule a text in it and a replacement that breaks the rule.
SOUND = """<!doctype html><html lang="en"><head><title>Page</title><meta name="viewport" content="width=device-width">
</head><body><nav aria-label="Pages"><ul><li><a href="b.html">Next</a></li></ul></nav><main><h1>One</h1><h2>Two</h2>
<form><label for="q">Find</label><input id="q"><button>Go</button></form><p aria-hidden="true">x</p>
<img src="a.png" alt="A picture of it"><svg role="img" aria-labelledby="q"></svg><pre tabindex="0">text</pre>
<table><tr><th>head</th></tr><tr><td>1</td></tr></table></main></body></html>"""
DEFECTS = {
    "no language": (' lang="en"', ""),
    "no title": ("<title>Page</title>", ""),
    "not one main part": ("main>", "div>"),
    "headings out of order": ("h2>", "h3>"),
    "not one first heading": ("<h2>Two</h2>", "<h1>Two</h1>"),
    "a heading without a text": ("Two", "<span> </span>"),
    "an id twice": ("<pre", '<pre id="q"'),
    "a link without a text": ("Next", ""),
    "a button without a text": ("Go", "<svg></svg>"),
    "a field without a label": ('for="q"', ""),
    "an image without a text": ("A picture of it", "a.png"),
    "a drawing without a title": (' aria-labelledby="q"', ""),
    "a frame without a title": ("<pre", '<iframe src="c.html"></iframe><pre'),
    "a table without a heading": ("<th>head</th>", "<td>head</td>"),
    "a heading of a table without a text": ("<th>head</th>", "<th>head</th><th></th>"),
    "an unknown attribute": ("<pre", '<pre aria-lable="x"'),
    "a wrong value": ('aria-hidden="true"', 'aria-hidden="yes"'),
    "a reference to no place": ('aria-labelledby="q"', 'aria-labelledby="r"'),
    "an unknown role": ('tabindex="0"', 'tabindex="0" role="picture"'),
    "an order of its own": ('tabindex="0"', 'tabindex="3"'),
    "a box that scrolls, and that the keyboard does not reach": (' tabindex="0"', ""),
    "no zoom": ("width=device-width", "width=device-width, user-scalable=no"),
    "an item outside a list": ("<pre", "<li>item</li><pre"),
    "a list with other content": ("<ul>", "<ul><p>first</p>"),
    "parts of a kind without different names": ("<main>", "<main><nav>other</nav>"),
    "a control in a control": ("Next", "Next <button>x</button>"),
    "a hidden part that the keyboard reaches": ('aria-hidden="true">x', 'aria-hidden="true"><a href="d.html">x</a>'),
}


def test_the_audit_finds_every_kind_of_defect(tmp_path: Path) -> None:
    """The judge is right: a page without a fault passes, and one with a defect of each kind does not."""
    assert DEFECTS.keys() == accessibility.RULES.keys()
    page = tmp_path / "page.html"
    page.write_text(SOUND)
    assert built_site.Page(page).faults == []
    for fault, (old, new) in DEFECTS.items():
        assert SOUND.count(old) >= 1
        page.write_text(SOUND.replace(old, new))
        found = built_site.Page(page).faults
        assert {each.partition(":")[0] for each in found} == {fault}, found
