"""A report of 1,000 rows: under 5 MB, in 3 s; and 10,000 answers as a table with a line per change, in 1 s."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import butfor as bf
from benchmarks.harness import Number, main, seconds
from butfor.datasets import loans

REPORT_SECONDS, REPORT_SIZE, FRAME_SECONDS = 3.0, 5.0, 1.0
"""The limits: seconds and megabytes of a report, and seconds of a table."""


def answered(rows: int) -> bf.Explanations:
    """Answers to rejected rows of the loan table, repeated as often as needed: each of them changes something."""
    X, y = loans.load()
    model = loans.pipeline().fit(X, y)
    rejected = X[model.predict(X) == "rejected"]
    asked = rejected.iloc[[i % len(rejected) for i in range(rows)]]
    return bf.Explainer(model, data=X).explain(asked, target="approved", constraints=[bf.fixed("sex", "age")])


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds and bytes of a report with groups, and seconds of a long table."""
    rows, many, repeats = (20, 40, 1) if smoke else (1000, 10_000, 5)
    answers, table = answered(rows), answered(many)
    about = {"answers": rows, "table": "loans, 10 columns"}
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")

        def report() -> None:
            answers.report(page, by="sex")

        yield Number("report", seconds(report, repeats), "s", {"limit": REPORT_SECONDS}, about)
        yield Number("size of a report", [page.stat().st_size / 1e6], "MB", {"limit": REPORT_SIZE}, about)

    def frame() -> None:
        table.to_frame("long")

    yield Number("long table", seconds(frame, repeats), "s", {"limit": FRAME_SECONDS}, {**about, "answers": many})


if __name__ == "__main__":
    main({"reports": measure}, __doc__ or "")
