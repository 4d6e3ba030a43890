"""What a record says about itself: its hash, and the words that must follow from its numbers. No model is asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from butfor.audit.result import CheckColumn
from butfor.claim import Stated
from butfor.solvers.choose import SOLVERS
from butfor.solvers.outcome import Credit, Status
from butfor.space.space import same
from butfor.verdict.certificate import Certificate, reason
from butfor.verdict.verify import CHECKS

WORDS_BEFORE = {
    "no answer was found; there may be one": "no answer was found, although no limit was reached; there may be one"
}
"""Reasons in records of earlier versions, and how they are said now."""


CHECKS_BEFORE = 3
"""How many of the checks there were in earlier versions."""

NONE_FOUND = {solver.name: solver.none_found for solver in SOLVERS}
"""What it means if a solver finds nothing, by its name."""


def record_checks(stated: Stated) -> Iterator[CheckColumn]:
    """The checks of records that need no model."""
    sealed, every = stated.answers.sealed, np.arange(len(stated))
    if sealed is not None:
        words = {} if sealed else dict.fromkeys(every.tolist(), "no hash: only what can be recomputed was checked")
        yield CheckColumn(every, [sealed or None] * len(stated), lambda _: "the hash of the record", words)
    yield _words(stated)


def _words(stated: Stated) -> CheckColumn:
    """Check that the sentences of certificates, which people read, follow from their facts."""
    target, answers = stated.answers.question.target, stated.answers
    known = [text.format(target=target) for text in CHECKS.values()]
    found = np.isin(np.arange(len(stated)), stated.found).tolist()
    idle = np.ones(len(stated), dtype=np.bool_)
    idle[stated.found] = same(stated.starts[stated.found], answers.point_codes[stated.found]).all(axis=1)
    passed, words = list[bool | None](), dict[int, str]()
    for i, (certificate, has) in enumerate(zip(stated.certificates, found, strict=True)):
        rank = int(answers.ranks[i])
        wrong = _wrong_checks(certificate, known, has) or _wrong_facts(certificate, rank, bool(idle[i]))
        fine, told = (False, wrong) if wrong else _follows(certificate, target, rank)
        passed.append(fine)
        words |= {i: told} if told else {}
    return CheckColumn(
        np.arange(len(stated)), passed, lambda _: "the words of the certificate follow from its facts", words
    )


def _follows(certificate: Certificate, target: str, rank: int) -> tuple[bool | None, str]:
    """Whether the reason follows from the facts, and what was found. Version 0.1 gave every answer the words of the first."""
    solver = solver_of(certificate)
    none_found = NONE_FOUND.get(solver, Credit.none_found)
    due = reason(certificate, target, none_found, rank)
    if WORDS_BEFORE.get(certificate.why, certificate.why) in (due, reason(certificate, target, none_found)):
        return True, ""
    if solver not in NONE_FOUND and due.startswith(Credit.none_found):
        return None, "it was a solver that is not here"
    return False, f"they amount to: {due}"


def solver_of(certificate: Certificate) -> str:
    """The name of the solver that gave the answer, without those that it handed parts to."""
    return certificate.solver.partition(":")[0].partition(",")[0]


def _wrong_checks(certificate: Certificate, known: list[str], found: bool) -> str:
    """What is wrong with the checks that a certificate lists; empty if nothing is."""
    listed = [text for text, _ in certificate.checks]
    if listed not in ([], known, known[:CHECKS_BEFORE]) or (found and not listed):
        return f"it lists the checks {listed}, and butfor makes {known}"
    passed = all(fine for _, fine in certificate.checks)
    if found and not passed:
        return "it says that a check failed, and an answer that fails one is not shown"
    if listed and passed and not found:
        return "it says that all checks passed, and there is no answer"
    return ""


def _wrong_facts(certificate: Certificate, rank: int, idle: bool) -> str:
    """What contradicts the status; empty if nothing does. An `idle` answer changes nothing."""
    if certificate.conflict and certificate.status is not Status.PROVEN_INFEASIBLE:
        return f"it names a conflict, and the status is {certificate.status.name}"
    if rank > 1 and idle:
        return f"it is said to be answer {rank} to its row, and it changes nothing"
    return ""
