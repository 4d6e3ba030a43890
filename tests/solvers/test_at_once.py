"""Threads share work that takes long, and only that."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest

from butfor.solvers import combine
from butfor.solvers.outcome import Outcome, one_answer
from butfor.solvers.solver import Budget


def found_by(threads: set[int], number: int) -> Outcome:
    threads.add(threading.get_ident())
    return one_answer(np.array([float(number)]), 0.0, 0.0)


@pytest.mark.parametrize(("slow", "shared"), [(np.inf, False), (-1.0, True)])
def test_only_slow_work_is_shared_and_the_order_stays(monkeypatch, slow: float, shared: bool) -> None:
    monkeypatch.setattr(combine, "SLOW", slow)
    threads: set[int] = set()
    done = combine.at_once([partial(found_by, threads, number) for number in range(20)], Budget(), 2)
    assert [one.points[0, 0] for one in done] == list(range(20))
    assert threading.get_ident() in threads
    assert (len(threads) > 1) == shared
    assert combine.at_once([], Budget(), 2) == []
