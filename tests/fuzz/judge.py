"""Judge butfor's answers by plain enumeration with the estimator itself."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import ButforError
from butfor.solvers.outcome import Status
from tests.fuzz.balls import sampled
from tests.fuzz.case import Bench, Inquiry
from tests.fuzz.questions import Said, say
from tests.fuzz.rules import LOOSE, beside_grid, changed, in_domain
from tests.fuzz.tables import read_row

FAILURES = ("bound", "infeasible", "broken", "prediction", "cost", "changes", "raised", "differs")
"""Kinds of findings that make a run fail."""
REMARKS = ("missed", "gap", "refused")
"""Kinds of findings that are only counted."""
PROOF_SLACK = 1e-9
"""How much cheaper a change must be, as a share of its cost, to refute a bound: no more than the rounding of sums."""


@dataclass(frozen=True, eq=False)
class Finding:
    """Something that is wrong with an answer.

    - `kind`: one of `FAILURES` and `REMARKS`;
    - `words`: what is wrong;
    - `proof`: a point (in codes) that the estimator accepts and that is cheaper, or the point that was handed out;
    - `cost`: what that point costs.
    """

    kind: str
    words: str
    proof: FloatArray | None = None
    cost: float = np.inf


def judge(bench: Bench, inquiry: Inquiry, rows: Sequence[int], answers: Sequence[Any]) -> list[list[Finding]]:
    """All that is wrong with the answers to some rows, answer by answer."""
    before = _said(bench, inquiry, bench.rows(rows, inquiry.narrow))
    afters = predicted(bench, inquiry, [answer.point if answer.found else None for answer in answers])
    out = []
    for answer, after in zip(answers, afters, strict=True):
        k = int(answer.row)
        start, now = bench.codes[rows[k]], before.take([k])
        found = handed_out(bench, inquiry, start, now, answer, after) if answer.found else []
        out.append(found + refuted(bench, inquiry, start, now, answer))
    return out


def predicted(bench: Bench, inquiry: Inquiry, points: Sequence[Any]) -> list[Said | Exception | None]:
    """What the estimator says of the rows that are handed out, in their own types: of all at once if they agree."""
    given = [point for point in points if point is not None]
    if len(given) > 1 and len({_types(point) for point in given}) == 1:
        try:
            said = _said(bench, inquiry, _stacked(given))
        except Exception:
            pass  # one of them is refused: ask about each
        else:
            place = iter(range(len(given)))
            return [None if point is None else said.take([next(place)]) for point in points]
    return [None if point is None else _alone(bench, inquiry, point) for point in points]


def _types(point: Any) -> str:
    return str(point.dtype) if isinstance(point, np.ndarray) else str([repr(kind) for kind in point.dtypes])


def _stacked(points: list[Any]) -> Any:
    if isinstance(points[0], np.ndarray):
        return np.concatenate(points)
    import pandas as pd

    return pd.concat(points)


def _alone(bench: Bench, inquiry: Inquiry, point: Any) -> Said | Exception:
    try:
        return _said(bench, inquiry, point)
    except Exception as error:
        return error


def _said(bench: Bench, inquiry: Inquiry, table: Any) -> Said:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return say(bench.model, table, inquiry.aim.of_chances)


def handed_out(
    bench: Bench, inquiry: Inquiry, start: FloatArray, before: Said, answer: Any, after: Said | Exception | None
) -> list[Finding]:
    """What is wrong with the row that is handed out."""
    point = read_row(answer.point, bench.facts)
    found = []
    why = broken(bench, inquiry, start, point)
    if why:
        found.append(Finding("broken", f"the row that is handed out breaks {why}", point))
    if inquiry.ball and not bench.firm(inquiry, before, point):
        found.append(Finding("broken", f"a neighbour of the row breaks {inquiry.ball.text()}", point))
    if isinstance(after, Said) and not inquiry.aim.met(before, after)[0]:
        after = _alone(bench, inquiry, answer.point)  # the last digits may depend on the rows beside it
    if not isinstance(after, Said):
        found.append(Finding("prediction", f"the model raises {type(after).__name__} for the row", point))
    else:
        if not inquiry.aim.met(before, after)[0]:
            found.append(Finding("prediction", f"the model says {said_of(after)} of the row", point))
        price = float(bench.totals(inquiry, start, point[None], after)[0])
        if not abs(price - answer.cost) <= 1e-7 * abs(answer.cost):
            found.append(Finding("cost", f"the row costs {price!r}, not {answer.cost!r}", point, price))
    wrong = told_wrong(bench, start, point, answer)
    if wrong:
        found.append(Finding("changes", wrong, point))
    return found


def said_of(said: Said) -> str:
    """What the estimator says of one row, in words."""
    chances = "" if said.chances is None else f" with probabilities {said.chances[0].tolist()}"
    return f"{said.values[:1].tolist()[0]!r}{chances}"


def broken(bench: Bench, inquiry: Inquiry, start: FloatArray, point: FloatArray) -> str:
    """The first thing that a point breaks; empty if nothing."""
    free = {name for rule in inquiry.rules if rule.word == "may_be_missing" for name in rule.names}
    for j, fact in enumerate(bench.facts):
        if not in_domain(fact, start[j], point[[j]], fact.name in free)[0]:
            return f"the values of column {fact.name!r}: {fact.value(start[j])!r} became {fact.value(point[j])!r}"
    for rule in inquiry.rules:
        if not rule.holds(bench.facts, start, point[None], LOOSE, inquiry.rules)[0]:
            return f"{rule.text()}: {point.tolist()}"
    return ""


def told_wrong(bench: Bench, start: FloatArray, point: FloatArray, answer: Any) -> str:
    """How the changes differ from the difference between the row and the point; empty if they do not."""
    differ = changed(start, point[None])[0]
    names = [fact.name for fact, moved in zip(bench.facts, differ, strict=True) if moved]
    told = {str(change.name): change.after for change in answer.changes}
    if sorted(told) != sorted(names):
        return f"{sorted(told)} are told to change, and {names} do"
    for fact, code in zip(bench.facts, point.tolist(), strict=True):
        if fact.name in told and not np.array_equal([fact.code(told[fact.name])], [code], equal_nan=True):
            return f"{fact.name!r} is told to become {told[fact.name]!r}, and is {fact.value(code)!r}"
    return ""


def refuted(bench: Bench, inquiry: Inquiry, start: FloatArray, before: Said, answer: Any) -> list[Finding]:
    """Whether a point that the estimator accepts is cheaper than what was proven, or exists though nothing was found."""
    bound, status = float(answer.certificate.bound), answer.certificate.status
    if inquiry.ball and sampled(inquiry.ball, bench.facts):
        return []
    totals = bench.totals(inquiry, start, bench.points, bench.said)
    fine = bench.accepted(inquiry, before, start, bench.points, bench.said) & np.isfinite(totals)
    for j, fact in enumerate(bench.facts):
        fine &= ~beside_grid(fact, start[j], bench.points[:, j])
    at = np.flatnonzero(fine)
    at = at[np.argsort(totals[at], kind="stable")]
    points, totals = bench.points[at[:50]], totals[at[:50]]
    exact = not any(fact.real for fact in bench.facts)
    if len(points) and not exact and np.isfinite(bound) and bound > 0:
        points, totals = sharpened(bench, inquiry, start, before, points[:4], totals[:4])
    limit = np.inf if np.isinf(bound) else bound * (1 - PROOF_SLACK)
    for point, total in zip(points[:5], totals[:5], strict=True):
        if total >= limit and answer.found:
            break
        if not confirmed(bench, inquiry, start, before, point):
            continue
        words = f"a change that costs {float(total)!r} is accepted: {shown(bench, point)}"
        if status is Status.PROVEN_INFEASIBLE:
            return [Finding("infeasible", words, point, float(total))]
        if total < limit:
            return [Finding("bound", f"{words}; the bound is {bound!r}", point, float(total))]
        return [Finding("missed", words, point, float(total))]
    if exact and status is Status.WITHIN_GAP and len(totals) and bound < (1 - 1e-3) * totals[0]:
        return [
            Finding("gap", f"the bound is {bound!r}, and the optimum {float(totals[0])!r}", points[0], float(totals[0]))
        ]
    return []


def confirmed(bench: Bench, inquiry: Inquiry, start: FloatArray, before: Said, point: FloatArray) -> bool:
    """Whether the estimator accepts a point when it is asked about that row alone, in the types of the row as well.

    Rows of narrower types may be computed in float32, and a proof is about rows that are written like the given one.
    """
    after = bench.ask(point[None])
    if not bench.accepted(inquiry, before, start, point[None], after)[0] or not bench.firm(inquiry, before, point):
        return False
    return not inquiry.narrow or bool(inquiry.aim.met(before, bench.ask(point[None], inquiry.narrow))[0])


def sharpened(
    bench: Bench, inquiry: Inquiry, start: FloatArray, before: Said, points: FloatArray, totals: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Accepted points, cheapest first: these, and what lies between them and the row, along one real column each.

    Each line is cut into 16 parts, four times: the last part before the estimator accepts is cut again.
    """
    reals = [j for j, fact in enumerate(bench.facts) if fact.real and not np.isnan(start[j])]
    lines = [
        (k, j) for k in range(len(points)) for j in reals if points[k, j] != start[j] and not np.isnan(points[k, j])
    ]
    if not lines:
        return points, totals
    which, column = np.array(lines).T
    low, high = start[column], points[which, column]
    parts, single = np.linspace(0, 1, 17)[1:], np.array([bench.facts[j].single for j in column.tolist()])
    for _ in range(4):
        tried = low[:, None] + (high - low)[:, None] * parts
        tried[:, -1] = high
        tried = np.where(single[:, None], tried.astype(np.float32), tried)
        pool = np.repeat(points[which], 16, axis=0)
        pool[np.arange(len(pool)), np.repeat(column, 16)] = tried.ravel()
        fine = bench.accepted(inquiry, before, start, pool, bench.ask(pool)).reshape(tried.shape)
        fine[:, -1] = True
        first, every = fine.argmax(axis=1), np.arange(len(tried))
        low, high = np.where(first > 0, tried[every, first - 1], low), tried[every, first]
    made = points[which]
    made[np.arange(len(made)), column] = high
    made = np.concatenate([made, points])
    prices = bench.totals(inquiry, start, made, bench.ask(made))
    order = np.argsort(prices, kind="stable")
    return made[order], prices[order]


