"""Solve questions again, to confirm claimed bounds, impossibilities and conflicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from butfor.arrays import IntArray
from butfor.audit.closest import how_far
from butfor.audit.result import CheckColumn
from butfor.audit.written import solver_of
from butfor.claim import Claim
from butfor.errors import ButforError
from butfor.explain.arguments import count_of
from butfor.explain.blame import NO_BLAME, WORK, BlameLimits, doubted
from butfor.explain.different import difference_of
from butfor.explain.solve import Search
from butfor.explanation.explanations import Explanations
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.proof.again import GivenProofs
from butfor.solvers.outcome import Status, Stopped, tolerated
from butfor.solvers.solver import Budget
from butfor.space import frames
from butfor.verdict.certificate import Certificate
from butfor.verdict.evidence import Farthest

LAST_RANK = 100
"""Answers beyond this place among those to their row are not solved again."""

LEFT_OUT = "left out (bounds=False)"
"""What is said of a bound that was not to be derived again."""


@dataclass(frozen=True)
class CheckLimits:
    """How much may be done to prove claims again.

    - `seconds`: how long a claimed bound may take;
    - `threads`: how many threads share the answers;
    - `bounds`: whether bounds are derived again at all;
    - `proofs`: proofs that are verified in place of that, if they were given;
    - `advance`: is told how many more answers are done.
    """

    seconds: float
    threads: int = 1
    bounds: bool = True
    proofs: GivenProofs | None = None
    advance: Callable[[int], None] = lambda _: None

    def budget(self, rows: int) -> Budget:
        """The time for so many rows. None may use up that of another."""
        return Budget(self.seconds * rows, threads=self.threads, per_row=self.seconds)


class Again(NamedTuple):
    """What became of a claimed bound, and the certificate of the answer that was found again, if there is one."""

    passed: bool | None
    words: str
    certificate: Certificate | None = None


def bounds_again(claim: Claim, limits: CheckLimits) -> Iterator[CheckColumn]:
    """Check by solving again that nothing is cheaper, or that nothing is possible, and why."""
    certificates = claim.stated.certificates
    due = np.flatnonzero([one.bound > 0 for one in certificates])
    found = {i: Again(None, why) for i in due.tolist() if (why := _why_not(claim, i, limits))}
    asked = np.setdiff1d(due, list(found))
    limits.advance(len(claim) - len(asked))
    found |= zip(asked.tolist(), derived(claim.take(asked), limits) if len(asked) else (), strict=True)
    yield CheckColumn(
        due,
        [found[i].passed for i in due.tolist()],
        lambda i: _name(certificates[i], claim.answers.ranks[i]),
        {i: one.words for i, one in found.items() if one.words},
    )
    impossible = [i for i in asked.tolist() if _impossible(certificates[i])]
    if limits.proofs is not None:
        return
    yield from _how_far(claim, impossible, found, limits)
    yield from _blame(claim, [i for i in impossible if certificates[i].conflict], limits)


def _why_not(claim: Claim, i: int, limits: CheckLimits) -> str:
    """Why a bound is not derived again; empty if it is."""
    if not limits.bounds:
        return LEFT_OUT
    if not claim.whole:
        return "the answer does not hold the whole question as data"
    late = claim.answers.ranks[i] > LAST_RANK
    return f"answers beyond the {LAST_RANK}th to a row are not solved again" if late else ""


def _impossible(certificate: Certificate) -> bool:
    return certificate.status is Status.PROVEN_INFEASIBLE


def _name(certificate: Certificate, rank: int) -> str:
    if _impossible(certificate):
        return "there is no answer"
    answer = "answer" if rank == 1 else "answer that differs from those before it"
    return f"no {answer} costs less than {certificate.bound:.6g}"


def derived(claim: Claim, limits: CheckLimits) -> list[Again]:
    """Verify the proofs of the bounds, or solve the question again."""
    if limits.proofs is None:
        return solved(claim, limits)
    verified = limits.proofs.verified(claim)
    limits.advance(len(claim))
    return [Again(*one) for one in verified]


def solved(claim: Claim, limits: CheckLimits) -> list[Again]:
    """Solve the question again for all answers at once, and compare.

    What that does not confirm is solved again by itself. The later ones of several answers depend on the solver of the
    earlier ones. So the solver that an answer names is tried, too.
    """
    if len(claim) == 1:
        return [_solved_alone(claim, limits)]
    try:
        compared = [_compared(claim, i, one, limits) for i, one in enumerate(_asked(claim, "auto", limits))]
    except ButforError:  # each is refused in its own words
        compared = [Again(False, "")] * len(claim)
    for i, (one, rank) in enumerate(zip(compared, claim.answers.ranks.tolist(), strict=True)):
        if one.passed is False or (one.passed is None and rank > 1):
            compared[i] = _solved_alone(claim.take(np.array([i])), limits)
    return compared


def _solved_alone(claim: Claim, limits: CheckLimits) -> Again:
    """Solve the question of a single answer again, and compare."""
    (certificate,) = claim.stated.certificates
    made = None
    for way in ["auto"] if claim.answers.ranks[0] == 1 else ["auto", solver_of(certificate)]:
        try:
            (found,) = _asked(claim, way, replace(limits, advance=lambda _: None))
        except ButforError as refusal:
            made = made or Again(None, str(refusal))
            continue
        made = _compared(claim, 0, found, limits)
        if made.passed:
            break
    assert made is not None
    return made


class Found(NamedTuple):
    """All answers that were found to a row, in their order, as places among those to all rows."""

    answers: Explanations
    places: list[int]

    def certificate(self, rank: int) -> Certificate:
        """The certificate of the answer at a place of its row, or of the last one."""
        return self.answers.certificates[self.places[min(rank, len(self.places)) - 1]]


def _asked(claim: Claim, solver: str, limits: CheckLimits) -> list[Found]:
    """What is found for the row of each answer if the question is asked again. Each row is asked about once."""
    answers, starts = claim.answers, claim.stated.starts
    keys = [(row, start.tobytes()) for row, start in zip(answers.rows.tolist(), starts, strict=True)]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    at = np.array(sorted(first.values()))
    rank = count_of("rank", answers.ranks.max())
    found = _explained(claim, at, claim.known, Search(rank, solver, blame=NO_BLAME), limits)
    of_key = {keys[i]: one for i, one in zip(at.tolist(), found, strict=True)}
    return [of_key[key] for key in keys]


def _explained(
    claim: Claim, at: IntArray, constraints: tuple[AbstractConstraint, ...], search: Search, limits: CheckLimits
) -> list[Found]:
    """What is found for the rows of some answers."""
    table = frames.take(claim.stated.factuals, at)
    case = claim.asking.case(claim.answers.space.select(table), claim.target, claim.cost, constraints)
    search = replace(search, different=difference_of(claim.answers.question.spec.get("different")))
    found = claim.asking.solved(case, limits.budget(len(at)), search, limits.advance)
    ends = np.searchsorted(found.rows, np.arange(len(at) + 1)).tolist()
    return [Found(found, list(range(begin, end))) for begin, end in pairwise(ends)]


def _compared(claim: Claim, i: int, found: Found, limits: CheckLimits) -> Again:
    """Compare a claimed bound with what was found again."""
    claimed, cost, rank = claim.stated.certificates[i].bound, float(claim.answers.costs[i]), int(claim.answers.ranks[i])
    again, many = found.certificate(rank), len(found.places)
    slack = tolerated(claimed, claim.coin) if np.isfinite(claimed) else 0.0
    proven = again.status is Status.PROVEN_OPTIMAL
    if many < rank and proven:
        return Again(False, f"there is no answer {rank}, only {many}", again)
    if again.cost < claimed - slack:
        return Again(False, f"there is one at a cost of {again.cost:.6g}", again)
    if rank > 1 and proven and again.cost > cost + tolerated(cost, claim.coin):
        return Again(False, f"answer {rank} to the row costs {again.cost:.6g}", again)
    if again.bound >= claimed - slack:
        return Again(True, f"confirmed by {solver_of(again)}", again)
    if again.stopped is Stopped.INTERRUPTED:
        return Again(None, "not proven again: Ctrl-C ended it", again)
    return Again(None, f"not proven again in {limits.seconds:g} seconds", again)


def _how_far(
    claim: Claim, impossible: list[int], found: dict[int, Again], limits: CheckLimits
) -> Iterator[CheckColumn]:
    """Check how far any admissible row gets. Where that was not told for all answers at once, it is asked for one."""
    stated = {i: one for i in impossible if (one := claim.stated.certificates[i].evidence.farthest)}
    results = {}
    for i, one in stated.items():
        again = _farthest(found[i])
        if len(claim) > 1 and again is None:
            again = _farthest(_solved_alone(claim.take(np.array([i])), limits))
        results[i] = how_far(one, again)
    if results:
        yield CheckColumn(
            np.array(list(results)),
            [passed for passed, _ in results.values()],
            lambda i: str(stated[i]),
            {i: words for i, (_, words) in results.items() if words},
        )


def _farthest(again: Again) -> Farthest | None:
    return None if again.certificate is None else again.certificate.evidence.farthest


def _blame(claim: Claim, at: list[int], limits: CheckLimits) -> Iterator[CheckColumn]:
    """Check that each conflict makes the question impossible, and that no part of it does so by itself."""
    if not at:
        return
    certificates = claim.stated.certificates
    results = {i: _blamed(claim.take(np.array([i])), limits) for i in at}

    def name(i: int) -> str:
        conflict = certificates[i].conflict
        return f"{' and '.join(conflict)} alone make{'s' if len(conflict) == 1 else ''} it impossible"

    yield CheckColumn(
        np.array(at),
        [results[i][0] for i in at],
        name,
        {i: words for i, (_, words) in results.items() if words},
    )


def _blamed(claim: Claim, limits: CheckLimits) -> tuple[bool | None, str]:
    """Whether the conflict of a single answer is one, and what was found.

    Where the parts of it cannot be asked about with little effort, it is looked for again.
    """
    (certificate,) = claim.stated.certificates
    case = claim.asking.case(claim.answers.space.select(claim.stated.factuals), claim.target, claim.cost, claim.known)
    doubt = doubted(certificate.conflict, case, limits.budget(1), whole=certificate.stopped is not Stopped.EFFORT)
    if doubt is not None:
        return not doubt, doubt
    quiet, alone = replace(limits, advance=lambda _: None), np.zeros(1, dtype=np.intp)
    (found,) = _explained(claim, alone, claim.known, Search(blame=BlameLimits(1, WORK)), quiet)
    if found.certificate(1).conflict == certificate.conflict:
        return True, ""
    named = tuple(atom for one in claim.known for atom in one.atoms() if repr(atom) in certificate.conflict)
    (found,) = _explained(claim, alone, named, Search(blame=NO_BLAME), quiet)
    again = _compared(claim, 0, found, limits)
    return again.passed, again.words
