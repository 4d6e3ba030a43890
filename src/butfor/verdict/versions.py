"""The versions that an answer depends on: those of the libraries that compute it, and of all that the model is made of."""

from __future__ import annotations

import platform
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

MOST_PARTS_OF_A_MODEL = 10_000
"""So many parts of a model are looked at. The outer ones come first, and a forest consists of the same parts again."""

INSTALLED_AS = {"sklearn": "scikit-learn", "sksurv": "scikit-survival"}
"""What is installed for a package of another name."""

LEAVES = (str, bytes, int, float, complex, type(None), np.ndarray, np.generic)
"""Values without parts."""


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


def versions_of(model: Any) -> dict[str, str]:
    """The same, and the versions of the libraries that a model and everything inside it come from."""
    found = dict(filter(None, map(_distribution, _packages(model) - sys.stdlib_module_names)))
    return library_versions() | dict(sorted(found.items()))


@cache
def _distribution(package: str) -> tuple[str, str] | None:
    """The name and the version of what was installed for a package; None if it was not installed."""
    name = INSTALLED_AS.get(package, package)
    try:
        return name, version(name)
    except PackageNotFoundError:
        if _is_own(package):
            return None  # to look through all that is installed would take a second
        names = set(packages_distributions().get(package, ()))
        return next(((name, version(name)) for name in names), None) if len(names) == 1 else None


@cache
def _is_own(package: str) -> bool:
    """Whether a package is the user's own: it is no library, and neither butfor nor of Python."""
    file = str(getattr(sys.modules.get(package), "__file__", ""))
    return package != "butfor" and package not in sys.stdlib_module_names and "-packages" not in file


def _packages(model: Any) -> set[str]:
    """The packages of a model and of what is inside it. Of the user's own functions, that is what they mention."""
    found: set[str] = set()
    seen: dict[int, Any] = {}
    waiting = deque([model])
    while waiting and len(seen) < MOST_PARTS_OF_A_MODEL:
        part = waiting.popleft()
        if isinstance(part, LEAVES) or id(part) in seen:
            continue
        seen[id(part)] = part
        found.update(name.split(".")[0] for name in _modules(part))
        waiting.extend(_inside(part))
    return {name for name in found if name and not name.startswith("_")}


def _modules(part: Any) -> Iterator[str]:
    """The modules in which a part, or the classes that it is made of, are defined."""
    if isinstance(part, ModuleType):
        yield part.__name__
    elif isinstance(part, FunctionType):
        yield part.__module__ or ""
    else:
        yield from (str(kind.__module__) for kind in _classes(part))


def _classes(part: Any) -> tuple[type, ...]:
    return (part if isinstance(part, type) else type(part)).__mro__


def _inside(part: Any) -> Iterable[Any]:
    """The parts of a part. Only the user's own functions and classes are looked into."""
    if isinstance(part, ModuleType):
        return ()
    if isinstance(part, FunctionType):
        return _mentioned(part) if _is_own((part.__module__ or "").split(".")[0]) else ()
    if isinstance(part, MethodType):
        return (part.__self__,)
    if isinstance(part, partial):
        return (part.func, *part.args, *part.keywords.values())
    if isinstance(part, dict):
        return part.values()
    if isinstance(part, list | tuple | set | frozenset):
        return part
    own = [kind for kind in _classes(part) if _is_own(kind.__module__.split(".")[0])]
    held = [] if isinstance(part, type) else [part]
    return [value for one in (*held, *own) for value in getattr(one, "__dict__", {}).values()]


def _mentioned(function: FunctionType) -> Iterator[Any]:
    """What the code of a function mentions: values from outside, its defaults, and global names."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not set yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__)
