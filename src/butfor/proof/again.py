"""A proof in a file, compared with the answer that it is said to be about, and checked."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from butfor.claim import Claim
from butfor.errors import InputError
from butfor.proof.asked import ProofQuestion
from butfor.proof.asking import asked_about
from butfor.proof.checker import checker
from butfor.proof.proof_text import files_named, stem_of
from butfor.proof.prove import LEFT_TO_FLOATS
from butfor.records.whole_file import path_of


class GivenProofs:
    """The proofs of some answers: the file of one, or a folder that `bf.prove` wrote."""

    def __init__(self, given: str | os.PathLike[str]) -> None:
        self.path = path_of(given)
        if not self.path.exists():
            raise InputError(f"{self.path} is not there.", "A proof, or a folder of proofs, is needed.")

    def files(self, claim: Claim, i: int) -> list[Path]:
        """The files that may be about an answer: rows may have one label, and a folder proofs of several questions."""
        if not self.path.is_dir():
            return [self.path]
        stem = stem_of(claim.answers.labels[i], int(claim.answers.ranks[i]))
        return files_named(self.path, stem) or [self.path / f"{stem}.proof"]

    def verified(self, claim: Claim) -> list[tuple[bool, str]]:
        """Whether the proof of each answer is about it, proves its bound, and is accepted; and what was found."""
        asked = asked_about(claim)
        shared = asked.columns, hashlib.sha256(asked.file.content).hexdigest()
        each = ([self._verified(asked, shared, i, file) for file in self.files(claim, i)] for i in range(len(claim)))
        return [next((found for found in tried if found[0]), tried[0]) for tried in each]

    def _verified(self, asked: ProofQuestion, whole: tuple[Any, str], i: int, file: Path) -> tuple[bool, str]:
        by = checker()
        try:
            own = json.loads(by.opened(str(file)).decode().partition("\n")[0])
            shared = json.loads(by.beside(str(file), *own["question"]))
            joining = {key: own.get(key, type(its)()) for key, its in asked.joining(i).items()}
            told = (
                own["columns"],
                own["changes"],
                joining,
                shared["columns"],
                shared["model"]["sha256"],
                shared["wanted"],
            )
            by.check(str(file), {})
        except Exception as error:  # a proof can hold anything
            return False, f"{file.name} is not verified: {by.told(error)}"
        due = json.loads(json.dumps([asked.row(i), asked.changes(), asked.joining(i), *whole, asked.wanted[i]]))
        parts = (
            "row",
            "number of changes",
            "cost, form, relation, rule or ball",
            "table of columns",
            "model",
            "target",
        )
        other = [part for part, a, b in zip(parts, told, due, strict=True) if a != b]
        if other:
            return False, f"{file.name} is about another {other[0]}"
        bound = asked.claim.stated.certificates[i].bound
        below = np.inf if own["below"] is None else float.fromhex(own["below"])
        if below < bound * (1 - 2 * LEFT_TO_FLOATS):
            return False, f"{file.name} proves no more than {below:.6g}"
        return True, f"verified by {file.name}, in exact numbers"
