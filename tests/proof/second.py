"""The second checker, and whether it says what the first one says."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from butfor.proof.checker import checker, checker_file
from tests.proof.cases import Case, signed

SOURCE = checker_file().with_suffix(".c")

VERIFIED = "VERIFIED: the bound, by the second checker"

NO_ROOM = ("too large", "out of its range", "this checker", "too far away")
"""What the second checker says of numbers that are larger than it counts."""


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("second"), "-O2", "-Wall", "-Wextra", "-Wvla", "-Werror")


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, which ends where it does something that C does not define."""
    try:
        return compiled(
            tmp_path_factory.mktemp("watched"), "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"
        )
    except subprocess.CalledProcessError:
        pytest.skip("a compiler without sanitizers")


def compiled(folder: Path, *options: str) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler")
    program = folder / "butfor_check"
    subprocess.run([compiler, *options, "-o", program, SOURCE, "-lm"], check=True)
    return program


def written(case: Case, folder: Path, change: Callable[[str], str] = str) -> Path:
    """The files of a case, signed as they are now. change: what is made of the texts of the model, the question and the head."""
    folder.mkdir(parents=True)
    content = change(case.content).encode()
    (folder / "model").write_bytes(content)
    about = {"file": "model", "sha256": hashlib.sha256(content).hexdigest(), "kind": case.kind, "of": "a test"}
    text = change(json.dumps({**case.shared, "model": about})).encode()
    (folder / "question").write_bytes(text)
    head = change(json.dumps({**case.own, "question": ["question", hashlib.sha256(text).hexdigest()]}))
    (folder / "proof").write_bytes("\n".join(signed([head, *case.steps])).encode())
    return folder / "proof"


def said(second: Path, files: list[Path]) -> list[str]:
    """What the second checker says of each file."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    done = subprocess.run(
        [second, *files], capture_output=True, text=True, errors="replace", timeout=300, env=environment
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(files), done.stderr
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
