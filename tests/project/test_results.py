"""Published results are of one clean commit, pages say what they say, and one command makes all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.ensembles import quoted
from benchmarks.harness import RESULTS, ROOT
from reproductions import __main__ as everything
from reproductions import papers

FOLDER = Path(papers.__file__).parent
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/results/*.jsonl"))


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_results_names_one_clean_commit(file) -> None:
    marked = [line for line in map(json.loads, (FOLDER / file).read_text().splitlines()) if "commit" in line]
    assert len({line["commit"] for line in marked}) == 1
    assert all(line.get("dirty") is False for line in marked)


def test_all_results_are_of_one_run() -> None:
    """Every reproduction, by the same code."""
    lines = (json.loads(line) for file in FILES for line in (FOLDER / file).read_text().splitlines())
    assert len({line["commit"] for line in lines if "commit" in line}) == 1


def test_the_page_on_the_papers_says_what_the_results_say() -> None:
    assert papers.PAGE.read_text(encoding="utf-8") == papers.page(), "run python -m reproductions.papers"


@pytest.mark.parametrize(("page", "quotes"), [("README.md", quoted.readme), ("docs/speed.md", quoted.speed)])
def test_a_page_quotes_what_the_results_say(page, quotes) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    missing = [quote for quote in quotes(RESULTS / "ensembles") if quote not in lines]
    assert not missing, "run python -m benchmarks.ensembles.quoted"


def test_every_program_is_a_step_of_the_whole_run() -> None:
    modules = {
        path.relative_to(FOLDER).with_suffix("").as_posix().replace("/", ".").removesuffix(".__main__")
        for path in FOLDER.rglob("*.py") if 'if __name__ == "__main__":' in path.read_text()
    } - {"__main__"}  # fmt: skip
    assert {step.split()[0] for step in everything.STEPS} == modules


def test_a_whole_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys) -> None:
    run = list[str]()

    def stopped_at_the_third(command, check) -> None:
        run.append(command[-1])
        if len(run) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(everything, "DONE", tmp_path / "done.json")
    monkeypatch.setattr(everything, "where", lambda: {"commit": "abc", "dirty": False})
    monkeypatch.setattr(everything.subprocess, "run", stopped_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        everything.main()
    everything.main()
    third = everything.STEPS[2]
    assert run[2:4] == [f"reproductions.{third}"] * 2
    assert len(run) == len(everything.STEPS) + 1
    assert f"2 of {len(everything.STEPS)}: reproductions.{everything.STEPS[1]} is done" in capsys.readouterr().out
    monkeypatch.setattr(everything, "where", lambda: {"commit": "abc", "dirty": True})
    with pytest.raises(SystemExit, match="Commit the changes first"):
        everything.main()
