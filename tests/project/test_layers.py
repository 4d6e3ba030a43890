"""Imports follow the arrow: what stands lower never knows what stands higher; one place knows each outside library."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.sources import modules

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contributing.md"

LAYERS = (
    "butfor.arrays",
    "butfor.errors",
    "butfor.log",
    "butfor.experimental",
    "butfor.lazy",
    "butfor.frontier",
    "butfor.compiled",
    "butfor.programs",
    "butfor.space",
    "butfor.model",
    "butfor.neighbours",
    "butfor.estimator",
    "butfor.importers",
    "butfor.problem",
    "butfor.formulation",
    "butfor.solvers",
    "butfor.verdict",
    "butfor.explanation",
    "butfor.records",
    "butfor.views",
    "butfor.portfolio",
    "butfor.ledger",
    "butfor.explain",
    "butfor.noise",
    "butfor.teach",
    "butfor.measure",
    "butfor.survival",
    "butfor.compress",
    "butfor.groups",
    "butfor.plots",
    "butfor.compat",
    "butfor.report",
    "butfor.claim",
    "butfor.proof",
    "butfor.audit",
    "butfor.validation",
    "butfor.serve",
    "butfor.cli",
)
"""From lowest to highest: a few files, and a folder for each step on the way from a row to an answer."""

ASIDE = ("butfor.datasets", "butfor.testing", "butfor.trees", "butfor.warming")
"""Made of the layers, part of none: no layer but the command imports them."""

ONLY = {
    "heapq": ("butfor.frontier",),  # a proof by branch and bound is decided there
    "highspy": ("butfor.programs",),
    "sklearn": (
        "butfor.importers",
        "butfor.estimator.source",
        "butfor.datasets",
        "butfor.testing",
        "butfor.trees",
        "butfor.measure.plausibility",
        "butfor.compress",
        "butfor.compat.dice.model",  # DiCE's encoding as a pipeline, which importers read
    ),
    "torch": (
        "butfor.estimator.torch_modules",
        "butfor.importers.libraries.torch_modules",
    ),
    "keras": ("butfor.estimator.keras_models", "butfor.importers.libraries.keras_networks"),
    "onnx": (
        "butfor.estimator.onnx_files",
        "butfor.estimator.onnx_graphs",
        "butfor.estimator.onnx_pipelines",
        "butfor.importers.libraries.onnx_graphs",
        "butfor.importers.libraries.onnx_models",
        "butfor.importers.libraries.onnx_pipelines",
        "butfor.importers.libraries.onnx_steps",
        "butfor.importers.libraries.onnx_trees",
    ),
    "onnxruntime": ("butfor.estimator.onnx_files", "butfor.estimator.onnx_graphs"),
    "skorch": (),
    "numba": ("butfor.compiled", "butfor.trees.tao.kernels"),
    "narwhals": ("butfor.space", "butfor.estimator.table_kind", "butfor.records.tables", "butfor.records.column_types"),
    "matplotlib": (
        "butfor.views.drawing",
        "butfor.views.decision_map",
        "butfor.views.heat_map",
    ),
    "openpyxl": ("butfor.views.answer_frames",),
    "gosdt": ("butfor.compress.engines.gosdt",),
    "pystreed": ("butfor.compress.engines.streed",),
    "sqlalchemy": ("butfor.ledger.address", "butfor.ledger.database", "butfor.ledger.tables"),
    "sqlite3": ("butfor.ledger.database",),
    "typer": ("butfor.cli",),
    "hypothesis": ("butfor.testing",),
    "pytest": ("butfor.testing",),
}
"""Which parts know an outside library."""

HANDS_ON = "butfor.explanation.render"
"""The one place that finds what stands above it by name: how an answer comes to its views."""

MODULE = re.compile(r"butfor(?:\.\w+)+")

LINE = re.compile(r"^\w+(?: < \w+){5,}$", re.MULTILINE)
"""The layers as `docs/contributing.md` shows them."""


@cache
def imports(tree: ast.Module, typed: bool = True) -> list[str]:
    """Every imported module, by functions when they are called, and perhaps for the type checker alone."""
    return [*below(tree, typed)]


def below(node: ast.AST, typed: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        if not typed and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert not child.level, "relative import"
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                yield full if full in modules() else str(child.module)
        yield from below(child, typed)


@cache
def named(tree: ast.Module) -> list[str]:
    """Every module whose name stands in a string. What is said in docstrings is left out."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    said = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose)
    words = (node.value for node in said if isinstance(node.value, str))
    return [name for word in words for name in MODULE.findall(word) if name in modules()]


