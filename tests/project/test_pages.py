"""What the pages promise about themselves: decisions are short, notes stand beside the benchmarks, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from butfor.solvers.choose import SOLVERS

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
NOTES = sorted((ROOT / "benchmarks" / "notes").glob("*.md"))
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "changes").glob("*.md")),
    *NOTES,
]
LINES_OF_A_DECISION, LINES_OF_EACH_SOLVER, WIDTH = 60, 10, 130

NOTE = re.compile(r"`(benchmarks/notes/\w+\.md)`")
"""A note, as a decision names it."""

SOLVER = re.compile(r"^\| \[(\w+)\]\(#(\w+)\) \|.*\| `([\w/.]+)` \|.*\|$", re.MULTILINE)
"""A solver in the table of docs/solvers.md: its name, its section, and its folder or file."""

WORD = re.compile(r"^- \*\*([\w -]+)\*\*(?: \(`([\w/.]+)`\))?: ", re.MULTILINE)
"""A word of the glossary, and its file."""

LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)")
"""A link to another file."""

BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
"""A fenced block: nothing in it is a link."""

MADE = ("reference/api.md",)
"""Pages that are made when the site is built."""


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_says_what_holds_on_one_page(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "**Question.**" in text
    assert "**Decision.**" in text
    assert len(text.splitlines()) <= LINES_OF_A_DECISION
    assert not [line for line in text.splitlines() if len(line) > WIDTH]


def test_the_site_lists_every_decision_and_every_note_has_its_own() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.findall(r"decisions/[\w-]+\.md", site) == [f"decisions/{page.name}" for page in DECISIONS]
    numbers = [page.name[:3] for page in DECISIONS]
    assert numbers == [f"{number:03}" for number in range(1, len(numbers) + 1)]
    named = {note: page.name[:3] for page in DECISIONS for note in NOTE.findall(page.read_text(encoding="utf-8"))}
    assert named == {f"benchmarks/notes/{note.name}": note.stem for note in NOTES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_links_lead_to_files(page: Path) -> None:
    links = LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8")))
    assert not [link for link in links if not (page.parent / link).exists() and not link.endswith(MADE)]


def test_the_page_on_solvers_lists_them_in_the_order_in_which_they_are_tried() -> None:
    page = (ROOT / "docs" / "solvers.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)$", page, re.MULTILINE)
    rows = SOLVER.findall(page)
    assert [name for name, _, _ in rows] == [section for _, section, _ in rows] == sections
    assert sections == [solver.name for solver in SOLVERS]
    assert len(page.splitlines()) <= LINES_OF_EACH_SOLVER * len(SOLVERS)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_the_page_on_solvers_names_the_folder_of_each(solver: object) -> None:
    page = (ROOT / "docs" / "solvers.md").read_text(encoding="utf-8")
    (folder,) = [folder for name, _, folder in SOLVER.findall(page) if name == solver.name]
    home = ROOT.joinpath("src", *type(solver).__module__.split(".")).with_suffix(".py")
    named = ROOT / "src" / "butfor" / "solvers" / folder
    assert named in (home, home.parent)


def test_the_glossary_has_a_list_for_users_and_one_for_solvers_that_names_files() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    users, solvers = page.split("## Words of solvers")
    told = WORD.findall(users)
    named = WORD.findall(solvers)
    assert 40 <= len(told) <= 60
    assert not [word for word, file in told if file]
    assert not [(word, file) for word, file in named if not file or not (ROOT / "src" / "butfor" / file).exists()]
    words = [[word for word, _ in part] for part in (told, named)]
    assert words == [sorted(part) for part in words]
    assert not {*words[0]} & {*words[1]}
