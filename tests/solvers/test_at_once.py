"""Threads share work that takes long, and only that."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np

from butfor.solvers import combine
from butfor.solvers.outcome import Outcome, one_answer
from butfor.solvers.solver import Budget


class Counted:
    """Pieces of work that know how many of them are at work."""

    def __init__(self) -> None:
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def piece(self, number: int) -> Outcome:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        with self.lock:
            self.now -= 1
        return one_answer(np.array([float(number)]), 0.0, 0.0)


def test_quick_work_is_done_piece_by_piece_and_in_order(monkeypatch) -> None:
    monkeypatch.setattr(combine, "SLOW", 60.0)
    counted = Counted()
    done = combine.at_once([partial(counted.piece, number) for number in range(200)], Budget(), 2)
    assert [one.points[0, 0] for one in done] == list(range(200))
    assert counted.most == 1
    assert combine.at_once([], Budget(), 2) == []


def test_two_slow_pieces_are_at_work_together() -> None:
    """Each waits for the other, so one after the other they would never end."""
    both = threading.Barrier(2, timeout=60)

    def piece(number: int) -> Outcome:
        both.wait()
        return one_answer(np.array([float(number)]), 0.0, 0.0)

    done = combine.at_once([partial(piece, number) for number in range(4)], Budget(), 2)
    assert [one.points[0, 0] for one in done] == [0.0, 1.0, 2.0, 3.0]
