"""The certificates, each kind once, and where the answers come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from butfor.report.reported import Proof, Reported
from butfor.views.html import asked, noted
from butfor.views.languages import say, say_count
from butfor.views.markup import isolated, pairs, part, sentence
from butfor.views.page_words import check_told, status_told


def certificates(of: Reported) -> str:
    """The section about the question and the certificates. What many rows share is said once, and folded."""
    count = Counter(of.proofs)
    kinds = "".join(_kind(of, number, proof, rows) for number, (proof, rows) in enumerate(count.items(), 1))
    told = (
        say("1 kind of certificate") if len(count) == 1 else say("{count} kinds of certificates", count=str(len(count)))
    )
    return (
        f'<section class="butfor chapter"><h2>{say("The question and its certificates")}</h2>'
        f'<div class="facts first">{asked(of.first)}{_origin(of)}</div>'
        f"<details><summary>{told}</summary>{kinds}</details></section>"
    )


def _kind(of: Reported, number: int, proof: Proof, rows: int) -> str:
    checks = "".join(
        f'<li class="{"passed" if fine else "failed"}">{isolated(check_told(name, of.first))}</li>'
        for name, fine in proof.checks
    )
    recomputed = (
        f'<p class="note">{say("Recomputed with the model itself:")}</p><ul class="checks">{checks}</ul>'
        if checks
        else ""
    )
    many = say("1 answer") if rows == 1 else say("{count} answers", count=say_count(rows))
    facts = [(say("Method"), proof.solver), (say("Search"), proof.stopped)]
    return (
        f'<div class="kind" id="certificate-{number}"><h3>{status_told(proof.status)}: {many}</h3>'
        f"<p>{sentence(say(proof.meaning))}</p>{pairs(facts)}{recomputed}</div>"
    )


def _origin(of: Reported) -> str:
    """The model and the circumstances, as far as the answers share them."""
    answers, known = of.answers, of.answers.certificates
    versions = {name: version for one in known for name, version in one.versions.items()}
    facts = [
        ("Model", answers.model),
        ("Fingerprint", _shared(one.fingerprint for one in known)),
        ("Data fingerprint", answers.data_fingerprint),
        ("Rows", say_count(len(of.firsts))),
        ("Seed", _shared(one.seed for one in known)),
        ("Made", answers.created.replace("T", " ").replace("+00:00", " UTC")),
        ("Versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
    ]
    told = [*((say(name), value) for name, value in facts), *noted(answers.meta)]
    return part(say("Where it comes from"), pairs(told))


def _shared(values: Iterable[Any]) -> str:
    """All values that occur, as one text."""
    return ", ".join(map(str, dict.fromkeys(values)))
