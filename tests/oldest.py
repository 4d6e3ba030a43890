"""The oldest versions that `pyproject.toml` allows, as constraints for pip: `make oldest` installs and tests with them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
OLDEST = re.compile(r"([\w-]+)(?:\[[\w,-]+\])?\s*>=\s*([\d.]+)")


def constraints() -> Iterator[str]:
    """`name==1.2.*` for each requirement `name>=1.2`, of the package and of its extras."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    required = [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
    ]
    for found in filter(None, map(OLDEST.match, required)):
        yield f"{found[1]}=={found[2]}.*"


if __name__ == "__main__":
    print("\n".join(dict.fromkeys(constraints())))
