"""DiCE and OCEAN in an environment of their own, which is made in a cache folder the first time."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

WORKER = Path(__file__).with_name("rival_worker.py")
PACKAGES = ("oceanpy", "dice-ml", "pyarrow")
CACHE = Path.home() / ".cache" / "butfor-rivals"


def named() -> Path | None:
    """The Python 3.12 that the variable RIVAL_PYTHON of the environment names (`make` passes it on)."""
    found = os.environ.get("RIVAL_PYTHON")
    return Path(found) if found else None


def environment(base: Path | None, cache: Path = CACHE) -> tuple[Path | None, str]:
    """A Python with the rivals in it, made with the Python `base`; else what stands in the way."""
    if base is None:
        return None, "no Python for the rivals was named by RIVAL_PYTHON"
    home = cache / f"scikit-learn-{version('scikit-learn')}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        sklearn = f"scikit-learn=={version('scikit-learn')}"
        for command in (
            [str(base), "-m", "venv", str(home)],
            [str(python), "-m", "pip", "install", "--quiet", *PACKAGES, sklearn],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                return None, done.stderr.strip()[-500:]
        (home / "ready").touch()
    return python, ""


def work(python: Path, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the rivals say of a job, line by line: the versions first, then a line for each rival and row.

    A job names the `rivals` and holds the fitted `model`, the data `X` and `y`, the `rows`, how many `answers` of class 1 are
    wanted, a `seed`, the `limit` in seconds for a row, and the `patience` after which a rival begins no further row.
    """
    texts = {name: object for name, kind in job["X"].dtypes.items() if not pd.api.types.is_numeric_dtype(kind)}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "job.joblib"
        joblib.dump({**job, "X": job["X"].astype(texts)}, path)
        command = [str(python), str(WORKER), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            assert worker.stderr is not None
            for text in worker.stdout:
                yield json.loads(text)
            said = worker.stderr.read()
        if worker.returncode:
            yield {"rival": "all", "status": "ERROR", "why": said[-500:]}


@dataclass
class Answered:
    """What a method gave for each row: a table of answers or nothing, its seconds, those of the processor, and how it went."""

    answers: list[pd.DataFrame | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    def ask(self, question: Callable[[], pd.DataFrame | None]) -> None:
        """The answers to one more row, timed."""
        begin, used = time.perf_counter(), time.process_time()
        self.answers.append(question())
        self.seconds.append(time.perf_counter() - begin)
        self.processor_seconds.append(time.process_time() - used)


def dice(
    python: Path, model: Any, data: tuple[pd.DataFrame, Any], rows: pd.DataFrame, k: int, seed: int, limit: float,
    methods: tuple[str, ...] = ("random", "genetic", "kdtree"),
) -> dict[str, Answered]:  # fmt: skip
    """DiCE's answers of class 1 by each of its methods; a row that has none in time has none."""
    X, y = data
    job = {
        "model": model, "X": X, "y": y, "rows": rows, "rivals": [f"dice_{method}" for method in methods], "answers": k,
        "seed": seed, "limit": limit, "patience": np.inf,
    }  # fmt: skip
    lines = list(work(python, job))
    versions = next((line["versions"] for line in lines if "versions" in line), {})
    found = {}
    for method in methods:
        its = {line["row"]: line for line in lines if line.get("rival") == f"dice_{method}" and "row" in line}
        failed = [line for line in lines if "why" in line and line["rival"] in (f"dice_{method}", "all")]
        whys = [line["why"].strip().splitlines()[-1] for line in failed]  # above it are the paths of this machine
        every = [its.get(row, {}) for row in range(len(rows))]
        found[method] = Answered(
            [frame(line["points"], X) if line.get("points") else None for line in every],
            [line.get("seconds", np.nan) for line in every],
            [line.get("processor_seconds", np.nan) for line in every],
            {"status": [line.get("status", "ERROR") for line in every], "whys": whys, "versions": versions},
        )
    return found


def frame(points: list[list[Any]], X: pd.DataFrame) -> pd.DataFrame:
    """The points of an answer as a table like the data."""
    return pd.DataFrame(points, columns=list(X)).astype(X.dtypes.to_dict())
