"""What certificates know beside cost and bound, of each answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from butfor.explain.largest_radius import largest_radii
from butfor.explain.worst_neighbour import worst_neighbours
from butfor.solvers.outcome import CLOSEST_ROW, LEFT_OPEN, NEEDED, REACHED, Outcome
from butfor.solvers.solver import Budget
from butfor.verdict.case import Case
from butfor.verdict.evidence import Evidence, Farthest
from butfor.verdict.verify import Verdict

EVIDENCE_NOTED = (REACHED, NEEDED, CLOSEST_ROW, LEFT_OPEN)
"""What solvers note down that certificates have a place of its own for."""


def evidence_of(
    outcome: Outcome, case: Case, verdict: Verdict, budget: Budget, blamed: Mapping[int, tuple[str, ...]]
) -> dict[int, Evidence]:
    """The evidence of those answers that have any."""
    reaches = _reaches(outcome)
    radii = largest_radii(outcome, case, budget, blamed)
    around, sure = worst_neighbours(outcome, verdict, case), _confidences(outcome, verdict, case)
    return {
        i: Evidence(reaches.get(i), radii.get(i), around.get(i), confidence=sure.get(i))
        for i in {*reaches, *radii, *around, *sure}
    }


def _confidences(outcome: Outcome, verdict: Verdict, case: Case) -> dict[int, float]:
    """At which level answers hold for the true coefficients, if a constraint asks for one."""
    at = np.flatnonzero(outcome.found() & verdict.passed.all(axis=1))
    rules = [rule for rule in case.question.constraints if rule.has_level]
    if not rules or not len(at):
        return {}
    changes = case.changes(outcome.row[at], verdict.points[at])
    levels = [level for rule in rules if (level := rule.confidence(changes, case.referee)) is not None]
    return dict(zip(at.tolist(), np.min(levels, axis=0).tolist(), strict=True)) if levels else {}


def _reaches(outcome: Outcome) -> dict[int, Farthest]:
    """How far rows without an answer get."""
    if REACHED not in outcome.notes:
        return {}
    reached, needed, closest = (outcome.notes[name] for name in (REACHED, NEEDED, CLOSEST_ROW))
    return {
        i: Farthest(float(reached[i]), float(needed[i]), float(closest[i]) if np.isfinite(closest[i]) else None)
        for i in np.flatnonzero(np.isfinite(reached)).tolist()
    }
