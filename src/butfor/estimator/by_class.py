"""What is known of a class, looked up along an object's ancestry; no library is imported to ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

T = TypeVar("T")


class ByClass(dict[type | str, T]):
    """Things by class. A class of another library is named: by its name alone if it is scikit-learn's, else "library.Name"."""

    def of(self, one: Any) -> T | None:
        """What is known of the closest ancestor of an object's class."""
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
