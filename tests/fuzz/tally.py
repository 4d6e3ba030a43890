"""What a run counted: as a table, and as a line of JSON."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.judge import FAILURES, REMARKS

VERDICTS = (
    ("PROVEN_OPTIMAL", "optimal"),
    ("WITHIN_GAP", "in gap"),
    ("VALID", "valid"),
    ("PROVEN_INFEASIBLE", "infeasible"),
    ("NOT_FOUND", "not found"),
)


@dataclass
class Tally:
    """The counts of a run.

    - `seconds`, `shrinking`: how long it took, and how much of that went into making failing problems smaller;
    - `verdicts`: (estimator, target, verdict) -> problems;
    - `findings`: (estimator, target, kind) -> findings;
    - `claims`: how many proven claims were proven to the checker of proofs, and why others were not;
    - `first`: the first problem of each of these kinds of findings, and what was wrong.
    """

    seed: int
    problems: int = 0
    models: int = 0
    seconds: float = 0.0
    shrinking: float = 0.0
    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    findings: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    first: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    saved: list[Path] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many findings make the run fail."""
        return sum(count for (_, _, kind), count in self.findings.items() if kind in FAILURES)

    @property
    def rate(self) -> float:
        """Problems per second, without the time for making failing ones smaller."""
        return self.problems / (self.seconds - self.shrinking) if self.seconds else 0.0

    def line(self) -> str:
        """The state of the run in one line."""
        remarks = sum(self.findings.values()) - self.failed
        return (
            f"{self.problems} problems of {self.models} models in {self.seconds:.0f} s ({self.rate:.0f} per second): "
            f"{self.failed} failures, {remarks} remarks"
        )

    def table(self) -> str:
        """A line for each estimator: how its problems ended, and what was wrong."""
        kinds = [kind for kind in (*FAILURES, *REMARKS) if any(key[2] == kind for key in self.findings)]
        rows = [["estimator", "problems", *(word for _, word in VERDICTS), *kinds]]
        names = sorted({key[0] for key in (*self.verdicts, *self.findings)})
        for name in [*names, "all"]:
            counts = [_total(self.verdicts, name, verdict) for verdict, _ in VERDICTS]
            wrong = [_total(self.findings, name, kind) for kind in kinds]
            rows.append([name, *map(str, [_total(self.verdicts, name, ""), *counts, *wrong])])
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
        return "\n".join([*lines, *self._claim_lines(), *self._first_lines()])

    def _claim_lines(self) -> list[str]:
        told = [f"  {count} not: {why}" for why, count in self.claims.most_common() if why != "proven"]
        return [f"{self.claims['proven']} of {self.claims.total()} claims were proven to the checker of proofs", *told]

    def _first_lines(self) -> list[str]:
        shown = [(key, where) for key, where in self.first.items() if key[2] != "refused"]
        return [
            f"{kind}: {name}, {target}: {self.findings[name, target, kind]} times, first in problem {problem}: {words}"
            for (name, target, kind), (problem, words) in sorted(shown, key=lambda one: one[0][2])
        ]

    def json(self) -> str:
        """The counts as one line of JSON."""
        return json.dumps(
            {
                "commit": commit(),
                "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
                "python": platform.python_version(),
                "seed": self.seed,
                "problems": self.problems,
                "models": self.models,
                "seconds": round(self.seconds, 1),
                "per second": round(self.rate, 1),
                "failures": self.failed,
                "verdicts": [[*key, count] for key, count in sorted(self.verdicts.items())],
                "claims": dict(self.claims),
                "findings": [[*key, count, self.first[key][0]] for key, count in sorted(self.findings.items())],
            }
        )


def _total(counts: Counter[tuple[str, str, str]], name: str, last: str) -> int:
    return sum(count for key, count in counts.items() if name in (key[0], "all") and last in (key[2], ""))


def commit() -> str:
    """The commit of the source that runs; empty outside a repository."""
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
