"""What makes another answer to the same row a different one (docs/decisions/006-several-answers.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError, number
from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.relations import Apart, Fresh
from butfor.solvers.outcome import Outcome, Status, refuted
from butfor.solvers.solver import AbstractSolver
from butfor.space.space import Space, same

Difference = Literal["columns", "leaves"] | float | None
"""Another set of columns, another leaf, a distance, or what the solver distinguishes."""


def difference_of(given: Any) -> Difference:
    """The rule that the user named, checked."""
    if given is None or given in ("columns", "leaves"):
        return given  # type: ignore[no-any-return]
    message = (
        f"different={given!r} was given.",
        "It must be 'columns', 'leaves', or a distance above 0 and at most 1.",
    )
    if isinstance(given, str) or not 0 < number(given, *message) <= 1:
        raise InputError(*message)
    return float(given)


def left_to(solver: AbstractSolver, different: Difference) -> bool:
    """Whether a solver gives several answers by itself that differ by this rule."""
    if different == "leaves" and not solver.by_leaf:
        raise InputError(
            f"different='leaves' was given, and {solver.name} solves the question.",
            "Only a single tree has leaves that decide.",
            "Use different='columns', or a distance.",
        )
    return different == "leaves" or (different is None and solver.many)


def apart_from(
    different: Difference, space: Space, start: FloatArray, point: FloatArray, together: tuple[tuple[str, ...], ...]
) -> Relation | None:
    """What the next answer to a row must keep, given the point of an earlier one. None: nothing is left to differ in.

    `together` are the columns that belong together, and count as one.
    """
    if isinstance(different, float):
        return Apart(tuple(point.tolist()), different)
    fresh = Fresh.from_answer(space, start, point, together)
    return fresh if fresh.names else None


def undominated(found: Outcome, factuals: FloatArray, space: Space, most: int) -> Outcome:
    """At most so many answers to each row, cheapest first, without those that another one dominates.

    An answer is dominated if a cheaper one to its row changes nothing that it does not change as far, or farther in the
    same direction.
    """
    chosen = list[int]()
    for row in np.unique(found.row).tolist():
        start, first = factuals[row], list[int]()
        for i in np.flatnonzero(found.row == row).tolist():
            if len(first) < most and not space.no_farther(start, found.points[first], found.points[i]).any():
                first.append(i)
        chosen += first
    return found.take(np.array(chosen, dtype=np.intp))


def in_order(
    found: Outcome,
    factuals: FloatArray,
    space: Space,
    different: Difference,
    apart: IntArray,
    together: tuple[tuple[str, ...], ...] = (),
) -> Outcome:
    """The answers to each row, cheapest first, without those that are no different ones in this order.

    `apart` are the rows whose answers were asked for one by one. A search that is cut short may find a cheaper one later.
    The first bound of a row holds for all of its answers, and those that moved have no other.
    """
    kept, bound = list[int](), found.bound.copy()
    proven = np.array([status is Status.PROVEN_OPTIMAL for status in found.status()], dtype=np.bool_)
    asked_for = set(apart.tolist())
    for its in np.split(np.arange(len(found)), np.flatnonzero(np.diff(found.row)) + 1):
        order = its[np.argsort(found.cost[its], kind="stable")]
        row, first, cheapest = int(found.row[its[0]]), bound[its[0]], found.cost[order[0]]
        bound[order[np.cumsum(order != its) > 0]] = 0.0 if refuted(first, cheapest) else first
        start, chosen = factuals[row], list[int]()
        for i in order.tolist():
            earlier = found.points[chosen]
            if row in asked_for:
                rules = [apart_from(different, space, start, one, together) for one in earlier]
                new = _all_hold(rules, space, start, found.points[i])
            elif proven[i]:  # each lies in a leaf of its own, or is a row of its own
                new = not same(earlier, found.points[i]).all(axis=1).any()
            else:
                new = not space.no_farther(start, earlier, found.points[i]).any()
            chosen += [i] if new else []
        kept += chosen
    return replace(found, bound=bound).take(np.array(kept, dtype=np.intp))


def _all_hold(rules: Sequence[Relation | None], space: Space, start: FloatArray, point: FloatArray) -> bool:
    """Whether an answer keeps what the next answer must keep, after each of the earlier ones."""
    return all(rule is not None and rule.holds_between(space, start[None], point[None])[0] for rule in rules)
