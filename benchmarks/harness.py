"""Honest timing, and one JSON line a number: what was measured, where, at which commit, against what."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
SEED = 0
UNLIMITED = "no time limit"


@dataclass(frozen=True)
class Number:
    """One measured number.

    `samples` are the repeats of which `value` is the median. `against` names limits and rivals in the same unit.
    """

    name: str
    samples: Sequence[float]
    unit: Literal["s", "1/s", "MB"]
    against: Mapping[str, float] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    seed: int = SEED
    budget: str = UNLIMITED

    @property
    def value(self) -> float:
        """The median of the repeats."""
        return median(self.samples)

    def ratios(self) -> dict[str, dict[str, float]]:
        """Each limit or rival, and how many times better than it we are (1 or more: reached)."""
        sign = 1 if self.unit == "1/s" else -1
        return {name: {"value": bar, "ratio": (self.value / bar) ** sign} for name, bar in self.against.items()}

    def record(self) -> dict[str, Any]:
        """The JSON line."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "against": self.ratios(),
            "repeats": len(self.samples),
            "least": min(self.samples),
            "most": max(self.samples),
            "seed": self.seed,
            "budget": self.budget,
            **self.about,
            **where(),
        }

    def __str__(self) -> str:
        bars = "".join(f"; {name} {bar['value']:g}: {bar['ratio']:.3g} x" for name, bar in self.ratios().items())
        return f"{self.name}: {self.value:.4g} {self.unit} (median of {len(self.samples)}){bars}"


Measure = Callable[[bool], Iterator[Number]]


RUNS = ("src", "benchmarks", "reproductions", ":(exclude)*/results/*")
"""What must be as it was committed: what runs, and neither what it writes nor what is told of that."""


def of_this_commit(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of results that this very code wrote, before it was stopped."""
    here = where()
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() and not here["dirty"] else []
    return [line for line in known if line["commit"] == here["commit"] and not line["dirty"]]


@cache
def where() -> dict[str, Any]:
    """The last commit that changed what is measured, and that of the programs that measure it, unless they are the same.

    Beside them: whether the checkout differs from them, the machine, and the versions.
    """
    packages = ("butfor", "numpy", "scikit-learn", "numba", "highspy")
    commit, program = (_git("log", "-1", "--format=%H", "--", *paths) for paths in (("src",), RUNS))
    return {
        "commit": commit,
        **({} if program == commit else {"program": program}),
        "dirty": bool(_git("status", "--porcelain", "--", *RUNS)),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "threads_used": 1,
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
    }


def _git(*words: str) -> str | None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu() -> str:
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()


def seconds(run: Callable[[], object], repeats: int) -> list[float]:
    """How long `run` takes, each repeat; one more run before them compiles and fills the caches and is not counted."""
    run()
    return [_once(run) for _ in range(repeats)]


def _once(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def fresh(code: str, *arguments: str) -> tuple[float, list[float]]:
    """Run `code` in a process of its own: the seconds it lived, and the numbers that it printed."""
    begin = time.perf_counter()
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, [float(word) for word in done.stdout.split()]


def write(records: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The records as JSON lines; what stood there before is replaced (the history is in git)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def head(benchmark: str, smoke: bool) -> dict[str, Any]:
    """What each line begins with: the benchmark, and how busy the machine is."""
    return {"benchmark": benchmark, "smoke": smoke, "load": round(os.getloadavg()[0], 2)}


def arguments(about: str) -> argparse.Namespace:
    """`--smoke` and `--out`, the same for every script."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    return parser.parse_args()


def main(benchmarks: Mapping[str, Measure], about: str) -> None:
    """Run some benchmarks: a line on the screen as soon as a number is known, and a file of JSON lines each."""
    asked = arguments(about)
    folder = asked.out or (None if asked.smoke else RESULTS)
    for name, measure in benchmarks.items():
        records = []
        for number in measure(asked.smoke):
            print(f"{name}: {number}", flush=True)
            records.append({**head(name, asked.smoke), **number.record()})
        if folder:
            write(records, folder / f"{name}.jsonl")