def shown(bench: Bench, point: FloatArray) -> str:
    """A point in the user's values."""
    return repr({fact.name: fact.value(code) for fact, code in zip(bench.facts, point.tolist(), strict=True)})


def put(
    bench: Bench, inquiry: Inquiry, rows: Sequence[int], twice: bool = False
) -> list[tuple[int, str, list[Finding]]]:
    """Ask about some rows and judge the answers: for each row its number, its verdict and what is wrong."""
    try:
        answers = list(bench.explain(inquiry, rows))
        again = list(bench.explain(inquiry, rows)) if twice else answers
        found = judge(bench, inquiry, rows, answers)
    except ButforError as error:
        return [(row, type(error).__name__, [Finding("refused", f"{type(error).__name__}: {error}")]) for row in rows]
    except Exception as error:
        words = f"{type(error).__name__}: {str(error)[:200]}"
        return [(row, type(error).__name__, [Finding("raised", words)]) for row in rows]
    for wrong, one, other in zip(found, answers, again, strict=True):
        if one != other and "TIME" not in (one.certificate.stopped.name, other.certificate.stopped.name):
            wrong.append(Finding("differs", "the same question has two different answers"))
    verdicts = [(rows[int(answer.row)], answer.certificate.status.name) for answer in answers]
    return [(*verdict, wrong) for verdict, wrong in zip(verdicts, found, strict=True)]
