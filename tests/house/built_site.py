"""The built pages, read as a browser reads them: no page has a fault, links have targets, all files are local."""

from __future__ import annotations

import functools
import re
import zlib
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

from tests.house.accessibility import Audit

#: The limit in bytes of the first page and all files that it loads before it is shown.
MOST = 200_000
_LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
#: Relations of a `link` whose file a browser loads; the others name pages.
_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload"}
_WRITTEN = {"search.html", "genindex.html", "py-modindex.html"}  # pages that Sphinx writes


class Page(Audit):
    """The ids, links, loaded files and faults of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        given = {key: value or "" for key, value in attrs}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        is_loaded = tag != "link" or bool(_RELATIONS & set(given.get("rel", "").split()))
        if is_loaded and given.get(_LOADED.get(tag, "")):
            self.loaded.append(given[_LOADED[tag]])


def is_local(address: str) -> bool:
    """Return whether an address is a file of the site."""
    parts = urlsplit(address)
    return not parts.scheme and not parts.netloc


def faults(site: Path) -> list[str]:
    """Return the faults of all pages: those of their HTML, links without targets, files of other hosts."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        found += [f"{name}: {fault}" for fault in page.faults if name not in _WRITTEN]
        found += [f"{name}: loads {each}" for each in page.loaded if not is_local(each)]
        found += [
            f"{name}: loads {each}" for sheet in _sheets(path, page) for each in _asked(sheet) if not is_local(each)
        ]
        found += [
            f"{name}: lacks {each}"
            for each in page.loaded
            if is_local(each) and not (path.parent / unquote(urlsplit(each).path)).exists()
        ]
        for link in filter(is_local, page.links):
            target, anchor = urldefrag(link)
            to = (path.parent / unquote(target)).resolve() if target else path
            if not to.exists():
                found.append(f"{name}: links to {link}")
            elif anchor and to in pages and unquote(anchor) not in pages[to].ids:
                found.append(f"{name}: links to {link}, which has no such place")
    return found


def _sheets(path: Path, page: Page) -> list[Path]:
    return [path.parent / urlsplit(each).path for each in page.loaded if is_local(each) and ".css" in each]


@functools.cache
def _asked(sheet: Path) -> list[str]:
    """Return the files that a style sheet loads."""
    named = re.findall(r"url\(['\"]?([^'\")]+)|@import ['\"]([^'\"]+)", sheet.read_text())
    return [each for pair in named for each in pair if each and not each.startswith("data:")]


def size(path: Path) -> int:
    """Return the bytes of a page, of the files that it loads, and of those that its style sheets load."""
    page = Page(path)
    files = {path, *(path.parent / urlsplit(each).path for each in page.loaded if is_local(each))}
    for sheet in _sheets(path, page):
        files |= {sheet.parent / urlsplit(each).path for each in _asked(sheet) if is_local(each)}
    return sum(file.stat().st_size for file in files)


def documented(site: Path) -> set[str]:
    """Return the Python names that the pages document, by Sphinx's inventory."""
    packed = (site / "objects.inv").read_bytes().partition(b"zlib.\n")[2]
    lines = zlib.decompress(packed).decode().splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line}
