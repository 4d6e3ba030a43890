"""Published results are of one clean commit, pages say what they say, and one command makes all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import steps
from benchmarks.__main__ import STEPS as MEASURES
from benchmarks.ensembles import quoted
from benchmarks.harness import RESULTS, ROOT
from reproductions import papers
from reproductions.__main__ import STEPS

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


def test_all_benchmarks_are_of_one_clean_commit() -> None:
    """But records of the past: what the fuzzer found, and starts before they became faster.

    While a run is not finished, the steps that it has not done are of one older commit.
    """
    files = [file for file in RESULTS.rglob("*.jsonl") if file.stem not in ("fuzz", "cold_start_before")]
    lines = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(files) > 30
    commits, unfinished = {line["commit"] for line in lines}, RESULTS / "unfinished.json"
    assert len(commits) == (2 if unfinished.exists() else 1)
    if unfinished.exists():
        assert json.loads(unfinished.read_text(encoding="utf-8"))["commit"] in commits
    assert not any(line["dirty"] for line in lines)


def test_the_page_on_the_papers_says_what_the_results_say() -> None:
    assert papers.PAGE.read_text(encoding="utf-8") == papers.page(), "run python -m reproductions.papers"


@pytest.mark.parametrize(("page", "quotes"), [("README.md", quoted.readme), ("docs/speed.md", quoted.speed)])
def test_a_page_quotes_what_the_results_say(page, quotes) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    missing = [quote for quote in quotes(RESULTS / "ensembles") if quote not in lines]
    assert not missing, "run python -m benchmarks.ensembles.quoted"


@pytest.mark.parametrize(
    ("package", "steps", "others"),
    [
        (FOLDER, STEPS, set()),
        (RESULTS.parent, MEASURES, {"rival_worker", "served_rows", "ensembles.quoted"}),
    ],
    ids=lambda given: getattr(given, "name", None),
)
def test_every_program_is_a_step_of_the_whole_run(package, steps, others) -> None:
    files = package.rglob("*.py")
    programs = [
        path for path in files if path.name == "__main__.py" or 'if __name__ == "__main__":' in path.read_text()
    ]
    names = (path.relative_to(package).with_suffix("").as_posix().replace("/", ".") for path in programs)
    assert {name.removesuffix(".__main__") for name in names} - {"__main__"} - others == {
        step.split()[0] for step in steps
    }


def test_a_whole_run_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys) -> None:
    run = list[str]()

    def stopped_at_the_second(command, check) -> None:
        run.append(command[-1])
        if len(run) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(steps, "where", lambda: {"commit": "abc", "dirty": False})
    monkeypatch.setattr(steps.subprocess, "run", stopped_at_the_second)
    whole = ("benchmarks", ("one", "two", "three"), tmp_path / "done.json")
    with pytest.raises(KeyboardInterrupt):
        steps.run_steps(*whole)
    steps.run_steps(*whole)
    assert run == ["benchmarks.one", "benchmarks.two", "benchmarks.two", "benchmarks.three"]
    assert "1 of 3: benchmarks.one is done" in capsys.readouterr().out
    monkeypatch.setattr(steps, "where", lambda: {"commit": "abc", "dirty": True})
    with pytest.raises(SystemExit, match="Commit the changes first"):
        steps.run_steps(*whole)
