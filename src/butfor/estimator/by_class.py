"""What is known of a class, looked up along an object's ancestry; no library is imported to ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class ByClass(Generic[T]):
    """Things by class. A class of another library is named: by its name alone if it is scikit-learn's, else "library.Name"."""

    def __init__(self) -> None:
        self._known: dict[type | str, T] = {}

    def __setitem__(self, owner: type | str, thing: T) -> None:
        self._known[owner] = thing

    def update(self, known: Mapping[type | str, T]) -> None:
        """Set several."""
        self._known.update(known)

    def copy(self) -> dict[type | str, T]:
        """All that is known now."""
        return dict(self._known)

    def of(self, one: Any) -> T | None:
        """What is known of the closest ancestor of an object's class."""
        for ancestor in type(one).__mro__:
            if ancestor in self._known:
                return self._known[ancestor]
            library, name = ancestor.__module__.split(".")[0], ancestor.__name__
            named = name if library == "sklearn" else f"{library}.{name}"
            if named in self._known:
                return self._known[named]
        return None

    def names(self) -> Iterator[str]:
        """The names of the classes."""
        return (owner if isinstance(owner, str) else owner.__name__ for owner in self._known)
