"""The reproduction of TAO's table runs without the data sets and writes what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(
        not (ROOT / "reproductions").is_dir(), reason="the reproductions are not part of the source distribution"
    ),
]


def test_the_reproduction_of_tao_is_complete(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "reproductions.oblique_trees.tao",
        "--smoke",
        "--out",
        str(tmp_path),
    ]
    env = {**os.environ, "BUTFOR_DATA": str(tmp_path / "absent")}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "tao.jsonl").read_text().splitlines()]
    models = ["CART", "TAO, as written", "TAO", "forest", "logistic regression"]
    assert [record["model"] for record in records] == models * 4
    for record in records:
        assert 0 <= record["train_error"] < 50
        assert 0 < record["test_error"] < 50
        assert record["seconds"] > 0
        assert record["commit"] is None or len(record["commit"]) == 40
    errors, differences = (tmp_path / "tao.md").read_text().split("\n\n")
    assert len(errors.splitlines()) == 2 + len(records) / 2
    assert len(differences.splitlines()) == 2 + 2 * 2
    for table in (errors.splitlines(), differences.splitlines()):
        assert {line.count("|") for line in table} == {table[0].count("|")}
    mine = [record["test_error"] for record in records[2::5]][:2]
    forest = [record["test_error"] for record in records[3::5]][:2]
    gap = np.subtract(mine, forest)
    assert f"| TAO - forest | 2 | {gap.mean():+.2f} | {gap.std(ddof=1):.2f} |" in differences
