"""Processes of our own that do parts: one thread each, and no script is run again in them.

A worker is started as `python -m butfor.portfolio.workers`. It reads the numbers of parts from its input, a line each, and
writes what became of them. It ends when its input ends: so none outlives its caller, however that died.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any

from butfor.compiled.one_thread import ONE_THREAD
from butfor.errors import LogError
from butfor.portfolio.part import Done, Sent, do


class WorkerEndedError(Exception):
    """A worker ended while it did a part: it was killed, or ran out of memory."""


class Workers:
    """So many processes, each of which does one part at a time. One that ends is replaced."""

    def __init__(self, count: int, sent: Sent) -> None:
        self.count = count
        self._sent = sent
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="butfor-portfolio")
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all = [_Worker(sent) for _ in range(count)]
        for worker in self._all:
            self._idle.put(worker)

    def submit(self, number: int) -> Future[Done]:
        """Have a part done."""
        return self._threads.submit(self._ask, number)

    def _ask(self, number: int) -> Done:
        worker = self._idle.get()
        try:
            return worker.ask(number)
        except WorkerEndedError:
            self._all.remove(worker)
            worker = _Worker(self._sent)
            self._all.append(worker)
            raise
        finally:
            self._idle.put(worker)

    def end(self, *, now: bool) -> None:
        """End all workers: when they are ready, or at once."""
        for worker in list(self._all):
            worker.end(now)
        self._threads.shutdown(wait=not now, cancel_futures=True)


class _Worker:
    """One process."""

    def __init__(self, sent: Sent) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "butfor.portfolio.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the caller, who lets running parts end
        )
        self._tell({"sent": sent})

    def ask(self, number: int) -> Done:
        """Do a part, and wait for it."""
        try:
            self._tell({"number": number})
            line = self._pipe(self._process.stdout).readline()
        except OSError:
            line = b""
        if not line:
            self.end(now=True)
            raise WorkerEndedError(f"exit code {self._process.returncode}")
        reply = json.loads(line)
        if "unlogged" in reply:
            raise LogError(*reply["unlogged"])
        if "error" in reply:
            raise OSError(*reply["error"]) if reply["system"] else RuntimeError(reply["error"])
        return Done(*reply["done"])

    def end(self, now: bool) -> None:
        """End the process: after the part that it does, or at once."""
        if now:
            self._process.kill()
        with suppress(OSError):  # what it was told last is lost, if it has ended
            self._pipe(self._process.stdin).close()
        self._process.wait()
        self._pipe(self._process.stdout).close()

    def _tell(self, words: dict[str, Any]) -> None:
        pipe = self._pipe(self._process.stdin)
        pipe.write(json.dumps(words).encode() + b"\n")
        pipe.flush()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


def serve() -> None:
    """Do the parts whose numbers come in. What else is printed goes to the error output."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sent = Sent(*json.loads(sys.stdin.readline())["sent"])
    for line in sys.stdin:
        try:
            reply: dict[str, Any] = {"done": do(sent, json.loads(line)["number"])}
        except LogError as error:
            reply = {"unlogged": [error.given, error.needed, error.remedy]}
        except OSError as error:
            reply = {"error": [error.errno, error.strerror or str(error), error.filename], "system": True}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}", "system": False}
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    serve()
