"""Checks of impossible answers: how far any admissible row gets, and the closest one that was found."""

from __future__ import annotations

from collections.abc import Iterator

from butfor.audit.result import CheckColumn
from butfor.claim import Claim
from butfor.problem.targets.score import close
from butfor.solvers.outcome import TOLERANCE
from butfor.verdict.evidence import Farthest


def closest_row(claim: Claim) -> Iterator[CheckColumn]:
    """Check the closest rows in place of answers: they respect the constraints, and get as far as is said."""
    at = claim.stated.near
    if not len(at):
        return
    far = {i: farthest.closest for i in at.tolist() if (farthest := claim.stated.certificates[i].evidence.farthest)}

    def name(i: int) -> str:
        return f"the closest row that was found has {far[i]:.4g}"

    if claim.target is None:
        words = dict.fromkeys(at.tolist(), "the answer does not hold the target as data")
        yield CheckColumn(at, [None] * len(at), name, words)
        return
    changes = claim.changes(at, claim.at_closest)
    met = claim.target.met(changes.before, changes.after)
    scores = claim.target.scores(changes.before, changes.after)
    broken, inside = claim.broken(changes), claim.inside(changes)
    words = {}
    for k, i in enumerate(at.tolist()):
        score = scores[k]
        if met[k] and not broken[k] and inside[k]:
            words[i] = "it meets the target, and no answer is said to"
        elif broken[k] or not inside[k]:
            words[i] = f"it breaks {', '.join(broken[k]) or 'the range of a column'}"
        elif score is None or not close(score.after, far[i]):
            words[i] = f"computed again: {score if score else 'the model gives no number'}"
    yield CheckColumn(at, [i not in words for i in at.tolist()], name, words)


def how_far(stated: Farthest, again: Farthest | None) -> tuple[bool | None, str]:
    """Check how far any admissible row gets, with what was found when the question was solved again."""
    if again is None:
        return None, "it was not found again how far rows get"
    slack, way = TOLERANCE * (1 + abs(stated.reached)), stated.way
    if abs(again.needed - stated.needed) > slack:
        return False, f"{again.needed:.4g} is needed"
    closest = (one.closest for one in (again, stated) if one.closest is not None)
    if any(way * (found - stated.reached) > slack for found in closest):
        return False, "there is a row that gets further"
    if way * (again.reached - stated.reached) > slack:
        return None, f"proven again only for {again.reached:.4g}"
    return True, ""
