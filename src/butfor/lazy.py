"""Names of a package that are loaded when they are first used, so that importing the package costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from butfor.errors import no_attribute

Loader = Callable[[str], Any]
"""The `__getattr__` of a package."""


Names = Callable[[], list[str]]
"""The `__dir__` of a package: tab completion shows public names, and no helpers."""


def loaded_when_used(package: str, homes: Mapping[str, str]) -> tuple[Loader, Names]:
    """The `__getattr__` and the `__dir__` of a package. `homes` says in which module each public name is."""

    def load(name: str) -> Any:
        if name not in homes:
            raise no_attribute(package, name, homes)
        return getattr(import_module(homes[name]), name)

    return load, lambda: sorted(homes)
