"""An answer about survival in words: the quantity, its values before and after, and the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.explanation.changes import Change
from butfor.problem.spec import from_spec
from butfor.problem.targets.risk import OnRisk
from butfor.problem.targets.survival import OnCurves
from butfor.views.words import by_changing

if TYPE_CHECKING:
    from butfor.explanation.explanation import Explanation
    from butfor.explanation.explanations import Explanations


SURVIVAL_KINDS = ("SurvivalBeside", "SurvivalChange", "SurvivalReach", "RiskChange", "HazardRatio")
Target = OnCurves | OnRisk


def target_of(answer: Explanation) -> Target | None:
    """The survival target of an answer; None if it is about something else."""
    spec = answer.question.spec.get("target")
    if not isinstance(spec, dict) or spec.get("kind") not in SURVIVAL_KINDS:
        return None
    found: Any = from_spec(spec)
    return found if isinstance(found, Target) else None


def headline(answer: Explanation, target: Target) -> str:
    """One line: the quantity, its values before and after, and the goal."""
    before, after, wanted = figures(answer.before, answer.after, target)
    return f"{target.name}: {before} → {after} (wanted: {wanted}), {by_changing(answer)}"


def sentence(answer: Explanation | Explanations) -> str:
    """The answer as one sentence.

    For example "if crp were 3 instead of 9, mean time to event would rise from 310 to 402 days (wanted: 400)". This is
    for answers with changes that were found for a target of `bf.survival`. For any other answer, the sentence is the
    reason in its certificate.
    """
    answer = answer.only
    target = target_of(answer)
    if target is None or not answer.found or not answer.changes:
        return answer.certificate.why if target is None else f"{target!r}: {answer.certificate.why}"
    conditions = [_condition(change) for change in answer.changes]
    listed = conditions[0] if len(conditions) == 1 else f"{', '.join(conditions[:-1])} and {conditions[-1]}"
    before, after, wanted = figures(answer.before, answer.after, target)
    way = "rise" if answer.after > answer.before else "fall"
    return f"if {listed}, {target.name} would {way} from {before} to {after} (wanted: {wanted})"


def _condition(change: Change) -> str:
    before, after = change.text
    return f"{change.label} were {after} instead of {before}"


def figures(before: float, after: float, target: Target) -> tuple[str, str, str]:
    """Three texts: the number before, the number after (with unit), the number wanted."""
    if isinstance(target, OnRisk):
        unit, wanted = "", target.wanted(before)
    else:
        unit = f" {target.unit}" if target.unit and target.quantity.timed else ""
        wanted = float(target.goal(np.array([before]))[0])
    was, now, goal = map(_short, (before, after, wanted))
    return was, now + unit, goal


def _short(value: float) -> str:
    """Four significant digits, and at least all digits before the decimal point."""
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
