"""Checks of an impossible answer: how far any admissible row gets, and the closest one that was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from butfor.audit.claim import Claim
from butfor.audit.result import Check
from butfor.explanation.explanation import Explanation
from butfor.problem.targets.score import close
from butfor.solvers.outcome import TOLERANCE
from butfor.verdict.certificate import CLOSEST_ROW, NEEDED, REACHED


def closest_row(claim: Claim) -> Iterator[Check]:
    """Check the closest row in place of an answer: it respects the constraints, and gets as far as is said."""
    answer = claim.answer
    if answer.closest_codes is None:
        return
    told = answer.certificate.notes[CLOSEST_ROW]
    name = f"the closest row that was found has {told:.4g}"
    if claim.target is None:
        yield Check(name, None, "the answer does not hold the target as data")
        return
    row = replace(claim, answer=replace(answer, point=answer.closest, point_codes=answer.closest_codes))
    before, after = claim.predicted(answer.factual), claim.predicted(answer.closest)
    (score,) = claim.target.scores(before, after)
    broken, inside = row.broken(), row.inside()
    if bool(claim.target.met(before, after)[0]) and not broken and inside:
        yield Check(name, False, "it meets the target, and no answer is said to")
    elif broken or not inside:
        yield Check(name, False, f"it breaks {', '.join(broken) or 'the range of a column'}")
    elif score is None or not close(score.after, told):
        yield Check(name, False, f"computed again: {score if score else 'the model gives no number'}")
    else:
        yield Check(name, True)


def how_far(claim: Claim, again: Explanation | None) -> Iterator[Check]:
    """Check how far any admissible row gets, with the answer that was found when the question was solved again."""
    notes = claim.answer.certificate.notes
    if not {REACHED, NEEDED} <= notes.keys():
        return
    reached, needed = notes[REACHED], notes[NEEDED]
    name = (
        f"no admissible row gets {'below' if reached > needed else 'above'} {reached:.4g}, and {needed:.4g} is needed"
    )
    now = {} if again is None else again.certificate.notes
    if not {REACHED, NEEDED} <= now.keys():
        yield Check(name, None, "it was not found again how far rows get")
        return
    slack = TOLERANCE * (1 + abs(reached))
    way = 1.0 if needed >= reached else -1.0
    if abs(now[NEEDED] - needed) > slack:
        yield Check(name, False, f"{now[NEEDED]:.4g} is needed")
    elif any(way * (one.get(CLOSEST_ROW, reached) - reached) > slack for one in (now, notes)):
        yield Check(name, False, "there is a row that gets further")
    elif way * (now[REACHED] - reached) > slack:
        yield Check(name, None, f"proven again only for {now[REACHED]:.4g}")
    else:
        yield Check(name, True)