def inside(name: str, part: str) -> bool:
    return name == part or name.startswith(part + ".")


def layer(name: str) -> int | None:
    """The position of the closest layer that a module belongs to."""
    fits = [part for part in LAYERS if inside(name, part)]
    return LAYERS.index(max(fits, key=len)) if fits else None


def test_every_module_has_a_place() -> None:
    placed = [name for name in modules() if layer(name) is not None or any(inside(name, part) for part in ASIDE)]
    assert sorted({*modules()} - {*placed}) == ["butfor", "butfor.__main__"]


def test_imports_follow_the_arrow() -> None:
    backwards = []
    for name, tree in modules().items():
        mine, known = layer(name), {*imports(tree), *(named(tree) if name != HANDS_ON else ())}
        if mine is not None:
            backwards += [
                f"{name} knows {other}" for other in known if (above := layer(other)) is not None and above > mine
            ]
    assert not backwards, "what stands above"


def test_no_layer_needs_what_stands_aside() -> None:
    needed = [
        f"{name} needs {other}"
        for name, tree in modules().items()
        if layer(name) is not None and not inside(name, "butfor.cli")
        for other in {*imports(tree), *named(tree)}
        if any(inside(other, part) for part in ASIDE)
    ]
    assert not needed


def test_the_contributing_page_shows_the_same_line() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = LINE.findall(page)
    assert shown == [" < ".join(name.removeprefix("butfor.") for name in LAYERS)]


def test_the_tree_learner_stands_alone() -> None:
    used = {
        imported
        for name, tree in modules().items()
        if inside(name, "butfor.trees")
        for imported in imports(tree)
        if inside(imported, "butfor") and not inside(imported, "butfor.trees")
    }
    assert used == {"butfor.arrays", "butfor.errors", "butfor.lazy"}


@pytest.mark.parametrize("typed", [False, True])
def test_no_module_imports_itself_in_a_circle(typed: bool) -> None:
    known = {*modules()} - {"butfor"}  # it shows the type checker what it loads later
    graph = {name: known & {*imports(modules()[name], typed)} for name in known}
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)


def test_nobody_asks_for_the_class_of_a_single_constraint() -> None:
    """Of relations, solvers keep each in its own way. All others say themselves what must be known of them."""
    folder = "butfor.problem.constraints"
    homes = {
        node.name: name
        for name, tree in modules().items()
        if inside(name, folder)
        and name
        not in (
            f"{folder}.{part}"
            for part in ("constraint", "demanded", "relations", "implications", "of_values", "linked", "computed")
        )
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    for name in ("Candidates", "Allowed", "Between"):  # of the first a pool is made, the others are conditions, too
        del homes[name]
    assert {"Margin", "Plausible", "Robust", "RobustTo", "Fixed", "Restriction"} <= {*homes}
    asking = [
        (name, ast.unparse(node))
        for name, tree in modules().items()
        if layer(name) is not None
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        for part in ast.walk(node.args[1])
        if isinstance(part, ast.Name) and homes.get(part.id, name) != name
    ]
    assert not asking


@pytest.mark.parametrize("library", sorted(ONLY))
def test_one_place_knows_each_library(library: str) -> None:
    knowing = {
        name
        for name, tree in modules().items()
        for imported in imports(tree, typed=False)
        if imported.split(".")[0] == library
    }
    assert not [name for name in knowing if not any(inside(name, part) for part in ONLY[library])]
