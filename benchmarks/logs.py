"""A log of answers: how many a second go into it, in which data base, and how long its chain takes to be verified."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import butfor as bf
from benchmarks.harness import Number, main
from butfor.datasets import loans
from tests.ledger.server import postgresql, program, told

ANSWERS_A_SECOND = 2000.0
"""The limit for answers that are logged a thousand at a time."""

SECONDS_OF_A_CHAIN = 30.0
"""The limit for a chain of a million entries."""

ASKED: dict[str, Any] = {"target": "approved", "constraints": ["fixed sex, age"], "progress": False}


def measure(smoke: bool) -> Iterator[Number]:
    """SQLite, and PostgreSQL if it is installed: calls of a thousand answers, of one, two writers, and the whole chain."""
    X, y = loans.load()
    explainer = bf.Explainer(loans.pipeline().fit(X, y), X)
    answers = explainer.explain(X.head(20) if smoke else X, **ASKED)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        places = {"SQLite": [f"{folder}/{name}.log" for name in "abc"]}
        if program("initdb") is not None:
            url = stack.enter_context(postgresql())
            for name in "abc":
                told(url.format("postgres"), f"CREATE DATABASE {name}")
            places["PostgreSQL"] = [url.format(name) for name in "abc"]
        for kind, (first, second, third) in places.items():
            yield from _written(kind, first, second, answers, smoke)
            yield from _asked(kind, third, explainer, X.head(20) if smoke else X, smoke)
            yield from _verified(kind, first, answers, smoke if kind == "SQLite" else True)


def _per_second(count: int, run: Any) -> float:
    begin = time.perf_counter()
    run()
    return count / (time.perf_counter() - begin)


def _written(kind: str, first: str, second: str, answers: bf.Explanations, smoke: bool) -> Iterator[Number]:
    """Answers a second: many in each call, one in each call, and from two writers."""
    about = {"data": "loans", "answers_a_call": len(answers)}
    repeats, singles = (2, 10) if smoke else (9, 200)
    with bf.Log(first) as log, bf.Log(second) as other:
        log.append(answers)
        speeds = [_per_second(len(answers), lambda: log.append(answers)) for _ in range(repeats)]
        yield Number(f"{kind}, calls of {len(answers):,} answers", speeds, "1/s", {"limit": ANSWERS_A_SECOND}, about)
        ones = [answers[i] for i in range(min(singles, len(answers)))]
        speeds = [_per_second(len(ones), lambda: [log.append(one) for one in ones]) for _ in range(min(repeats, 3))]
        yield Number(f"{kind}, calls of one answer", speeds, "1/s", about={**about, "answers_a_call": 1})

        def both() -> None:
            with ThreadPoolExecutor(4) as threads:
                list(threads.map(other.append, ones))

        speeds = [_per_second(len(ones), both) for _ in range(min(repeats, 3))]
        yield Number(f"{kind}, four writers, calls of one answer", speeds, "1/s", about={**about, "answers_a_call": 1})


def _asked(kind: str, where: str, explainer: bf.Explainer, rows: Any, smoke: bool) -> Iterator[Number]:
    """What `log=` adds to `explain`."""
    repeats = 2 if smoke else 9
    explainer.explain(rows, **ASKED)
    alone = sorted(_per_second(len(rows), lambda: explainer.explain(rows, **ASKED)) for _ in range(repeats))
    with bf.Log(where) as log:
        logged = [_per_second(len(rows), lambda: explainer.explain(rows, **ASKED, log=log)) for _ in range(repeats)]
    about = {"data": "loans", "answers_a_call": len(rows)}
    against = {"without a log": alone[len(alone) // 2]}
    yield Number(f"{kind}, explain(log=) of {len(rows):,} rows, one tree", logged, "1/s", against, about)


def _verified(kind: str, where: str, answers: bf.Explanations, smoke: bool) -> Iterator[Number]:
    """The chain of a million entries, or of a few."""
    size = 2 * len(answers) if smoke else 1_000_000
    with bf.Log(where) as log:
        while len(log) + len(answers) <= size:
            log.append(answers)
        entries, samples = len(log), []
        for _ in range(1 if smoke else 3):
            begin = time.perf_counter()
            assert log.verify().passed
            samples.append(time.perf_counter() - begin)
    megabytes = Path(where).stat().st_size / 1e6 if "://" not in where else None
    limit = {"limit": SECONDS_OF_A_CHAIN * entries / 1_000_000}
    about = {"data": "loans", "entries": entries, "megabytes": megabytes}
    yield Number(f"{kind}, a chain of {entries:,} entries verified", samples, "s", limit, about)


if __name__ == "__main__":
    main({"logs": measure}, __doc__ or "")
