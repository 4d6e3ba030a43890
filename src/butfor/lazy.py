"""Names of a package that are loaded when they are first used, so that importing the package costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from butfor.errors import did_you_mean

Loader = Callable[[str], Any]
"""The `__getattr__` of a package."""


def no_attribute(package: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error about a name that a package does not have."""
    missing = f"module {package!r} has no attribute {name!r}"
    meant = "" if name.startswith("_") else did_you_mean(name, known)  # Python itself asks for names with underscores
    return AttributeError(f"{missing}. {meant}" if meant else missing)


Names = Callable[[], list[str]]
"""The `__dir__` of a package: tab completion shows public names, and no helpers."""


def loaded_when_used(package: str, homes: Mapping[str, str]) -> tuple[Loader, Names]:
    """The `__getattr__` and the `__dir__` of a package. `homes` says in which module each public name is."""

    def load(name: str) -> Any:
        if name not in homes:
            raise no_attribute(package, name, homes)
        return getattr(import_module(homes[name]), name)

    return load, lambda: sorted(homes)
