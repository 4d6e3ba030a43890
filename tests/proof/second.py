"""The second checker, and whether it says what the first one says."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from butfor.proof.checker import checker, checker_file
from tests.proof.cases import Case

SOURCE = checker_file().with_suffix(".c")

VERIFIED = "VERIFIED: the bound, by the second checker"

NO_ROOM = ("too large", "out of its range", "this checker", "too far away")
"""What the second checker says of numbers that are larger than it counts."""


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler")
    program = tmp_path_factory.mktemp("second") / "butfor_check"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE, "-lm"], check=True)
    return program


def written(case: Case, folder: Path) -> Path:
    """The files of a case, signed as they are now."""
    folder.mkdir(parents=True)
    (folder / "model").write_text(case.content)
    sha256 = hashlib.sha256(case.content.encode()).hexdigest()
    shared = {**case.shared, "model": {"file": "model", "sha256": sha256, "kind": case.kind, "of": "a test"}}
    text = json.dumps(shared)
    (folder / "question").write_text(text)
    own = {**case.own, "question": ["question", hashlib.sha256(text.encode()).hexdigest()]}
    signed = Case(shared, own, case.steps, case.kind, case.content)
    (folder / "proof").write_text("\n".join(signed.lines()))
    return folder / "proof"


def said(second: Path, files: list[Path]) -> list[str]:
    """What the second checker says of each file."""
    lines = subprocess.run([second, *files], capture_output=True, text=True).stdout.splitlines()
    assert len(lines) == len(files)
    return [line.partition(": ")[2] for line in lines]


def first_accepts(file: Path) -> bool:
    try:
        checker().check(str(file), {})
    except Exception:
        return False
    return True


def both_verify(second: Path, true: Sequence[Case], folder: Path) -> bool:
    """Whether both checkers accept all cases. What is true has room."""
    files = [written(case, folder / str(k)) for k, case in enumerate(true)]
    return all(map(first_accepts, files)) and {*said(second, files)} == {VERIFIED}


def agree(second: Path, tried: Sequence[Case], folder: Path) -> list[bool]:
    """Which bounds the first checker accepts. The second one says the same, unless it has no room for a number.

    It looks at no answers, so the cases have none.
    """
    bounds = [replace(case, own={**case.own, "answer": None}) for case in tried]
    files = [written(case, folder / str(k)) for k, case in enumerate(bounds)]
    accepted = list(map(first_accepts, files))
    for file, yes, words in zip(files, accepted, said(second, files), strict=True):
        assert yes == (words == VERIFIED) or (yes and any(one in words for one in NO_ROOM)), (file, words)
    return accepted
