"""5,000 answers as a batch of JSON lines: about 5 MB, a second to write, a second to read; against records one by one."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import butfor as bf
from benchmarks.harness import Number, main, seconds
from butfor.datasets import loans

SECONDS, SIZE, MEMORY = 1.0, 5.0, 50.0
"""The limits: seconds to write and to read, and megabytes of the file and of the memory on top of the answers."""


def answered(rows: int) -> bf.Explanations:
    """Answers for rows of the loan table, which is repeated as often as needed."""
    X, y = loans.load()
    explainer = bf.Explainer(loans.pipeline().fit(X, y), data=X)
    asked = X.iloc[[i % len(X) for i in range(rows)]]
    return explainer.explain(asked, target="approved", constraints=[bf.fixed("sex", "age", "late_payments")])


def peak(run: Callable[[], object]) -> float:
    """The most memory, in megabytes, that `run` takes on top of what was there before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds, bytes and peak memory of a batch, against the same of a list of records."""
    count, repeats = (20, 1) if smoke else (5000, 5)
    answers = answered(count)
    about = {"answers": count, "table": "loans, 10 columns"}
    with tempfile.TemporaryDirectory() as folder:
        batch, records = Path(folder, "answers.jsonl"), Path(folder, "answers.json")

        def write() -> None:
            answers.to_jsonl(batch)

        def read() -> None:
            bf.Explanations.from_jsonl(batch)

        def write_records() -> None:
            records.write_text(answers.to_json(), encoding="utf-8")

        def read_records() -> None:
            bf.Explanations.from_json(records.read_text(encoding="utf-8"))

        for name, run, alike in (("write", write, write_records), ("read", read, read_records)):
            rival = seconds(alike, 1)[0]
            yield Number(name, seconds(run, repeats), "s", {"limit": SECONDS, "records": rival}, about)
            yield Number(f"memory to {name}", [peak(run)], "MB", {"limit": MEMORY, "records": peak(alike)}, about)
        size = batch.stat().st_size / 1e6
        yield Number("size", [size], "MB", {"limit": SIZE, "records": records.stat().st_size / 1e6}, about)


if __name__ == "__main__":
    main({"batches": measure}, __doc__ or "")
