"""Who does the parts: this process, processes of our own, any executor of processes, or the workers of Dask."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from butfor.errors import InputError, InputTypeError
from butfor.portfolio.manifest import versions_here
from butfor.portfolio.part import Done, PartTask, Sent, do, send
from butfor.portfolio.workers import Workers


class Engine(Protocol):
    """Does parts, several at a time."""

    count: int

    def submit(self, number: int) -> Future[Done]:
        """Have a part done."""

    def end(self, *, now: bool) -> None:
        """Stop working: after the running parts, or at once."""


@dataclass
class Here:
    """This process itself, one part after the other."""

    task: PartTask
    count: int = 1

    def submit(self, number: int) -> Future[Done]:
        """Do a part."""
        done = Future[Done]()
        try:
            done.set_result(self.task.do(number))
        except Exception as error:
            done.set_exception(error)
        return done

    def end(self, *, now: bool) -> None:
        """There is nothing to stop."""


@dataclass
class Elsewhere:
    """An executor that the user gave. It is the user's to end."""

    executor: Executor
    sent: Sent
    count: int
    waiting: list[Future[Done]] = field(default_factory=list)

    def submit(self, number: int) -> Future[Done]:
        """Have a part done."""
        self.waiting = [*(one for one in self.waiting if not one.done()), self.executor.submit(do, self.sent, number)]
        return self.waiting[-1]

    def end(self, *, now: bool) -> None:
        """Cancel what is not begun."""
        for one in self.waiting:
            one.cancel()


@dataclass(frozen=True)
class Engines:
    """Who does the parts: processes of our own, an executor, or a client of Dask."""

    executor: Executor | None = None
    client: Any = None
    n_jobs: int | None = None

    @contextmanager
    def opened(self, task: PartTask) -> Iterator[Engine]:
        """The engine for a task. What was begun for it is ended at the end."""
        count = self._count()
        if self.executor is None and self.client is None and count == 1:
            yield Here(task)
            return
        sent = send(task)
        try:
            if self.client is not None:
                yield Elsewhere(self.client.get_executor(pure=False), sent, sum(self.client.ncores().values()))
            elif self.executor is not None:
                yield Elsewhere(self.executor, sent, count)
            else:
                workers = Workers(count, sent)
                try:
                    yield workers
                finally:
                    workers.end(now=False)
        finally:
            Path(sent.path).unlink(missing_ok=True)

    def _count(self) -> int:
        if self.executor is not None:
            return int(getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)
        return processes_of(self.n_jobs)

    def check(self) -> None:
        """Refuse engines that would fail later."""
        given = [name for name in ("executor", "client", "n_jobs") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError(f"{' and '.join(given)} were given.", "One engine does the parts.", "Give one of them.")
        if isinstance(self.executor, ThreadPoolExecutor):
            raise InputTypeError(
                "an executor of threads was given.",
                "Its threads would share one model, and few models say that they may be called so.",
                "Give an executor of processes, or n_jobs=.",
            )
        if self.executor is not None and not hasattr(self.executor, "submit"):
            raise InputTypeError(
                f"{type(self.executor).__name__} was given as executor.",
                "It must be a concurrent.futures.Executor.",
            )
        processes_of(self.n_jobs)
        if self.client is not None:
            _check_client(self.client)


def processes_of(n_jobs: Any) -> int:
    """How many processes share the parts: one for each processor by default."""
    if n_jobs is None:
        return os.cpu_count() or 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(
            f"n_jobs={n_jobs!r} was given.", "It must be a number of processes, or -1 for one per processor."
        )
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def _check_client(client: Any) -> None:
    """Refuse workers of another Python, or without the same butfor: what they are sent could not be read."""
    if not hasattr(client, "get_executor"):
        raise InputTypeError(f"{type(client).__name__} was given as client.", "It must be a dask.distributed.Client.")
    own = versions_here()
    for worker, found in client.run(versions_here).items():
        for name, here in own.items():
            there = found[name]
            if there.split(".")[:2] != here.split(".")[:2]:
                raise InputError(
                    f"the worker {worker} has {name} {there}, and here is {here}.",
                    "All must be of the same version.",
                    "Start the workers in the environment of this process.",
                )
