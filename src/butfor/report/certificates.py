"""The certificates, each kind once, and where the answers come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from butfor.report.portfolio import Portfolio, Proof
from butfor.views.html import asked, noted
from butfor.views.markup import isolated, pairs, part, sentence


def certificates(of: Portfolio) -> str:
    """The section about the question and the certificates. What many rows share is said once, and folded."""
    count = Counter(of.proofs)
    kinds = "".join(_kind(number, proof, rows) for number, (proof, rows) in enumerate(count.items(), 1))
    told = "1 kind of certificate" if len(count) == 1 else f"{len(count)} kinds of certificates"
    return (
        f'<section class="butfor chapter"><h2>The question and its certificates</h2>'
        f'<div class="facts first">{asked(of.first)}{_origin(of)}</div>'
        f"<details><summary>{told}</summary>{kinds}</details></section>"
    )


def _kind(number: int, proof: Proof, rows: int) -> str:
    checks = "".join(
        f'<li class="{"passed" if fine else "failed"}">{isolated(name)}</li>' for name, fine in proof.checks
    )
    recomputed = (
        f'<p class="note">Recomputed with the model itself:</p><ul class="checks">{checks}</ul>' if checks else ""
    )
    many = f"{rows:,} {'answer' if rows == 1 else 'answers'}"
    return (
        f'<div class="kind" id="certificate-{number}"><h3>{proof.status}: {many}</h3>'
        f"<p>{sentence(proof.meaning)}</p>{pairs([('Method', proof.solver), ('Search', proof.stopped)])}{recomputed}</div>"
    )


def _origin(of: Portfolio) -> str:
    """The model and the circumstances, as far as the answers share them."""
    answers, known = of.answers, of.answers.certificates
    versions = {name: version for one in known for name, version in one.versions.items()}
    facts = [
        ("Model", answers.model),
        ("Fingerprint", _shared(one.fingerprint for one in known)),
        ("Data fingerprint", answers.data_fingerprint),
        ("Rows", f"{len(of.firsts):,}"),
        ("Seed", _shared(one.seed for one in known)),
        ("Made", answers.created.replace("T", " ").replace("+00:00", " UTC")),
        ("Versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
        *noted(answers.meta),
    ]
    return part("Where it comes from", pairs(facts))


def _shared(values: Iterable[Any]) -> str:
    """All values that occur, as one text."""
    return ", ".join(map(str, dict.fromkeys(values)))
