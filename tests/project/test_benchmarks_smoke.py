"""The benchmarks and the axis-aligned reproduction run and write what they promise; no baseline beats us."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.__main__ import STEPS

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = [step for step in STEPS[: STEPS.index("swarm")] if not step.endswith("_picture")]
FIELDS = {
    "benchmark": str,
    "load": float,
    "name": str,
    "value": float,
    "unit": str,
    "against": dict,
    "repeats": int,
    "seed": int,
    "budget": str,
    "commit": str | None,
    "dirty": bool,
    "machine": dict,
}
MACHINE = {"cpu", "cores", "python", "numpy"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are not part of the source distribution"
    ),
]


def run(module: str, out: Path, tmp_path: Path) -> dict[str, list[dict[str, Any]]]:
    """The records that a module writes with --smoke, by file, on a machine without the data sets."""
    command = [sys.executable, "-W", "error", "-m", module, "--smoke", "--out", str(out)]
    env = {**os.environ, "BUTFOR_DATA": str(tmp_path / "absent")}
    env.pop("RIVAL_PYTHON", None)
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path.stem: [json.loads(line) for line in path.read_text().splitlines()] for path in out.glob("*.jsonl")}


@pytest.mark.long
def test_a_benchmark_writes_complete_lines(tmp_path: Path) -> None:
    found = run("benchmarks.tree_throughput", tmp_path / "out", tmp_path)
    assert set(found) == {"tree_throughput"}
    are_complete(found)
    assert "paper" in {bar for record in found["tree_throughput"] for bar in record["against"]}
    assert all("generated" in record["data"] for record in found["tree_throughput"])


@pytest.mark.long
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_writes_complete_lines_against_limits(name: str, tmp_path: Path) -> None:
    found = run(f"benchmarks.{name}", tmp_path / "out", tmp_path)
    assert set(found) == {name}
    are_complete(found)
    assert any(record["against"] for record in found[name]), "against a limit, a goal or a rival"


def are_complete(found: dict[str, list[dict[str, Any]]]) -> None:
    """Assert that the records have all fields, and ratios that fit."""
    for records in found.values():
        assert records
        for record in records:
            for field, kind in FIELDS.items():
                assert isinstance(record[field], kind), field
            assert record["value"] > 0
            assert set(record["machine"]) >= MACHINE
            for bar in record["against"].values():
                more = record["unit"] == "1/s"
                ratio = record["value"] / bar["value"] if more else bar["value"] / record["value"]
                assert bar["ratio"] == pytest.approx(ratio)


def test_the_memory_of_portfolios_is_drawn(tmp_path: Path) -> None:
    from benchmarks.harness import RESULTS
    from benchmarks.portfolios_picture import picture

    picture(RESULTS / "portfolios.jsonl", tmp_path / "memory.png")
    assert (tmp_path / "memory.png").stat().st_size > 1000


@pytest.fixture(scope="module")
def ensembles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[dict[str, Any]]]]:
    out = tmp_path_factory.mktemp("ensembles")
    return out, run("benchmarks.ensembles", out, out)


@pytest.mark.long
def test_ensembles_write_complete_lines(ensembles: tuple[Path, dict[str, list[dict[str, Any]]]]) -> None:
    _, found = ensembles
    assert set(found) == {"exact", "rivals", "treecf", "veritas", "evaluator", "growth", "memory", "bigger", "regions"}
    for name, records in found.items():
        assert records, name
        for record in records:
            assert record["kind"] in {"row", "region", "summary", "left out"}
            assert set(record["machine"]) >= MACHINE
            assert record["kind"] != "left out" or record["why"]
    for name in ("exact", "evaluator", "bigger"):
        for record in (record for record in found[name] if record["kind"] == "summary"):
            assert all(isinstance(record[field], kind) for field, kind in FIELDS.items())
            assert record["value"] > 0


@pytest.mark.long
def test_ensembles_are_proven(ensembles: tuple[Path, dict[str, list[dict[str, Any]]]]) -> None:
    found = [record for records in ensembles[1].values() for record in records if record["kind"] == "row"]
    rows = [record for record in found if not record.get("rival", "").startswith(("treecf", "veritas"))]
    assert {record["model"] for record in rows} >= {"RF 100 x depth 5", "GB 100 x depth 3"}
    assert {record["status"] for record in rows} == {"PROVEN_OPTIMAL"}
    assert all(0 < record["cost"] == pytest.approx(record["bound"], rel=1e-6, abs=1e-6) for record in rows)


def report(docs: Path, *words: str) -> str:
    """The page that is made from JSON lines."""
    command = [sys.executable, "-W", "error", "-m", "benchmarks.ensembles.report", "--docs", str(docs), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (docs / "images" / "ensembles-growth.png").stat().st_size > 1000
    return (docs / "benchmarks.md").read_text()


@pytest.mark.long
def test_ensembles_make_a_page(ensembles: tuple[Path, dict[str, list[dict[str, Any]]]], tmp_path: Path) -> None:
    page = report(tmp_path, "--lines", str(ensembles[0]))
    for title in (
        "## Proofs",
        "### Models of the size that people have",
        "## Regions",
        "## How time grows",
        "## The evaluator",
        "## Memory",
        "## Left out",
    ):
        assert title in page
    assert "no Python for the rivals was named" in page


def test_the_page_in_the_docs_is_the_one_that_is_made(tmp_path: Path) -> None:
    assert report(tmp_path) == (ROOT / "docs" / "benchmarks.md").read_text()


@pytest.mark.long
def test_swarm_writes_complete_lines_and_no_row_beats_it(tmp_path: Path) -> None:
    found = run("benchmarks.swarm", tmp_path / "out", tmp_path)
    assert set(found) == {"swarm_overhead", "swarm_prediction", "swarm_gap", "swarm_rivals"}
    for record in (record for records in found.values() for record in records):
        assert all(isinstance(record[field], kind) for field, kind in FIELDS.items())
        assert record["value"] > 0
    for record in found["swarm_rivals"]:
        assert set(record["rivals"]) == set(record["against"]) >= {"nearest rows", "growing spheres", "FACE k-NN"}
        assert record["valid"] == record["given"] == record["rows"]
        assert record["cost"] <= record["rivals"]["nearest rows"]["cost"] + 1e-9
        assert record["rivals"]["nearest rows"]["cost"] <= record["rivals"]["FACE k-NN"]["cost"] + 1e-9


@pytest.mark.long
def test_proofs_are_measured(tmp_path: Path) -> None:
    run("benchmarks.proofs", tmp_path / "out", tmp_path)
    records = [json.loads(line) for line in (tmp_path / "out" / "proofs" / "breast.jsonl").read_text().splitlines()]
    are_complete({"proofs": records})
    assert all(record["proven"] == record["rows"] == 2 for record in records)
    assert {record["unit"] for record in records} == {"s", "MB"}


@pytest.mark.long
def test_networks_write_complete_lines_and_are_proven(tmp_path: Path) -> None:
    run("benchmarks.networks", tmp_path / "out", tmp_path)
    records = [json.loads(line) for line in (tmp_path / "out" / "networks" / "breast.jsonl").read_text().splitlines()]
    assert {record["network"] for record in records} == {"5", "4-3"}
    for record in records:
        assert all(isinstance(record[field], kind) for field, kind in FIELDS.items())
        assert set(record["against"]) == {"wish", "plain program"}
        assert record["proven"] == record["rows"] == record["answered_soon"]
        assert record["gap"]["most"] <= 1e-6
        assert record["gap_soon"]["most"] <= 1


def test_the_page_of_networks_in_the_docs_is_the_one_that_is_made(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "benchmarks.networks_report", "--docs", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "benchmarks-networks.md").read_text()
    assert made == (ROOT / "docs" / "benchmarks-networks.md").read_text()


@pytest.fixture(scope="module")
def axis_aligned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    out = tmp_path_factory.mktemp("axis_aligned")
    found = run("reproductions.oblique_trees.axis_aligned", out, out)
    return out, [record for records in found.values() for record in records]


@pytest.mark.long
def test_reproduction_is_complete(axis_aligned: tuple[Path, list[dict[str, Any]]]) -> None:
    out, records = axis_aligned
    heads = [record for record in records if "leaves" in record]
    asked = [record for record in records if "ours" in record]
    assert sorted(head["tree"] for head in heads) == ["full", "full", "pruned", "pruned"]
    assert all({"test_error", "commit", "machine", "seed", "budget", "rows_left_out"} <= set(head) for head in heads)
    assert {(line["level"], line["cost"]) for line in asked} == {
        (level, cost) for level in range(3) for cost in ("L1", "L2")
    }
    table = (out / "axis_aligned.md").read_text().splitlines()
    assert len(table) == 2 + 2 * 2 * 3 * 2


@pytest.mark.long
def test_ours_is_never_dearer(axis_aligned: tuple[Path, list[dict[str, Any]]]) -> None:
    asked = [record for record in axis_aligned[1] if "ours" in record]
    cost = {name: np.array([line[name] for line in asked], dtype=np.float64) for name in ("ours", "rows", "path")}
    for rival in ("rows", "path"):
        answered = ~np.isnan(cost[rival])
        assert answered.any()
        assert np.all(cost["ours"][answered] <= cost[rival][answered] + 1e-9)
    assert np.any(cost["ours"] < cost["path"] - 1e-9)
    assert {line["status"] for line in asked if line["ours"] is None} <= {"PROVEN_INFEASIBLE"}
    assert {line["status"] for line in asked if line["ours"] is not None} == {"PROVEN_OPTIMAL"}
