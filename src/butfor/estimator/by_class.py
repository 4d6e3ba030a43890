"""Look up what is known about an object's class, without importing a library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class ByClass(dict[type | str, T]):
    """A dict from classes to things.

    A class of another library is given by name: "Name" if it is scikit-learn's, else "library.Name".
    """

    def of(self, one: Any) -> T | None:
        """The thing for an object's class, or for its closest ancestor that has one."""
        for ancestor in type(one).__mro__:
            if ancestor in self:
                return self[ancestor]
            library, name = ancestor.__module__.split(".")[0], ancestor.__name__
            named = name if library == "sklearn" else f"{library}.{name}"
            if named in self:
                return self[named]
        return None

    def names(self) -> Iterator[str]:
        """The names of the classes."""
        return (owner if isinstance(owner, str) else owner.__name__ for owner in self)
