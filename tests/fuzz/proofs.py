"""Proofs of what butfor claims of fuzzed problems, which the checker must accept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from tempfile import TemporaryDirectory

import butfor as bf
from butfor.errors import ButforError, RefutedError
from butfor.solvers.outcome import Status
from tests.fuzz.case import Bench, Inquiry
from tests.fuzz.judge import Finding

PROVEN_EVERY = 5
"""Every so many questions the claims are proven, too: a proof takes as long as many problems."""

PATIENCE = 10.0
"""Seconds for a proof."""

CLAIMS = (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)


def proven(bench: Bench, inquiry: Inquiry, rows: Sequence[int]) -> tuple[dict[str, int], list[Finding]]:
    """How many claims are proven to the checker, and why others are not; and what is wrong.

    A claim that costs nothing needs no proof, and is not counted.
    """
    try:
        answers = bench.explain(inquiry, rows)
    except Exception:
        return {}, []  # the judge asks the same, and says it
    certificates = [one.certificate for one in answers]
    claims = sum(one.status in CLAIMS and one.bound > 0 for one in certificates)
    if not claims:
        return {}, []
    try:
        with TemporaryDirectory() as folder:
            proofs = bf.prove(answers, bench.model, folder, time_limit=PATIENCE, progress=False)
    except RefutedError as error:
        return {"refuted": claims}, [Finding("bound", str(error))]
    except ButforError as error:
        return {_reason(str(error)): claims}, []
    except Exception as error:
        return {}, [Finding("raised", f"bf.prove: {type(error).__name__}: {str(error)[:200]}")]
    told = {"proven": 0}
    for one, certificate in zip(proofs, certificates, strict=True):
        if certificate.status in CLAIMS and certificate.bound > 0:
            word = ("proven to less" if one.less else "proven") if one.verified else one.words
            told[word] = told.get(word, 0) + 1
    return told, []


def _reason(words: str) -> str:
    """The kind of model or question that no proof is made of yet, without its numbers."""
    return re.split(r"(?<=the target)|[(:]| with | of \d|'| 0\.", words)[0].strip()
