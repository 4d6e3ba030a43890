"""Names of a package that are loaded when they are first used, so that importing the package costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from butfor.errors import no_attribute

Loader = Callable[[str], Any]
"""The `__getattr__` of a package."""


Names = Callable[[], list[str]]
"""The `__dir__` of a package: tab completion shows public names, and no helpers."""


def loaded_when_used(package: str, homes: Mapping[str, Sequence[str]]) -> tuple[Loader, Names]:
    """The `__getattr__` and the `__dir__` of a package. `homes` says which public names each module has."""
    home = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in home:
            raise no_attribute(package, name, home)
        return getattr(import_module(home[name]), name)

    return load, lambda: sorted(home)
