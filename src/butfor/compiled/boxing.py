"""What a kernel returns becomes Python's arrays and named tuples without a step of Python in between.

A signal that comes while a kernel runs is handled at the next step of Python, which may raise KeyboardInterrupt.
Numba makes such steps itself as it hands over a result: it looks up classes, and calls those of named tuples.
It does not expect them to raise, and the process ends with a segmentation fault. So classes are constants here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from numba import types
from numba.core.boxing import box_array, box_tuple
from numba.core.pythonapi import _boxers

Box = Callable[[Any, Any, Any], Any]


def box_without_python() -> None:
    """From now on, let the kernels of this package hand over their results so."""
    for kind, ours in ((types.Array, _array), (types.NamedTuple, _named_tuple), (types.NamedUniTuple, _named_tuple)):
        _boxers.functions[kind] = _in_ours(ours, _boxers.functions[kind])


def _in_ours(ours: Box, others: Box) -> Box:
    @wraps(others)
    def boxed(kind: Any, value: Any, to: Any) -> Any:
        of_this_package = to.env_manager.env.globals["__name__"].startswith("butfor.")
        return (ours if of_this_package else others)(kind, value, to)

    return boxed


def _array(kind: Any, value: Any, to: Any) -> Any:
    """As numba does it, with the class of arrays as a constant."""
    api = to.pyapi
    api.serialize_object, api.unserialize = to.env_manager.add_const, to.env_manager.read_const
    try:
        return box_array(kind, value, to)
    finally:
        del api.serialize_object, api.unserialize


def _named_tuple(kind: Any, value: Any, to: Any) -> Any:
    """The class is not called: tuple.__new__(class, items)."""
    items = box_tuple(kind, value, to)
    constants = (to.env_manager.add_const(one) for one in (tuple.__new__, kind.instance_class))
    new, named = (to.env_manager.read_const(one) for one in constants)
    made = to.pyapi.call_function_objargs(new, (named, items))
    to.pyapi.decref(items)
    return made
