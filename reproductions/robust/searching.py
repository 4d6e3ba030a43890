"""The seconds that solvers search, apart from reading the rows and making the certificates.

Where rounding decides, a solver asks the estimator. That is part of its search.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from butfor.explain.turns import Job


@contextmanager
def seconds_searched() -> Iterator[list[float]]:
    """The seconds of each search of what is asked inside. They are what papers about solvers report."""
    taken, done = list[float](), Job.done

    def timed(job: Job, *args: Any) -> Any:
        begin = time.perf_counter()
        try:
            return done(job, *args)
        finally:
            taken.append(time.perf_counter() - begin)

    with patch.object(Job, "done", timed):
        yield taken
