"""The reproduction and the benchmarks run, and their rivals never beat what is proven."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "reproductions").is_dir(), reason="not part of the source distribution"),
]


@pytest.fixture(autouse=True)
def without_files(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUTFOR_DATA", str(tmp_path))


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> list[dict]:
    from reproductions.survcofact import tables

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUTFOR_DATA", str(tmp_path_factory.mktemp("none")))
        return list(tables.lines(smoke=True))


@pytest.mark.long
def test_nothing_is_nearer_than_what_is_proven(found) -> None:
    from reproductions.survcofact import tables

    assert len(found) == 8
    for line in found:
        assert line["status"] == "PROVEN_OPTIMAL"
        assert line["beyond r"] >= 0
        rivals = [line["swarm"], line.get("random"), line.get("nearest row")]
        assert all(rival >= line["distance"] - 1e-9 for rival in rivals if rival is not None)
        if line["model"] == "cox":
            assert line["off"] <= 1e-8
        else:
            assert line["gap"] <= 1e-6
            if line["set"] == "synthetic, d = 2":
                assert line["sweep"] == pytest.approx(line["distance"], abs=2e-7)
    said = tables.page(found)
    assert said.count("synthetic, d = 20") == 4
    assert said.count("proven optimal") == 4
    assert list(tables.lines(smoke=True, sets=["nothing of that name"])) == []


def test_is_skipped_where_the_library_is_missing(monkeypatch, capsys) -> None:
    from reproductions.survcofact import __main__ as reproduction

    monkeypatch.setattr(reproduction, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["survcofact", "--smoke"])
    reproduction.main()
    assert "scikit-survival is not installed" in capsys.readouterr().out


@pytest.mark.long
def test_a_page_of_maps(found, tmp_path) -> None:
    from reproductions.survcofact import figures

    figures.draw(tmp_path / "maps.png", found, smoke=True)
    assert (tmp_path / "maps.png").stat().st_size > 10_000


@pytest.mark.parametrize("part", ["evaluator", "cox", "exact", "swarm"])
def test_benchmarks(part) -> None:
    from benchmarks.survival import __main__ as benchmarks

    numbers = list(getattr(benchmarks, part)(True))
    assert numbers
    for number in numbers:
        assert np.isfinite(number.value)
        assert number.value > 0
        assert number.about.get("status", "PROVEN_OPTIMAL") in ("PROVEN_OPTIMAL", "VALID")
