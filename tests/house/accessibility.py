"""An audit of the accessibility of a page's HTML without a browser: the rules of axe that need no layout.

Source: WCAG 2.2, and the rules of axe-core 4 under the names that :data:`RULES` gives.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

#: The first words of each fault, and axe's name of its rule.
RULES = {
    "no language": "html-has-lang",
    "no title": "document-title",
    "not one main part": "landmark-one-main",
    "headings out of order": "heading-order",
    "not one first heading": "page-has-heading-one",
    "a heading without a text": "empty-heading",
    "an id twice": "duplicate-id",
    "a link without a text": "link-name",
    "a button without a text": "button-name",
    "a field without a label": "label",
    "an image without a text": "image-alt",
    "a drawing without a title": "svg-img-alt",
    "a frame without a title": "frame-title",
    "a table without a heading": "td-headers-attr",
    "a heading of a table without a text": "empty-table-header",
    "an unknown attribute": "aria-valid-attr",
    "a wrong value": "aria-valid-attr-value",
    "a reference to no place": "aria-valid-attr-value",
    "an unknown role": "aria-roles",
    "an order of its own": "tabindex",
    "a box that scrolls, and that the keyboard does not reach": "scrollable-region-focusable",
    "no zoom": "meta-viewport",
    "an item outside a list": "listitem",
    "a list with other content": "list",
    "parts of a kind without different names": "landmark-unique",
    "a control in a control": "nested-interactive",
    "a hidden part that the keyboard reaches": "aria-hidden-focus",
}
_VOID = set(re.findall(r"\w+", "area base br col embed hr img input link meta source track wbr"))
_HEADINGS = {f"h{k}": k for k in range(1, 7)}
_LANDMARKS = {"aside": "complementary", "nav": "navigation", "main": "main"}
_ROLES = set(
    re.findall(
        r"\w+",
        "alert alertdialog application article banner button checkbox columnheader combobox complementary contentinfo"
        " dialog document feed figure form grid group heading img link list listbox listitem log main math menu menubar"
        " menuitem meter navigation none note option presentation progressbar radio region row rowgroup rowheader tree"
        " search searchbox separator slider status switch tab table tablist tabpanel textbox timer toolbar tooltip",
    )
)
_BOOLEAN = {"aria-hidden", "aria-expanded", "aria-disabled", "aria-busy", "aria-modal", "aria-selected"}
_PLACES = {"aria-labelledby", "aria-describedby", "aria-controls", "aria-owns"}
_TEXTS = {"aria-label", "aria-roledescription", "aria-current", "aria-haspopup", "aria-live", "aria-level", "aria-sort"}
_PARENTS = {"li": {"ul", "ol", "menu"}, "dt": {"dl", "div"}, "dd": {"dl", "div"}}
_CONTENTS = {"ul": {"li"}, "ol": {"li"}, "dl": {"dt", "dd", "div"}}
_CONTENTS = {tag: names | {"script", "template"} for tag, names in _CONTENTS.items()}
_CONTROLS = {"a", "button", "input", "select", "textarea"}
_SILENT = {"hidden", "submit", "button", "reset", "image"}  # inputs that need no label
#: Elements that need a text, and the fault if they have none.
_NAMED = {
    **dict.fromkeys(_HEADINGS, "a heading without a text"), "a": "a link without a text",
    "button": "a button without a text", "th": "a heading of a table without a text", "title": "no title", "label": "",
}  # fmt: skip


class Audit(HTMLParser):
    """The faults of one page; :meth:`close` completes them."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.faults: list[str] = []
        self._open: list[tuple[str, dict[str, str]]] = []
        self._texts: list[tuple[str, list[str]]] = []  # texts of open elements that need one
        self._seen: Counter[str] = Counter()
        self._level = 0
        self._headings: list[int] = []  # number of th cells in each open table
        self._parts: list[tuple[str, str]] = []
        self._references: list[str] = []
        self._unlabelled: dict[str, str] = {}  # the tags of fields by id
        self._labelled: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        parent = self._open[-1][0] if self._open else ""
        self._seen[tag] += 1
        if "id" in given:
            self._fault(given["id"] in self.ids, f"an id twice: {given['id']}")
            self.ids.add(given["id"])
        self._look_at_attributes(tag, given)
        self._look_at_kind(tag, given)
        self._fault(tag in _PARENTS and parent not in _PARENTS[tag], f"an item outside a list: {tag} in {parent}")
        self._fault(parent in _CONTENTS and tag not in _CONTENTS[parent], f"a list with other content: {tag}")
        if tag in _CONTROLS and given.get("type") != "hidden":
            around = [each for each, _ in self._open]
            self._fault(bool({"a", "button"} & set(around)), f"a control in a control: {tag}")
            hidden = any(has.get("aria-hidden") == "true" for _, has in self._open)
            reached = given.get("tabindex") != "-1" and (tag != "a" or "href" in given)
            self._fault(hidden and reached, f"a hidden part that the keyboard reaches: {tag}")
        if tag in _VOID:
            return
        self._open.append((tag, given))
        if tag in _NAMED and not (tag == "title" and parent == "svg"):
            self._texts.append((tag, []))
        if given.get("aria-label") or given.get("title"):
            self._say(given.get("aria-label") or given["title"])

    def _look_at_attributes(self, tag: str, given: dict[str, str]) -> None:
        for key, value in given.items():
            if not key.startswith("aria-"):
                continue
            known = _BOOLEAN | _PLACES | _TEXTS
            self._fault(key not in known, f"an unknown attribute: {key}")
            self._fault(key in _BOOLEAN and value not in ("true", "false"), f"a wrong value: {key}={value!r}")
            if key in _PLACES:
                self._references += value.split()
        role = given.get("role")
        self._fault(role is not None and role not in _ROLES, f"an unknown role: {role}")
        order = given.get("tabindex", "0")
        self._fault(not re.fullmatch(r"0|-\d+", order), f"an order of its own: {tag} tabindex={order}")
        kind = role if role in _LANDMARKS.values() else _LANDMARKS.get(tag, "")
        if kind:
            self._parts.append((kind, given.get("aria-label") or given.get("aria-labelledby", "")))

    def _look_at_kind(self, tag: str, given: dict[str, str]) -> None:
        """Check the rules of particular elements."""
        match tag:
            case "html":
                self._fault(not re.fullmatch(r"[a-z]{2,3}(-\w+)*", given.get("lang", "")), "no language")
            case "meta" if given.get("name") == "viewport":
                fixed = re.search(
                    r"user-scalable\s*=\s*(no|0)|maximum-scale\s*=\s*1(\.0*)?\b", given.get("content", "")
                )
                self._fault(bool(fixed), "no zoom")
            case "img":
                self._fault(len(given.get("alt", "").strip()) < 8, f"an image without a text: {given.get('src')}")
                self._say(given.get("alt", ""))
            case "svg":
                titled = given.get("role") != "img" or given.get("aria-labelledby") or given.get("aria-label")
                self._fault(not titled, "a drawing without a title")
            case "pre":
                self._fault("tabindex" not in given, "a box that scrolls, and that the keyboard does not reach")
            case "iframe":
                self._fault(not given.get("title"), "a frame without a title")
            case "table":
                self._headings.append(0)
            case "th" if self._headings:
                self._headings[-1] += 1
            case "label":
                self._labelled.add(given.get("for", ""))
            case "input" | "select" | "textarea" if given.get("type") not in _SILENT:
                own = given.get("aria-label") or given.get("aria-labelledby") or given.get("title")
                if not own and "label" not in [each for each, _ in self._open]:
                    self._unlabelled[given.get("id", f"a {tag} without an id")] = tag
            case _ if tag in _HEADINGS:
                self._fault(_HEADINGS[tag] > self._level + 1, f"headings out of order: {tag} after h{self._level}")
                self._level = _HEADINGS[tag]

    def handle_data(self, data: str) -> None:
        self._say(data)

    def _say(self, text: str) -> None:
        if text.strip():
            for _, said in self._texts:
                said.append(text.strip())

    def handle_endtag(self, tag: str) -> None:
        if tag not in [each for each, _ in self._open]:
            return
        while self._open[-1][0] != tag:  # elements that end with their parent
            self._end(self._open.pop()[0])
        self._end(self._open.pop()[0])

    def _end(self, tag: str) -> None:
        if self._texts and self._texts[-1][0] == tag:
            _, said = self._texts.pop()
            self._fault(bool(_NAMED[tag]) and not said, _NAMED[tag])
        if tag == "table" and self._headings:
            self._fault(not self._headings.pop(), "a table without a heading")

    def close(self) -> None:
        """Add the faults of the page as a whole."""
        super().close()
        kinds = [kind for kind, _ in self._parts]
        self._fault(not self._seen["title"], "no title")
        self._fault(kinds.count("main") != 1, f"not one main part: {kinds.count('main')}")
        self._fault(self._seen["h1"] != 1, f"not one first heading: {self._seen['h1']}")
        for (kind, name), count in Counter(self._parts).items():
            alone = kind == "main" or (count == 1 and (name or kinds.count(kind) == 1))
            self._fault(not alone, f"parts of a kind without different names: {kind} {name!r}")
        for place in self._references:
            self._fault(place not in self.ids, f"a reference to no place: {place}")
        for place, tag in self._unlabelled.items():
            self._fault(place not in self._labelled, f"a field without a label: {tag} {place}")

    def _fault(self, found: bool, said: str) -> None:
        if found:
            self.faults.append(said)
