"""Contrast of texts by WCAG 2.2, section 1.4.3: of the theme's colours, of programs, of diagrams and pictures.

A colour is (red, green, blue, opacity), each in 0..1; a mode is "light" or "dark".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

Color = tuple[float, float, float, float]

LEAST = 4.5  # least ratio of a text to its background, by WCAG's level AA
LEAST_OF_ICONS = 3.0
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_VARIABLE = re.compile(r"--color-([\w-]+)\s*:\s*([^;}]+)")
_TEXT = re.compile(r"(?<![\w-])color\s*:\s*([^;}]+)")
_BACKGROUND = re.compile(r"(?<![\w-])background(?:-color)?\s*:\s*([^;}]+)")
_DARK = re.compile(r"body\[data-theme=\"?dark\"?\]$")
#: Elements without text: a symbol beside its text, and the frame that docutils draws around its own errors.
_NO_TEXT = re.compile(r"svg|icon")
_DRAWN = re.compile(r'<g id="(text_\d+)">\s*(?:<!--.*?-->\s*)?<[^>]*style="([^"]*)"')
_NO_WORD = re.compile(r"linenos|\.w$")
_OTHER = re.compile(r"will-duplicate|announcement")


def parsed(value: str, known: dict[str, str]) -> Color | None:
    """Return the colour of a CSS value with the variables of a mode, or None if it has none, as `inherit`."""
    while name := re.search(r"var\(\s*--color-([\w-]+)\s*(?:,([^()]*))?\)", value):
        if name[1] not in known and not name[2]:
            return None
        value = value.replace(name[0], known.get(name[1], name[2]))
    value = value.strip()
    if found := re.fullmatch(r"#([0-9a-fA-F]{3,8})", value):
        digits = found[1] if len(found[1]) >= 6 else "".join(2 * each for each in found[1])
        parts = [int(digits[k : k + 2], 16) / 255 for k in range(0, len(digits), 2)]
        return (*parts[:3], parts[3] if len(parts) > 3 else 1.0)
    if found := re.fullmatch(r"rgba?\(([\d.]+), *([\d.]+), *([\d.]+)(?:, *([\d.]+))?\)", value):
        return (int(found[1]) / 255, int(found[2]) / 255, int(found[3]) / 255, float(found[4] or 1))
    return (0.0, 0.0, 0.0, 0.0) if value == "transparent" else None


def over(color: Color, below: Color) -> Color:
    """Return the visible colour of a colour on top of an opaque one."""
    mixed = [color[3] * a + (1 - color[3]) * b for a, b in zip(color[:3], below[:3], strict=True)]
    return (mixed[0], mixed[1], mixed[2], 1.0)


def ratio(a: Color, b: Color) -> float:
    """Return the contrast of two opaque colours, 1 to 21."""

    def luminance(color: Color) -> float:
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in color[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def variables(sheets: str, mode: str) -> dict[str, str]:
    """Return the theme's colours in a mode, by their names without `--color-`."""
    known: dict[str, str] = {}
    for selector, body in _RULE.findall(sheets):
        selector = selector.strip().rpartition("}")[2].strip()
        if selector.endswith("body") or (mode == "dark" and _DARK.search(selector)):
            known |= {name: value.strip() for name, value in _VARIABLE.findall(body)}
    return known


def of_theme(sheets: str, mode: str) -> Iterator[str]:
    """Yield the rules whose text is too faint on its own background, or on either background of pages."""
    known = variables(sheets, mode)
    pages = [parsed(f"var(--color-background-{each})", known) for each in ("primary", "secondary")]
    for selector, body in _RULE.findall(sheets):
        text = [parsed(value, known) for value in _TEXT.findall(body)]
        if not text or text[-1] is None or _OTHER.search(selector):
            continue
        own = [parsed(value, known) for value in _BACKGROUND.findall(body)]
        below = [over(own[-1], page) for page in pages if page] if own and own[-1] else [page for page in pages if page]
        least = LEAST_OF_ICONS if _NO_TEXT.search(selector) else LEAST
        worst = min(ratio(over(text[-1], each), each) for each in below)
        if worst < least:
            yield f"{mode}: {selector.strip()[-80:]} has a contrast of {worst:.2f}, needs {least}"


def of_programs(sheet: str, known: dict[str, str], mode: str) -> Iterator[str]:
    """Yield the kinds of words in highlighted programs that are too faint; `sheet` is Pygments'."""
    below = parsed("var(--color-code-background)", known)
    for selector, body in _RULE.findall(sheet):
        text = [parsed(value, known) for value in _TEXT.findall(body)]
        if bool(re.search("data-theme", selector)) != (mode == "dark") or _NO_WORD.search(selector.strip()):
            continue  # rules for dark pages name a theme, others do not
        if not text or not text[-1] or not below:
            continue
        own = [parsed(value, known) for value in _BACKGROUND.findall(body)]
        behind = over(own[-1], below) if own and own[-1] else below
        if ratio(text[-1], behind) < LEAST:
            yield f"{mode}: {selector.strip()[-80:]} has a contrast of {ratio(text[-1], behind):.2f}, needs {LEAST}"


def of_diagram(path: Path, known: dict[str, str], mode: str) -> Iterator[str]:
    """Yield the texts of a diagram that are too faint on the boxes behind them, which precede them in the file."""
    page = parsed("var(--color-background-primary)", known)
    assert page is not None
    boxes: list[tuple[float, float, float, float, Color]] = []
    for each in ElementTree.parse(path).iter():
        kind = each.tag.rpartition("}")[2]
        color = parsed(each.get("fill", "#000"), known)
        if kind == "rect" and color:
            x, y, width, height = (float(each.get(name, 0)) for name in ("x", "y", "width", "height"))
            boxes.append((x, y, x + width, y + height, (*color[:3], color[3] * float(each.get("fill-opacity", 1)))))
        if kind == "text" and color:
            x, y, below = float(each.get("x", 0)), float(each.get("y", 0)) - 4, page
            for left, top, right, bottom, fill in boxes:
                if left <= x <= right and top <= y <= bottom:
                    below = over(fill, below)
            if ratio(color, below) < LEAST:
                yield f"{mode}: {path.name}: {each.text!r} has a contrast of {ratio(color, below):.2f}, needs {LEAST}"


def of_picture(path: Path) -> Iterator[str]:
    """Yield the texts that matplotlib drew too faint for its white background."""
    white = (1.0, 1.0, 1.0, 1.0)
    for name, style in _DRAWN.findall(path.read_text()):
        color = parsed("".join(re.findall(r"fill: *(#\w+)", style)) or "#000", {})
        if color is None or ratio(color, white) < LEAST:
            yield f"{path.name}: {name} is drawn in {style}"


def faults(site: Path, diagrams: list[Path]) -> list[str]:
    """Return the texts of a built site that are too faint, in both modes."""
    style = "".join(re.findall(r"<style>(.*?)</style>", (site / "index.html").read_text(), re.DOTALL))
    static = site / "_static"
    sheets = (static / "styles" / "furo.css").read_text() + style + (static / "site.css").read_text()
    words = (static / "pygments.css").read_text()
    sheets, words = (re.sub(r"/\*.*?\*/", "", each, flags=re.DOTALL) for each in (sheets, words))
    found = []
    for mode in ("light", "dark"):
        known = variables(sheets, mode)
        found += of_theme(sheets, mode)
        found += of_programs(words, known, mode)
        for path in diagrams:
            found += of_diagram(path, known, mode)
    for path in sorted((site / "_images").glob("*.svg")):
        found += of_picture(path)
    return found
