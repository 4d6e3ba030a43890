"""The pictures of the gallery: each is drawn by the code that stands above it in `docs/gallery.md`.

Run: python examples/gallery.py [FOLDER]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot

PAGE = Path(__file__).resolve().parents[1] / "docs" / "gallery.md"
CODE_AND_PICTURE = re.compile(r"^```python\n(.*?)^```$(?:\n\n!\[[^\]]*\]\(images/(.*?)\))?", re.MULTILINE | re.DOTALL)

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
names: dict[str, Any] = {}
for code, picture in CODE_AND_PICTURE.findall(PAGE.read_text(encoding="utf-8")):
    exec(code, names)
    if picture:
        names["ax"].figure.savefig(folder / picture, dpi=80, metadata={"Software": None})
        pyplot.close("all")
        print(f"{picture}: {names['ax'].get_label()}")
