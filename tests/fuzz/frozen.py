"""Answers to 500 questions, frozen: `python -m tests.fuzz.frozen FILE` writes them, or compares with those that it holds.

A change that moves code keeps every digit of them. A change that merges code may find another point at the same cost, and
states no weaker bound. They depend on the machine and on the libraries: write them before a change, compare after it.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

QUESTIONS = 500
SEED = 350_500
EACH = 5
"""Questions to each model."""


def frozen() -> Iterator[dict[str, Any]]:
    """Each answer to each question: what is handed out, what it costs, what is proven, and who did it."""
    from tests.fuzz.run import bench_of, questions

    asked = number = 0
    while asked < QUESTIONS:
        try:
            name, rng, bench = bench_of(SEED, number)
        except Exception:
            number += 1
            continue
        for q, (inquiry, rows, _) in enumerate(islice(questions(rng, bench), EACH)):
            asked += 1
            key = {"problem": f"{number}.{q}", "model": name}
            try:
                answers = bench.explain(inquiry, rows)
            except Exception as error:
                yield key | {"row": None, "status": type(error).__name__}
                continue
            yield from (key | _facts(rows[int(answer.row)], answer) for answer in answers)
        number += 1


def _facts(row: int, answer: Any) -> dict[str, Any]:
    certificate = answer.certificate
    return {
        "row": row,
        "point": repr(answer.point.values.tolist() if hasattr(answer.point, "values") else answer.point),
        "cost": repr(answer.cost),
        "bound": repr(certificate.bound),
        "status": certificate.status.name,
        "solver": certificate.solver,
    }


def compare(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> tuple[Counter[str], list[str]]:
    """How many answers are the same to the bit, and in what the others differ; each other one in words."""
    known = {(one["problem"], one["row"]): one for one in before}
    counts: Counter[str] = Counter()
    words = []
    for one in after:
        was = known.pop((one["problem"], one["row"]), {})
        differs = tuple(name for name in one if one[name] != was.get(name))
        counts[", ".join(differs) or "the same"] += 1
        place = f"{one['problem']} row {one['row']} ({one['model']})"
        words.extend(f"{place}: {name} {was.get(name)} -> {one[name]}" for name in differs)
    counts["no longer there"] += len(known)
    return counts, words


def main(file: str) -> None:
    """Write or compare."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    warnings.simplefilter("ignore")
    found = list(frozen())
    path = Path(file)
    if not path.exists():
        path.write_text("".join(json.dumps(one) + "\n" for one in found), encoding="utf-8")
        print(f"{len(found)} answers to {QUESTIONS} questions are written.")
        return
    counts, words = compare([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()], found)
    print(*words, dict(counts), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
