"""Kernels as plain Python: what is worked by hand on small cases need not wait seconds for the compiler."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from numba.core.dispatcher import Dispatcher


@contextmanager
def uncompiled(*modules: str) -> Iterator[None]:
    """Let the compiled functions that these modules name run as plain Python, until the end of the block."""
    with pytest.MonkeyPatch.context() as patched:
        for module in modules:
            for name, thing in list(vars(sys.modules[module]).items()):
                if isinstance(thing, Dispatcher):
                    patched.setattr(sys.modules[module], name, thing.py_func)
        yield
