"""The last searches, so that another quantile of the same rows and model asks for no counterfactual again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from copy import deepcopy
from threading import Lock

from butfor.compress.search import Crossings
from butfor.solvers.outcome import Stopped

SEARCHES_KEPT = 16
"""How many searches a process keeps: a grid of quantiles comes back to each fold once per quantile."""

_kept: OrderedDict[str, Crossings] = OrderedDict()
_lock = Lock()


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
