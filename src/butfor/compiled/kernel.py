"""The decorators of compiled functions.

A kernel is called from Python, and so may be a few of what it is made of.
A part, or a function that is inlined, is called from kernels.
Both run without checks for division by zero, which gives inf or nan as in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.extending import register_jitable

from butfor.compiled.boxing import box_without_python
from butfor.compiled.cache import cache_of
from butfor.compiled.clock import standing_still
from butfor.compiled.pause import pause_while_compiling

Function = Callable[..., Any]

_only: frozenset[str] | None = None

pause_while_compiling()
box_without_python()


def kernel(function: Function) -> Any:
    """Compile a function when it is first called, and keep the result on disk."""
    if _only is not None and function.__name__ not in _only:
        return part(function)
    # nobody calls it from C, and a wrapper for that takes longer the more arrays it is given
    compiled = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    compiled._cache = cache_of(function)  # as `cache=True` does, with a cache that never fails
    compiled.compile = standing_still(compiled.compile)  # it also looks for kept code, waits for it, and keeps it
    return compiled


def part(function: Function) -> Any:
    """Compile a function with each kernel that calls it. Called from Python, it runs as plain Python."""
    return register_jitable(no_cfunc_wrapper=True, no_cpython_wrapper=True)(function)


def inlined(function: Function) -> Any:
    """Write a function into each kernel and part that calls it, which spares passing many arrays again and again."""
    return numba.njit(inline="always")(function)


def compile_only(names: frozenset[str]) -> None:
    """Leave all kernels but these to Python. It holds for modules that are imported later."""
    global _only
    _only = names
