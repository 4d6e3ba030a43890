"""The interface against its own description, by schemathesis: random requests, good ones and bad ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.served import Served

TOOL = Path(sys.executable).with_name("schemathesis")
pytestmark = [
    pytest.mark.web,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL.exists(), reason="schemathesis is not installed: make test-web"),
]

MEANT = "positive_data_acceptance,unsupported_method"
"""A question may be of the right form and name a column that is not there; other methods are answered by the door."""


def test_no_request_is_answered_otherwise_than_described(tmp_path: Path) -> None:
    served = Served(tmp_path)
    try:
        command = [
            TOOL,
            "run",
            f"{served.address}api/v1/openapi.json",
            "--max-examples",
            "30",
            "--seed",
            "0",
            "--checks",
            "all",
        ]
        done = subprocess.run([*command, "--exclude-checks", MEANT], capture_output=True, text=True, check=False)
    finally:
        served.kill()
    assert done.returncode == 0, done.stdout[-5000:]
