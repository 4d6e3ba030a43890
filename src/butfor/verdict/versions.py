"""The versions that an answer depends on."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def library_versions() -> dict[str, str]:
    """The versions of Python, butfor and the libraries that it computes with."""
    out = {"python": platform.python_version()}
    for name in ("butfor", "numpy", "scikit-learn", "highspy"):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out
