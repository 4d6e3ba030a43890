"""A lease is held by one at a time, and by nobody once its owner has gone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from butfor.portfolio import lease
from butfor.portfolio.lease import held, leased


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "part"
    with leased(path) as mine:
        assert mine
        assert held(path)
        with leased(path) as too:
            assert not too
        assert held(path), "who did not get it does not give it back"
    assert not held(path)
    with leased(path) as mine:
        assert mine


def test_an_owner_that_has_ended_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "part"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    path.write_text(json.dumps({"host": socket.gethostname(), "process": ended.pid}))
    assert not held(path)
    with leased(path) as mine:
        assert mine


@pytest.mark.parametrize("owner", ["", '{"host": "another machine", "process": 1}'])
def test_a_lease_expires_unless_its_owner_touches_it(owner: str, tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_text(owner)
    assert held(path)
    with leased(path) as mine:
        assert not mine
    old = time.time() - lease.EXPIRES - 1
    os.utime(path, (old, old))
    assert not held(path)
    with leased(path) as mine:
        assert mine


def test_the_owner_touches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "EXPIRES", 0.2)
    path = tmp_path / "part"
    with leased(path):
        old = time.time() - 1000
        os.utime(path, (old, old))
        begin = time.monotonic()
        while not held(path):
            assert time.monotonic() - begin < 10, "it was not touched"
            time.sleep(0.01)
