"""What a record says about itself: its hash, and the words that must follow from its numbers. No model is asked."""

from __future__ import annotations

from collections.abc import Iterator

from butfor.audit.result import Check
from butfor.explanation.explanation import Explanation
from butfor.solvers.choose import SOLVERS
from butfor.solvers.outcome import Credit, Status
from butfor.verdict.certificate import Certificate, reason
from butfor.verdict.verify import CHECKS

WORDS_BEFORE = {
    "no answer was found; there may be one": "no answer was found, although no limit was reached; there may be one"
}
"""Reasons in records of earlier versions, and how they are said now."""


CHECKS_BEFORE = 3
"""How many of the checks there were in earlier versions."""


def record_checks(answer: Explanation) -> Iterator[Check]:
    """The checks of a record that need no model."""
    if answer.sealed is not None:
        words = "" if answer.sealed else "no hash: only what can be recomputed was checked"
        yield Check("the hash of the record", answer.sealed or None, words)
    yield _words(answer)


def _words(answer: Explanation) -> Check:
    """Check that the sentences of a certificate, which people read, follow from its facts."""
    name = "the words of the certificate follow from its facts"
    wrong = _wrong_checks(answer) or _wrong_facts(answer)
    if wrong:
        return Check(name, False, wrong)
    certificate = answer.certificate
    meanings = [solver.none_found for solver in SOLVERS if solver.name == solver_of(certificate)]
    due = reason(certificate, answer.question.target, *meanings[:1])
    if due == WORDS_BEFORE.get(certificate.why, certificate.why):
        return Check(name, True)
    unknown = not meanings and due.startswith(Credit.none_found)
    return Check(
        name, None if unknown else False, "it was a solver that is not here" if unknown else f"they amount to: {due}"
    )


def solver_of(certificate: Certificate) -> str:
    """The name of the solver that gave the answer."""
    return certificate.solver.partition(":")[0]


def _wrong_checks(answer: Explanation) -> str:
    """What is wrong with the checks that the certificate lists; empty if nothing is."""
    certificate = answer.certificate
    listed = [text for text, _ in certificate.checks]
    known = [text.format(target=answer.question.target) for text in CHECKS.values()]
    if listed not in ([], known, known[:CHECKS_BEFORE]) or (answer.found and not listed):
        return f"it lists the checks {listed}, and butfor makes {known}"
    passed = all(fine for _, fine in certificate.checks)
    if answer.found and not passed:
        return "it says that a check failed, and an answer that fails one is not shown"
    if listed and passed and not answer.found:
        return "it says that all checks passed, and there is no answer"
    return ""


def _wrong_facts(answer: Explanation) -> str:
    """What contradicts the status; empty if nothing does."""
    certificate = answer.certificate
    if certificate.conflict and certificate.status is not Status.PROVEN_INFEASIBLE:
        return f"it names a conflict, and the status is {certificate.status.name}"
    if answer.rank > 1 and not answer.changes:
        return f"it is said to be answer {answer.rank} to its row, and it changes nothing"
    return ""
