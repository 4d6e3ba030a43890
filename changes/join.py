"""Joins the fragments of this folder into a section of `CHANGELOG.md`, and removes them.

Run at a release: python changes/join.py 0.2.0
"""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
NEWEST = "<!-- the newest version stands below this line -->\n"
"""Where the next section goes."""

HEADING = re.compile(r"^#(?= )", re.MULTILINE)
LINK = re.compile(r"\]\(\.\./")
"""A link from a fragment. The changelog stands one folder higher."""

UNTITLED = "And"
"""The title of what stands in fragments without one."""


def fragments(folder: Path) -> list[Path]:
    """The fragments, the oldest first."""
    return sorted(path for path in folder.glob("[0-9]*.md"))


def section(version: str, day: date, texts: list[str]) -> str:
    """A section of the changelog: what has a title, in the order of the fragments, and then all that has none."""
    titled = [text.strip() for text in texts if text.startswith("# ")]
    others = [text.strip() for text in texts if not text.startswith("# ")]
    parts = [*titled, *([f"# {UNTITLED}\n\n" + "\n".join(others)] if others else [])]
    body = LINK.sub("](", HEADING.sub("###", "\n\n".join(parts)))
    return f"## {version} ({day:%Y-%m-%d})\n\n{body}\n"


def join(version: str, day: date, folder: Path, changelog: Path) -> None:
    """Write the section, and remove its fragments."""
    found = fragments(folder)
    before, mark, after = changelog.read_text(encoding="utf-8").partition(NEWEST)
    if not mark or not found:
        sys.exit(f"{changelog.name} needs the line {NEWEST.strip()!r}, and {folder.name} needs fragments.")
    new = section(version, day, [path.read_text(encoding="utf-8") for path in found])
    changelog.write_text(f"{before}{mark}\n{new}{after}", encoding="utf-8")
    for path in found:
        path.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    join(sys.argv[1], date.today(), HERE, HERE.parent / "CHANGELOG.md")
