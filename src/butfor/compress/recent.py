"""The last searches, so that another quantile of the same rows and model asks for no counterfactual again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from copy import deepcopy
from threading import Lock
from types import FunctionType
from typing import Any

import cloudpickle
from joblib.hashing import NumpyHasher

from butfor.compress.search import Crossings
from butfor.solvers.outcome import Stopped

SEARCHES_KEPT = 16
"""How many searches a process keeps: a grid of quantiles comes back to each fold once per quantile."""

_kept: OrderedDict[str, Crossings] = OrderedDict()
_lock = Lock()


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hash, in which functions and classes of the running script or notebook count by their code.

    They may be defined again under the same name. All others count by their names.
    """

    def save(self, obj: Any) -> None:
        own = isinstance(obj, FunctionType | type) and obj.__module__ == "__main__"
        super().save(cloudpickle.dumps(obj) if own else obj)


def key_of(*parts: Any) -> str | None:
    """A key for a search: equal for equal models, rows and settings. None if something of it cannot be pickled."""
    try:
        return str(_Hasher().hash(parts))
    except Exception:
        return None


def recall(key: str | None, run: Callable[[], Crossings]) -> Crossings:
    """The result of an equal search, or of `run`. A search that was cut short is not kept.

    What is kept shares nothing with what is handed out, because a model may be trained anew.
    """
    with _lock:
        if key is not None and key in _kept:
            _kept.move_to_end(key)
            return deepcopy(_kept[key])
    found = run()
    if key is not None and found.stopped is Stopped.DONE:
        with _lock:
            _kept[key] = deepcopy(found)
            while len(_kept) > SEARCHES_KEPT:
                _kept.popitem(last=False)
    return found


def forget() -> None:
    """Forget all searches."""
    with _lock:
        _kept.clear()
