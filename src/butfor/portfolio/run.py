"""Have the parts done that are missing, by whichever engine, until none is left or somebody ends it."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from butfor.log import LOG
from butfor.portfolio.engines import Engine
from butfor.portfolio.lease import held
from butfor.portfolio.part import Done, PartTask, counted
from butfor.portfolio.workers import WorkerEndedError

AHEAD = 2
"""So many parts for each process are handed over before one is done. More would only wait there."""

LOSSES = 2
"""A part that so many workers did not survive is not tried again."""

POLL = 0.5
"""Seconds until it is looked again whether somebody else has done a part."""


@dataclass
class Interrupts:
    """Whether somebody asked to end it: once (after the running parts), or again (at once)."""

    asked: int = 0


@contextmanager
def interruptible() -> Iterator[Interrupts]:
    """Count Ctrl-C. The first lets running parts end, and the second is an error at once."""
    ended = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield ended
        return

    def asked(*_: Any) -> None:
        ended.asked += 1
        if ended.asked > 1:
            raise KeyboardInterrupt
        LOG.warning("ends after the running parts; Ctrl-C again ends at once")

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield ended
    finally:
        signal.signal(signal.SIGINT, before)


def run(task: PartTask, engine: Engine, numbers: list[int], until: float, show: Callable[[Done], None]) -> bool:
    """Have these parts done. False if it ended before: by Ctrl-C or at the time `until`."""
    left, running, lost = deque(numbers), dict[Future[Done], int](), Counter[int]()
    others = list[int]()
    with interruptible() as ended:
        try:
            while left or running or others:
                stopped = ended.asked or time.monotonic() > until
                if stopped and not running:
                    return False
                while left and not stopped and len(running) < AHEAD * engine.count:
                    number = left.popleft()
                    running[engine.submit(number)] = number
                    stopped = ended.asked or time.monotonic() > until
                if not running:
                    others = _still_held(task, others, left, show)
                    continue
                finished, _ = wait(running, timeout=POLL, return_when=FIRST_COMPLETED)
                for future in finished:
                    _took(task, future, running.pop(future), left, others, lost, show)
        except BaseException:
            engine.end(now=ended.asked > 1)
            if ended.asked > 1:
                return False
            raise
    return True


def _took(
    task: PartTask,
    future: Future[Done],
    number: int,
    left: deque[int],
    others: list[int],
    lost: Counter[int],
    show: Callable[[Done], None],
) -> None:
    """Take what became of a part."""
    try:
        done = future.result()
    except WorkerEndedError as error:
        lost[number] += 1
        if lost[number] < LOSSES:
            left.append(number)
        else:
            show(_given_up(task, number, str(error)))
        return
    except CancelledError:
        return
    if done.held:
        others.append(number)
    else:
        show(done)


def _given_up(task: PartTask, number: int, why: str) -> Done:
    """Write a part that no worker survives."""
    part = task.parts[number]
    words = f"the process that did this part ended {LOSSES} times ({why}): it was killed, or ran out of memory"
    table = task.given_up(part, words)
    task.write(part, table)
    return Done(number, len(part), *counted(table))


def _still_held(task: PartTask, others: list[int], left: deque[int], show: Callable[[Done], None]) -> list[int]:
    """The parts that others still work on. What they have done is shown, and what they gave up is to be done here."""
    time.sleep(POLL)
    missing = set(task.missing())
    for number in others:
        if number not in missing:
            show(task.done(number))
        elif not held(task.folder.lease(number)):
            left.append(number)
    return [number for number in others if number in missing and number not in left]
