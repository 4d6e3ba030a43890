"""The code of the library as Python reads it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

SOURCE = Path(__file__).resolve().parents[1] / "src" / "butfor"


@cache
def modules() -> Mapping[str, ast.Module]:
    """Every module by its name. They are read when a test asks: each process of a run imports all tests, and asks few."""
    return MappingProxyType({name_of(path): parsed(path) for path in sorted(SOURCE.rglob("*.py"))})


def name_of(path: Path) -> str:
    """`butfor.space` for its `__init__.py`, too."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
