"""A server of PostgreSQL of our own, in a temporary folder. It is run by an ordinary user, because it refuses root."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/opt/homebrew/opt").glob("postgresql*/bin")]
"""Where Debian and Homebrew keep what is not on the path."""


OUTLIVED = '"$@" & read -r _; kill -INT $!; wait'
"""The server ends with its input: so it does not outlive its caller, however that died."""


def program(name: str) -> str | None:
    """A program of PostgreSQL, if it is installed."""
    return shutil.which(name, path=os.pathsep.join([*map(str, PROGRAMS), os.environ.get("PATH", "")]))


@contextmanager
def postgresql(*settings: str) -> Iterator[str]:
    """The URL of the server, with `{}` for the name of a data base."""
    initdb, postgres = program("initdb"), program("postgres")
    assert initdb is not None
    assert postgres is not None
    root = os.getuid() == 0
    user = "nobody" if root else getpass.getuser()
    as_user: dict[str, Any] = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if root else {}
    folder = Path(tempfile.mkdtemp(prefix="butfor-pg-"))  # short: a socket has no long path
    if root:
        shutil.chown(folder, user)
    with folder.joinpath("told.txt").open("w") as told_to:
        run: dict[str, Any] = {**as_user, "cwd": folder, "stdout": told_to, "stderr": told_to}
        try:
            words = [initdb, "-D", "data", "-U", "butfor", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
            subprocess.run(words, **run, check=True)
            more = [word for one in ("listen_addresses=", *settings) for word in ("-c", one)]
            words = ["sh", "-c", OUTLIVED, "sh", postgres, "-D", "data", "-k", str(folder), *more]
            with subprocess.Popen(words, **run, stdin=subprocess.PIPE):  # its end closes the pipe, and waits
                url = f"postgresql://butfor@/{{}}?host={folder}"
                _wait(url.format("postgres"))
                yield url
        finally:
            shutil.rmtree(folder)


def _wait(url: str) -> None:
    """Wait until the server answers."""
    import sqlalchemy as sa

    for _ in range(200):
        try:
            told(url, "SELECT 1")
            return
        except sa.exc.OperationalError:
            time.sleep(0.05)
    raise AssertionError("PostgreSQL does not answer")


def told(url: str, words: str) -> None:
    """Tell a server something that is no part of a transaction."""
    import sqlalchemy as sa

    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(sa.text(words))
    finally:
        engine.dispose()
