"""Checks of impossible answers: how far any admissible row gets, and the closest one that was found."""

from __future__ import annotations

from collections.abc import Iterator

from butfor.audit.claim import Claim
from butfor.audit.result import CheckColumn
from butfor.problem.targets.score import close
from butfor.solvers.outcome import TOLERANCE
from butfor.verdict.certificate import CLOSEST_ROW, NEEDED, REACHED, Certificate


def closest_row(claim: Claim) -> Iterator[CheckColumn]:
    """Check the closest rows in place of answers: they respect the constraints, and get as far as is said."""
    at, certificates = claim.stated.near, claim.stated.certificates
    if not len(at):
        return

    def name(i: int) -> str:
        return f"the closest row that was found has {certificates[i].notes[CLOSEST_ROW]:.4g}"

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
        elif score is None or not close(score.after, certificates[i].notes[CLOSEST_ROW]):
            words[i] = f"computed again: {score if score else 'the model gives no number'}"
    yield CheckColumn(at, [i not in words for i in at.tolist()], name, words)


def says_how_far(certificate: Certificate) -> bool:
    """Whether a certificate says how far any admissible row gets."""
    return {REACHED, NEEDED} <= certificate.notes.keys()


def how_far_in_words(certificate: Certificate) -> str:
    """What a certificate says about that."""
    reached, needed = certificate.notes[REACHED], certificate.notes[NEEDED]
    way = "below" if reached > needed else "above"
    return f"no admissible row gets {way} {reached:.4g}, and {needed:.4g} is needed"


def how_far(stated: Certificate, again: Certificate | None) -> tuple[bool | None, str]:
    """Check how far any admissible row gets, with what was found when the question was solved again."""
    if again is None or not says_how_far(again):
        return None, "it was not found again how far rows get"
    notes, now = stated.notes, again.notes
    reached, needed = notes[REACHED], notes[NEEDED]
    slack = TOLERANCE * (1 + abs(reached))
    way = 1.0 if needed >= reached else -1.0
    if abs(now[NEEDED] - needed) > slack:
        return False, f"{now[NEEDED]:.4g} is needed"
    if any(way * (one.get(CLOSEST_ROW, reached) - reached) > slack for one in (now, notes)):
        return False, "there is a row that gets further"
    if way * (now[REACHED] - reached) > slack:
        return None, f"proven again only for {now[REACHED]:.4g}"
    return True, ""
