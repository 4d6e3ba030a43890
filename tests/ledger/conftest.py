"""A log in each kind of data base. PostgreSQL is started in a temporary folder."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.ledger.server import postgresql, program, told

NUMBERS = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a server of ours, with a place for the name of a data base."""
    if program("initdb") is None or program("postgres") is None:
        pytest.skip("PostgreSQL is not installed")
    with postgresql("fsync=off") as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a log may be made: a file, or a data base without tables."""
    if request.param == "sqlite":
        return str(tmp_path / "answers.log")
    server: str = request.getfixturevalue("server")
    name = f"log{next(NUMBERS)}"
    told(server.format("postgres"), f"CREATE DATABASE {name}")
    return server.format(name)
