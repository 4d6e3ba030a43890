"""Where a dossier comes from, by versions and digests, and how somebody verifies it by commands."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from butfor.errors import InputError, InputTypeError
from butfor.records.whole_file import path_of
from butfor.report.lines import Line
from butfor.validation.facts import DossierSection, Heading, fact, fact_table
from butfor.validation.material import Material
from butfor.validation.sections import count

ANSWERS_FILE, DATA_FILE, PAGE_FILE, HOW_FILE, SUMS_FILE = (
    "answers.jsonl",
    "dossier.json",
    "dossier.html",
    "HOW_TO_VERIFY.txt",
    "SHA256SUMS",
)
"""The files of a dossier."""

MODEL_FILE = "MODEL"
"""What stands for the file of a model that is not named."""

READ_AT_ONCE = 1 << 20


def sha256(path: Path) -> str:
    """The digest of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(READ_AT_ONCE):
            found.update(piece)
    return found.hexdigest()


def digest(text: str) -> str:
    """The digest of a text, as it is written."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def files_of(files: Any) -> list[Line]:
    """The files that model and data come from, with their digests. They are read before any work."""
    if not isinstance(files, Mapping):
        raise InputTypeError(
            f"files={files!r} was given.", 'A dict is needed, such as {"model": "model.joblib", "data": "loans.csv"}.'
        )
    lines = list[Line]()
    for what, name in files.items():
        path = path_of(name)
        if not path.is_file():
            raise InputError(f"files={{{str(what)!r}: {str(name)!r}}} was given.", "There is no such file.")
        lines.append({"what": str(what), "name": path.name, "bytes": path.stat().st_size, "sha256": sha256(path)})
    return lines


def origin(of: Material, files: list[Line], answers: str, made: str) -> DossierSection:
    """Versions and digests."""
    proof = of.answers.certificates[0]
    here = {
        "what": "the answers",
        "name": ANSWERS_FILE,
        "bytes": len(answers.encode("utf-8")),
        "sha256": digest(answers),
    }
    versions = [{"library": name, "version": version} for name, version in proof.versions.items()]
    return DossierSection(
        "origin",
        "Where it comes from",
        (),
        (
            fact("made", "Made", made, made.replace("T", " ").replace("+00:00", " UTC")),
            fact("model", "Model", of.model),
            fact("fingerprint", "Fingerprint of the model", proof.fingerprint, proof.fingerprint or "none: it was not read"),
            fact("data_fingerprint", "Fingerprint of the data", of.answers.data_fingerprint),
            fact("seed", "Seed", of.wish.seed),
        ),
        (
            fact_table(
                "files", "Files", [*files, here],
                Heading("what", "What", look=""), Heading("name", "Name", look="typical"), Heading("bytes", "Bytes", count),
                Heading("sha256", "SHA-256", look="typical"),
            ),
            fact_table(
                "versions", "Versions", versions,
                Heading("library", "Library", look=""), Heading("version", "Version", look="typical"),
            ),
        ),
    )  # fmt: skip


def verify(of: Material, files: list[Line]) -> DossierSection:
    """How somebody verifies it."""
    versions = of.answers.certificates[0].versions
    model = next((shlex.quote(line["name"]) for line in files if line["what"] == "model"), MODEL_FILE)
    forests = [f"--plausible {shlex.quote(line['name'])}" for line in files if line["what"].startswith("plausible")]
    pins = shlex.join(["pip", "install", *(f"{name}=={one}" for name, one in versions.items() if name != "python")])
    able = sum(not why for why in of.unprovable)
    commands = [
        ("Are the files the ones that were written?", f"sha256sum --check {SUMS_FILE}"),
        (f"The same versions, under Python {versions.get('python', '')}:", pins),
        (
            "Do all certificates hold, with the model itself? Bounds are derived again.",
            " ".join([f"butfor check {ANSWERS_FILE} {model}", *forests]),
        ),
    ]
    if able:
        commands += [
            (f"Proofs of {count(able)} answers:", f"butfor prove {ANSWERS_FILE} {model} --out proofs"),
            ("They need no trust in butfor. Check them with Python alone:", "python proofs/butfor_check.py proofs"),
        ]  # fmt: skip
    if of.wish.command:
        commands.append(("The whole dossier again. Only times and the day may differ:", of.wish.command))
    says = [
        f"The answers stand in {ANSWERS_FILE}, with their rows. Where rows are about people, it holds personal data.",
        "Put model and data into this folder, and run the commands here. Loading a model file runs code that is in it.",
    ]
    if not able:
        says.append("No proof without butfor can be made of these answers. The section about limits says why.")
    return DossierSection("verify", "How to verify it", tuple(says), commands=tuple(commands))


def how_to_verify(section: DossierSection, title: str) -> str:
    """The same as a text file."""
    steps = [f"{number}. {does}\n\n   {command}" for number, (does, command) in enumerate(section.commands, 1)]
    return "\n\n".join([f"{section.title}: {title}", *section.says, *steps]) + "\n"
