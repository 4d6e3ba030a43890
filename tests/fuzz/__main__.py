"""`python -m tests.fuzz`: ask random questions, and judge the answers by enumeration."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzzer. Returns 1 if an answer was wrong or an error was raised, else 0."""
    given = _parser().parse_args(arguments)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # the models are too small for threads
        os.environ.setdefault(name, "1")
    from tests.fuzz.run import Orders, run, tell

    if given.problem:
        for line in tell(given.seed, given.problem, given.only):
            print(line)
        return 0
    plan = Orders(given.seed, given.minutes, given.problems, given.models, given.only, given.save, given.quiet)
    tally = run(plan)
    print(tally.table())
    print(tally.line())
    for path in tally.saved:
        print(path)
    if given.out:
        with given.out.open("a", encoding="utf-8") as file:
            file.write(tally.json() + "\n")
    return int(bool(tally.failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to ask (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="problem I of seed S is always the same")
    parser.add_argument("--problems", type=float, default=float("inf"), help="stop after so many rows were asked about")
    parser.add_argument("--models", type=float, default=float("inf"), help="stop after so many models")
    parser.add_argument("--only", default="", metavar="KIND", help="only estimators whose names contain this")
    parser.add_argument(
        "--problem", default="", metavar="I[.Q[.ROW]]", help="run this one alone, and tell all about it"
    )
    parser.add_argument("--out", type=Path, help="append the counts to this file, as a line of JSON")
    parser.add_argument("--save", type=Path, default=Path("fuzz-failures"), help="the folder for failing problems")
    parser.add_argument("--quiet", action="store_true", help="say nothing on the way")
    return parser


if __name__ == "__main__":
    sys.exit(main())
