"""What SECURITY.md and the pages on servers say of code and connections, watched by the interpreter itself."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import butfor as bf
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, X

CODE = {"compile", "exec", "import", "os.system", "subprocess.Popen", "pickle.find_class", "ctypes.dlopen"}
CONNECTIONS = {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.Request"}

_watched: list[str] | None = None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watched is not None and event in CODE | CONNECTIONS:
        _watched.append(f"{event} {args!r:.200}")


sys.addaudithook(_hook)  # it cannot be taken away again


@contextmanager
def watched() -> Iterator[list[str]]:
    """What happens meanwhile of all that can be the running of code, or a connection."""
    global _watched
    _watched = found = []
    try:
        yield found
    finally:
        _watched = None


def test_the_watch_sees_code_and_connections() -> None:
    with watched() as seen:
        eval("1 + 1")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
    assert {line.split()[0] for line in seen} >= {"compile", "exec", "socket.bind"}


def test_no_connection_is_opened(tmp_path: Path) -> None:
    with watched() as seen:
        answer = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE)
        answer.report(tmp_path / "answer.html")
        bf.check(answer, MODEL)
        bf.prove(answer, MODEL, tmp_path / "proofs")
    assert [line for line in seen if line.split()[0] in CONNECTIONS] == []


def a_record(folder: Path) -> Callable[[], object]:
    text = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE).to_json()
    return lambda: bf.check(bf.Explanation.from_json(text), MODEL)


def a_batch(folder: Path) -> Callable[[], object]:
    text = EXPLAINER.explain(X.iloc[[71, 206]], target="approved", constraints=POSSIBLE).to_jsonl()
    return lambda: bf.Explanations.from_jsonl(text)


def constraints_as_text(folder: Path) -> Callable[[], object]:
    return lambda: EXPLAINER.explain(ROW, target="approved", constraints=["income <= 90000", "only_up education"])


def rules(folder: Path) -> Callable[[], object]:
    (folder / "rules.toml").write_text('target = "approved"\ncost = "L1 + 0.1*L0"\nconstraints = ["income <= 90000"]\n')
    return lambda: bf.rules(folder / "rules.toml")


@pytest.mark.parametrize("source", [a_record, a_batch, constraints_as_text, rules])
def test_what_is_read_is_data_and_nothing_of_it_is_run(
    source: Callable[[Path], Callable[[], object]], tmp_path: Path
) -> None:
    read = source(tmp_path)
    read()  # by now, Python has imported what the reader needs
    with watched() as seen:
        read()
    assert seen == []
