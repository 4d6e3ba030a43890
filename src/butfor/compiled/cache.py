"""Where compiled code is kept: numba's cache, which here never makes an answer fail.

A file that cannot be read counts as missing, and one that cannot be written is left out.
Numba asks whether a kernel's own file has changed. Here it is also asked of all files whose code may be part of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, NullCache

from butfor.compiled import helper
from butfor.compiled.saying import say_compiling, say_unkept
from butfor.compiled.searches import search_of
from butfor.log import LOG


def cache_of(function: Callable[..., Any]) -> Any:
    """The cache of a kernel."""
    try:
        return KernelCache(function)
    except RuntimeError:  # numba found no directory that can be written
        return NoCache(function)


def kept_in() -> Path | None:
    """The directory that holds all compiled code; None if no directory can be written."""
    try:
        path = Path(FunctionCache(kept_in).cache_path)
    except RuntimeError:
        return None
    return path.parents[1] if path.name == "__pycache__" else path.parent


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiled code of one kernel, on disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.name, self.search = function.__name__, search_of(function.__module__)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for arguments of these types; None if it is to be compiled.

        If another process is compiling it, it is waited for.
        """
        return self._read(sig, target_context) or self._awaited(sig, target_context)

    def _awaited(self, sig: Any, target_context: Any) -> Any:
        say_compiling(self.search)
        helper.begin(self.search)
        found = None
        while found is None and helper.is_at_work_on(self.search, self.name):
            time.sleep(helper.SECONDS_BETWEEN_LOOKS)
            found = self._read(sig, target_context)
        return found or self._read(sig, target_context)  # it may have ended just after the last look

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for arguments of these types, if that is possible."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            LOG.debug("the compiled %s cannot be written: %s", self.name, error)
            say_unkept()

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), _digest(self.search))

    def _read(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # a broken file may fail with anything
            LOG.debug("the compiled %s cannot be read: %s", self.name, error)
            self._empty()
            return None

    def _empty(self) -> None:
        try:
            self.flush()
        except OSError as error:
            LOG.debug("the cache of %s cannot be emptied: %s", self.name, error)


@cache
def _digest(search: str) -> str:
    """What all code that may be in the kernels of a search comes to: of its package, and how it is compiled."""
    place = Path(*search.split(".")[1:])
    root = Path(__file__).resolve().parents[1]
    digest = sha256()
    compiled = (root / "compiled" / name for name in ("boxing.py", "kernel.py"))
    for path in (*compiled, *sorted((root / place).rglob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class NoCache(NullCache):  # type: ignore[misc]
    """Code that is compiled in each process anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.search = search_of(function.__module__)

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Nothing is ever found."""
        say_compiling(self.search)
        say_unkept()
