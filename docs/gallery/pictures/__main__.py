"""Drawing of the pictures of some or all pages of the gallery."""

from __future__ import annotations

import argparse
from pathlib import Path

from docs.gallery import pictures

parser = argparse.ArgumentParser(prog="python -m docs.gallery.pictures", description=__doc__)
parser.add_argument("names", nargs="*", help="pages (default: all)", choices=[*pictures.NAMES, []], default=[])
parser.add_argument("--out", type=Path, default=pictures.FOLDER, help="the folder (docs/gallery/drawn)")
parser.add_argument("--format", choices=("svg", "png"), default="svg")
options = parser.parse_args()
for name in options.names or pictures.NAMES:
    print(pictures.draw(name, options.out, options.format))
