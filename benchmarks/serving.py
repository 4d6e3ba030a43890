"""The what-if page's server on the loan table: how soon it answers, how many it answers, and how large its page is.

The server and whoever asks share the processors of one machine. Seconds are those that 95 % of the requests stay below.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.harness import SEED, Number, main
from butfor.datasets import loans

WORKERS = 2
INTERACTION, FIRST, PROVEN, FAST = 0.15, 0.15, 1.0, 1.0
"""The limits, in seconds: of a moved slider, a first answer, a proof, and a fast question beside slow ones."""

REQUESTS_A_SECOND, PAGE_KILOBYTES = 100.0, 150.0
SECONDS = 60.0
"""How long trees are asked about."""

SLOW_USERS = 50


class Server:
    """A server in a process of its own."""

    def __init__(self, folder: Path, model: str, waiting: int = 20) -> None:
        command = ["serve", model, "loans.csv", "--port", "0", "--workers", str(WORKERS), "--waiting", str(waiting)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "butfor", *command],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        for row in range(20):  # both processes have read the model, and have answered
            self.asked(HTTPConnection("127.0.0.1", self.port), "/api/v1/explain", {"row": row})

    def asked(
        self, line: HTTPConnection, path: str, body: Any, accept: str = "application/json"
    ) -> tuple[int, float, float]:
        """The status of a reply, and the seconds until its first answer and its end."""
        begin = time.perf_counter()
        line.request("POST", path, json.dumps(body), {"content-type": "application/json", "accept": accept})
        reply = line.getresponse()
        reply.read(1)
        first = time.perf_counter() - begin
        reply.read()
        return reply.status, first, time.perf_counter() - begin

    def end(self) -> None:
        """End the server and its processes."""
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.communicate()


@contextmanager
def server(model: str, smoke: bool, waiting: int = 20) -> Iterator[tuple[Server, list[int]]]:
    """A server over the loan table, with the numbers of the rows that are rejected."""
    X, y = loans.load()
    made = loans.pipeline()
    if model == "forest":
        made.set_params(tree=RandomForestClassifier(10 if smoke else 100, max_depth=5, random_state=SEED))
    made.fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        joblib.dump(made, Path(folder) / "model.joblib")
        X.to_csv(Path(folder) / "loans.csv", index=False)
        one = Server(Path(folder), "model.joblib", waiting)
        try:
            yield one, np.flatnonzero(made.predict(X) == "rejected").tolist()
        finally:
            one.end()


def most(seconds: Sequence[float]) -> float:
    """What 95 % stay below."""
    return float(np.quantile(seconds, 0.95))


def measure(smoke: bool) -> Iterator[Number]:
    """A person at the page, trees asked about by a program, slow questions of many beside fast ones."""
    about = {"data": "loans", "workers": WORKERS}
    yield from _page(smoke, about)
    yield from _trees(smoke, about)
    yield from _many_users(smoke, about)


def _page(smoke: bool, about: dict[str, Any]) -> Iterator[Number]:
    """One person: sliders, first answers and proofs of a forest of 100 trees, and the size of the page."""
    rounds, count = (1, 3) if smoke else (3, 100)
    with server("forest", smoke) as (one, rejected):
        line = HTTPConnection("127.0.0.1", one.port)
        rows = [rejected[k % len(rejected)] for k in range(rounds * count)]
        scores = [one.asked(line, "/api/v1/score", {"row": row})[2] for row in rows]
        found = [
            one.asked(line, "/api/v1/explain", {"row": row, "target": "approved", "card": True}, "text/event-stream")
            for row in rows
        ]
        line.request("GET", f"/?row={rejected[0]}")
        size = len(line.getresponse().read())
        for name in ("page.js", "what-if.js", "what-if.css", "card.css"):
            line.request("GET", f"/static/{name}")
            size += len(line.getresponse().read())

    def quantiles(values: Sequence[float]) -> list[float]:
        return [most(values[k * count : (k + 1) * count]) for k in range(rounds)]

    about = {**about, "requests": len(rows)}
    yield Number("forest 100 x 5: a score", quantiles(scores), "s", {"limit": INTERACTION}, about)
    yield Number("forest 100 x 5: first answer", quantiles([one[1] for one in found]), "s", {"limit": FIRST}, about)
    yield Number("forest 100 x 5: proven", quantiles([one[2] for one in found]), "s", {"limit": PROVEN}, about)
    yield Number("the page with all it loads", [size / 1e6], "MB", {"limit": PAGE_KILOBYTES / 1e3}, about)


def _trees(smoke: bool, about: dict[str, Any]) -> Iterator[Number]:
    """As many explanations of a tree as come back in a minute, from four who ask without a pause."""
    length = 1.0 if smoke else SECONDS
    with server("tree", smoke) as (one, rejected):
        until = time.perf_counter() + length

        def ask(first: int) -> list[tuple[int, float]]:
            line, found, row = HTTPConnection("127.0.0.1", one.port), [], first
            while time.perf_counter() < until:
                status, _, seconds = one.asked(
                    line, "/api/v1/explain", {"row": rejected[row % len(rejected)], "target": "approved"}
                )
                found.append((status, seconds))
                row += 4
            return found

        with ThreadPoolExecutor(4) as threads:
            found = [reply for some in threads.map(ask, range(4)) for reply in some]
    good = [seconds for status, seconds in found if status == 200]
    about = {**about, "requests": len(found), "errors": len(found) - len(good)}
    yield Number("tree: explanations a second", [len(good) / length], "1/s", {"limit": REQUESTS_A_SECOND}, about)
    yield Number("tree: an explanation, four at once", [most(good)], "s", {}, about)


def _many_users(smoke: bool, about: dict[str, Any]) -> Iterator[Number]:
    """Fast questions (scores) of one person while many ask slow ones."""
    users = 4 if smoke else SLOW_USERS
    with server("forest", smoke, waiting=2 * users) as (one, rejected):
        slow: list[int] = []

        def ask(user: int) -> None:
            body = {"row": rejected[user % len(rejected)], "target": {"class": "approved", "probability": 0.8}, "k": 5}
            slow.append(one.asked(HTTPConnection("127.0.0.1", one.port, timeout=600), "/api/v1/explain", body)[0])

        threads = [threading.Thread(target=ask, args=(user,)) for user in range(users)]
        for thread in threads:
            thread.start()
        line, fast = HTTPConnection("127.0.0.1", one.port), list[float]()
        while any(map(threading.Thread.is_alive, threads)):
            fast.append(one.asked(line, "/api/v1/score", {"row": rejected[0]})[2])
            time.sleep(0.05)
    about = {**about, "users": users, "errors": sum(status != 200 for status in slow), "requests": len(fast)}
    yield Number("a score beside slow questions of 50 users", [most(fast)], "s", {"limit": FAST}, about)


MEASURES: dict[str, Callable[[bool], Iterator[Number]]] = {"serving": measure}

if __name__ == "__main__":
    main(MEASURES, __doc__ or "")
