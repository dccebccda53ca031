"""Names and messages in a form that is safe to print on a terminal.

A file can have any name, and a message quotes a file's content: characters that control a terminal (escape sequences,
line ends, changes of text direction) are escaped as Python escapes them in a string.
"""

from __future__ import annotations

MESSAGE_LIMIT = 1000  # characters: a few lines, though a quoted text may be longer


def printable(text: str) -> str:
    r"""Return `text` with each unprintable character escaped.

    >>> print(printable("red\x1b[31m\n.txt"))
    red\x1b[31m\n.txt
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Return `text` as one line of bounded length: a longer text loses its middle.

    >>> one_line("x" * 5000).replace("x" * 700, "X").replace("x" * 200, "x")
    'X... (4,100 characters left out) ...x'
    """
    line = printable(text.strip())
    if len(line) <= MESSAGE_LIMIT:
        return line
    return f"{line[:700]}... ({len(line) - 900:,} characters left out) ...{line[-200:]}"
