"""The recipes of docs/contributing.md: the files that they name exist, and whoever forgets one is told."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

from butfor import explanation
from butfor.compress import engines
from butfor.compress.surrogate_tree import ENGINES
from butfor.explanation.answer_list import AnswerList, DrawnAnswers
from butfor.explanation.render import VIEWS
from butfor.importers import libraries
from butfor.importers.builtin import LIBRARIES
from butfor.model import questions
from butfor.model.questions import ModelKind
from butfor.problem.form import Form, ValueKind
from butfor.solvers.choose import choose, exact

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")

NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|changes|problem|solvers)/[\w/.-]*)`")
"""A file or a folder that the page names in full, or from `src/butfor/` on."""

REGISTERS = re.compile(r"^\s*register_(importer|step)\(", re.MULTILINE)
"""A file that reads models or steps says so."""


def files(folder: ModuleType) -> set[str]:
    """The names of the modules in a folder."""
    return {module.name for module in iter_modules(folder.__path__)}


def kinds_of(base: type) -> set[type]:
    """All classes that are made of a class."""
    return {below for one in base.__subclasses__() for below in (one, *kinds_of(one))}


@pytest.mark.parametrize("name", sorted({*NAMED.findall(PAGE)}))
def test_the_page_names_files_that_are_there(name: str) -> None:
    assert (ROOT / name).exists() or (ROOT / "src" / "butfor" / name).exists()


@pytest.mark.parametrize("way", VIEWS)
def test_every_view_has_its_function(way: str) -> None:
    home, name = VIEWS[way].split(":")
    module = import_module(home if "." in home else f"butfor.views.{home}")
    assert callable(getattr(module, name))


def test_every_list_of_answers_has_its_views() -> None:
    for name in files(explanation):
        import_module(f"butfor.explanation.{name}")
    lists = kinds_of(AnswerList) - {DrawnAnswers}
    needed = {one.way for one in lists}
    needed |= {f"{one.way} {view}" for one in kinds_of(DrawnAnswers) for view in ("drawn", "in words")}
    assert lists
    assert needed <= {*VIEWS}


def test_every_engine_and_every_library_is_listed() -> None:
    assert {*ENGINES} == files(engines) - {"grown"}
    folder = Path(libraries.__path__[0])
    registers = {path.stem for path in folder.glob("*.py") if REGISTERS.search(path.read_text(encoding="utf-8"))}
    assert registers == {*LIBRARIES}


def test_every_kind_of_model_answers_all_questions() -> None:
    kinds = {*questions.Model.__args__}
    read = kinds - {questions.BlackBox}
    for question in (questions.evaluate, questions.score_count, questions.arrays_to_hash, questions.widen):
        assert read <= {*question.registry}, question.__name__
    assert kinds <= {*questions.kind_of.registry}


@pytest.mark.parametrize("kind", ModelKind)
def test_some_solver_takes_each_kind_of_model(kind: ModelKind) -> None:
    plain: dict[str, Any] = {
        "inequalities": 1,
        "curved": False,
        "forced": False,
        "binned": False,
        "weighted_changes": False,
    }
    nothing: frozenset[Any] = frozenset()
    form = Form(kind, movable=frozenset({ValueKind.CONTINUOUS}), cost=nothing, constraints=nothing, **plain)
    if kind is ModelKind.COMPUTED:  # what is computed becomes levels of a sum of trees
        form = replace(form, placed=replace(form, model=ModelKind.ENSEMBLE, movable=frozenset({ValueKind.LEVELS})))
    assert choose(form)
    assert (exact(form) is None) is (kind is ModelKind.BLACK_BOX)
