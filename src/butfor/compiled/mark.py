"""A mark beside compiled code: all of it is there. So `warm` need not begin ten processes to find that out."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path

import numba
from numba.core.caching import FunctionCache
from numba.core.registry import cpu_target

from butfor.log import LOG


def is_set(place: Path) -> bool:
    """Whether all compiled code of this butfor is in the directory, for this Python and processor."""
    try:
        known = json.loads(_file().read_text("utf-8"))
        return known["of"] == _of() and all((place / name).is_file() for name in known["files"])
    except (OSError, ValueError, TypeError, KeyError):  # there is none, or somebody has changed it
        return False


def set_mark(place: Path) -> None:
    """Name the files of compiled code that are in the directory now."""
    files = sorted(str(path.relative_to(place)) for path in place.rglob("*.nb[ci]"))
    try:
        _file().write_text(json.dumps({"of": _of(), "files": files}), "utf-8")
    except OSError as error:
        LOG.debug("that all is compiled cannot be noted: %s", error)


def _file() -> Path:
    return Path(FunctionCache(is_set).cache_path) / "warmed.json"


def _of() -> str:
    """What compiled code depends on: the files it is made of, as numba looks at them, numba, Python, the processor."""
    root = Path(__file__).resolve().parents[1]
    sources = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(root.rglob("*.py"))]
    processor = cpu_target.target_context.codegen().magic_tuple()
    return sha256(repr((numba.__version__, sys.version, processor, sources)).encode()).hexdigest()
