"""The calls of other libraries, answered by butfor. See "Coming from elsewhere" in the documentation."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor.compat import dice

__all__ = ["dice"]


def __getattr__(name: str) -> Any:
    """Load the calls of a library when they are first used."""
    if name not in __all__:
        raise AttributeError(f"module 'butfor.compat' has no attribute {name!r}")
    return import_module(f"butfor.compat.{name}")


def __dir__() -> list[str]:
    return sorted(__all__)
