"""Which solver for the problem of one leaf: times, failures and accuracy of each that is installed.

`python -m benchmarks.oblique.qp_solvers`. The rivals are no part of butfor's environment: install those that shall be
compared (daqp piqp proxsuite clarabel osqp quadprog highspy-extras); the missing ones are named.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.harness import ROOT, SEED, Number, arguments, head, write
from benchmarks.oblique.contenders import CONTENDERS, PATIENCE, TOLERANCE, Contender, EmptyLeafError, NotSolvedError
from benchmarks.oblique.leaf_problems import IMAGE, LeafProblem, Shape, problems
from butfor.arrays import FloatArray

ROWS = (4, 8, 12, 20)
COLUMNS = (9, 16, 57, 61, IMAGE**2)
COUNT = 20
REPEATS = 3
ACCURATE = 1e-6
"""An answer further outside its rows than this, or dearer than the best by this share, is counted as inaccurate."""


@dataclass(frozen=True)
class Answer:
    """What a contender made of one problem: how long it took, and the move or what it said instead."""

    seconds: float
    move: FloatArray | None
    said: str = "a move"


def shapes(smoke: bool) -> Iterator[Shape]:
    """The costs that occur, at the sizes that occur."""
    if smoke:
        yield from (Shape("L2", 4, 9), Shape("L1+L2", 4, 9), Shape("L1", 4, 9), Shape("Q", 4, IMAGE**2))
        return
    for columns in reversed(COLUMNS):
        for rows in ROWS:
            if columns == IMAGE**2:
                yield Shape("Q", rows, columns)
            yield Shape("L2", rows, columns)
            yield Shape("L1+L2", rows, columns)
            if columns == IMAGE**2:
                yield Shape("L1", rows, columns)


def measure(smoke: bool) -> Iterator[Number]:
    """A number for each shape and contender."""
    present = [contender for contender in CONTENDERS if not contender.missing]
    for shape in shapes(smoke):
        asked = list(problems(shape, 4 if smoke else COUNT, SEED))
        racing = [contender for contender in present if contender.takes(shape)]
        small = next(problems(replace(shape, rows=4, columns=IMAGE**2 if shape.cost == "Q" else 9), 1, SEED))
        for contender in racing:
            _answer(contender, small)  # compiles, and fills the caches
        answers = _race(racing, asked)
        best = [
            _best(problem, [said[k] for said in answers.values() if k < len(said)]) for k, problem in enumerate(asked)
        ]
        for contender, said in answers.items():
            about = {"contender": contender.name, "package": contender.package, "version": contender.version}
            size = {"cost": shape.cost, "rows": shape.rows, "columns": shape.columns}
            found = {**about, **size, "tolerance": TOLERANCE, **_quality(asked, said, best)}
            seconds = [answer.seconds for answer in said]
            budget = f"no further problem after {PATIENCE:g} s"
            yield Number(f"{shape}: {contender.name}", seconds, "s", about=found, budget=budget)


def _race(contenders: list[Contender], asked: list[LeafProblem]) -> dict[Contender, list[Answer]]:
    """The answers of each; they take turns, so that what else the machine does slows all of them.

    A problem that patience is too short for is left out, and so are all after it.
    """
    answers: dict[Contender, list[Answer]] = {contender: [] for contender in contenders}
    spent = dict.fromkeys(contenders, 0.0)
    for problem in asked:
        for contender in contenders:
            if spent[contender] < PATIENCE:
                answer = _answer(contender, problem)
                again = (
                    [_answer(contender, problem).seconds for _ in range(REPEATS - 1)] if answer.seconds < 0.1 else []
                )
                spent[contender] += answer.seconds + sum(again)
                answers[contender].append(replace(answer, seconds=median([answer.seconds, *again])))
    return answers


def _answer(contender: Contender, problem: LeafProblem) -> Answer:
    begin = time.perf_counter()
    move, said = None, "a move"
    try:
        move = contender(problem)
    except EmptyLeafError:
        said = "empty"
    except NotSolvedError as refused:
        said = str(refused)
    return Answer(time.perf_counter() - begin, move, said)


def _best(problem: LeafProblem, said: list[Answer]) -> float | None:
    """The least price of a move that keeps to the rows; none if nobody found one."""
    kept = [answer.move for answer in said if answer.move is not None and problem.violation(answer.move) <= TOLERANCE]
    return min(map(problem.price, kept), default=None)


def _quality(asked: list[LeafProblem], said: list[Answer], best: list[float | None]) -> dict[str, Any]:
    """How often no answer came or a wrong one, and the worst of those that came."""
    full = [(p, answer, least) for p, answer, least in zip(asked, said, best, strict=False) if p.feasible]
    empty = [answer for p, answer in zip(asked, said, strict=False) if not p.feasible]
    outside, dearer, inaccurate = [0.0], [0.0], 0
    for problem, answer, least in full:
        if answer.move is not None and least is not None:
            outside.append(problem.violation(answer.move))
            dearer.append(problem.price(answer.move) / least - 1)
            inaccurate += outside[-1] > ACCURATE or abs(dearer[-1]) > ACCURATE
    return {
        "feasible": len(full),
        "failed": sum(answer.move is None for _, answer, _ in full),
        "inaccurate": inaccurate,
        "worst_violation": max(outside),
        "worst_excess": max(dearer),
        "empty": len(empty),
        "empty_not_proven": sum(answer.said != "empty" for answer in empty),
        "left_out": len(asked) - len(said),
    }


def main() -> None:
    """A line on the screen as soon as a number is known, and a file of JSON lines."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else ROOT / "benchmarks" / "oblique" / "results")
    missing = sorted({contender.missing for contender in CONTENDERS if contender.missing})
    for reason in missing:
        print(reason, flush=True)
    for contender in CONTENDERS:
        if not contender.missing:
            contender.prepare()
    records = []
    with threadpool_limits(1):
        for number in measure(asked.smoke):
            print(f"qp_solvers: {number}", flush=True)
            records.append({**head("oblique/qp_solvers", asked.smoke), "missing": missing, **number.record()})
            if folder:
                write(records, folder / "qp_solvers.jsonl")


if __name__ == "__main__":
    main()
