"""Imports follow the arrow: what stands lower never knows what stands higher; one place knows each outside library."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"

LAYERS = (
    "butfor.arrays",
    "butfor.errors",
    "butfor.log",
    "butfor.experimental",
    "butfor.lazy",
    "butfor.frontier",
    "butfor.compiled",
    "butfor.space",
    "butfor.model",
    "butfor.estimator",
    "butfor.importers",
    "butfor.problem",
    "butfor.formulation",
    "butfor.solvers",
    "butfor.verdict",
    "butfor.explanation",
    "butfor.views",
    "butfor.explain",
    "butfor.measure",
    "butfor.survival",
    "butfor.compress",
    "butfor.groups",
    "butfor.plots",
    "butfor.compat",
    "butfor.report",
    "butfor.audit",
    "butfor.cli",
)
"""From lowest to highest: a few files, and a folder for each step on the way from a row to an answer."""

ASIDE = ("butfor.datasets", "butfor.testing", "butfor.trees", "butfor.warming")
"""Made of the layers, part of none: no layer but the command imports them."""

ONLY = {
    "heapq": ("butfor.frontier",),  # a proof by branch and bound is decided there
    "highspy": ("butfor.solvers.milp.program", "butfor.model.growing_program", "butfor.model.quiet_highs"),
    "sklearn": (
        "butfor.importers",
        "butfor.estimator.source",
        "butfor.datasets",
        "butfor.testing",
        "butfor.trees",
        "butfor.measure.plausibility",
        "butfor.compress",
    ),
    "torch": (
        "butfor.estimator.torch_modules",
        "butfor.importers.libraries.torch_modules",
        "butfor.testing.fuzz.networks",
    ),
    "onnx": (
        "butfor.estimator.onnx_graphs",
        "butfor.importers.libraries.onnx_graphs",
        "butfor.testing.fuzz.networks",
    ),
    "onnxruntime": ("butfor.estimator.onnx_graphs",),
    "skorch": (),
    "numba": ("butfor.compiled", "butfor.trees.tao.kernels"),
    "narwhals": ("butfor.space", "butfor.estimator.table_kind", "butfor.views.tables", "butfor.views.column_types"),
    "matplotlib": (
        "butfor.views.drawing",
        "butfor.views.decision_maps",
        "butfor.views.bars",
        "butfor.views.survival_curves",
        "butfor.views.thresholds",
        "butfor.views.small_trees",
        "butfor.views.heat_map",
    ),
    "openpyxl": ("butfor.views.answer_frames",),
    "gosdt": ("butfor.compress.engines.gosdt",),
    "pystreed": ("butfor.compress.engines.streed",),
    "typer": ("butfor.cli",),
    "hypothesis": ("butfor.testing",),
    "pytest": ("butfor.testing",),
}
"""Which parts know an outside library."""

LINE = re.compile(r"^\w+(?: < \w+){5,}$", re.MULTILINE)
"""The layers as `docs/contributing.md` shows them."""


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted((SOURCE / "butfor").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = modules()


def imports(node: ast.AST) -> Iterator[str]:
    """Every imported module, by functions when they are called included; what is for the type checker alone is left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert not child.level, "relative import"
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                yield full if full in MODULES else str(child.module)
        yield from imports(child)


def inside(name: str, part: str) -> bool:
    return name == part or name.startswith(part + ".")


def layer(name: str) -> int | None:
    """The position of the closest layer that a module belongs to."""
    fits = [part for part in LAYERS if inside(name, part)]
    return LAYERS.index(max(fits, key=len)) if fits else None


def test_every_module_has_a_place() -> None:
    placed = [name for name in MODULES if layer(name) is not None or any(inside(name, part) for part in ASIDE)]
    assert sorted({*MODULES} - {*placed}) == ["butfor", "butfor.__main__"]


@pytest.mark.parametrize("name", sorted(name for name in MODULES if layer(name) is not None))
def test_imports_follow_the_arrow(name: str) -> None:
    mine = layer(name)
    backwards = [
        imported
        for imported in imports(MODULES[name])
        if (other := layer(imported)) is not None and mine is not None and other > mine
    ]
    assert not backwards, f"{name} imports {backwards}, which stand above it"


@pytest.mark.parametrize(
    "name", sorted(name for name in MODULES if layer(name) is not None and not inside(name, "butfor.cli"))
)
def test_no_layer_needs_what_stands_aside(name: str) -> None:
    assert not [imported for imported in imports(MODULES[name]) if any(inside(imported, part) for part in ASIDE)]


def test_the_contributing_page_shows_the_same_line() -> None:
    page = (SOURCE.parent / "docs" / "contributing.md").read_text(encoding="utf-8")
    shown = LINE.findall(page)
    assert shown == [" < ".join(name.removeprefix("butfor.") for name in LAYERS)]


def test_the_tree_learner_stands_alone() -> None:
    used = {
        imported
        for name, tree in MODULES.items()
        if inside(name, "butfor.trees")
        for imported in imports(tree)
        if inside(imported, "butfor") and not inside(imported, "butfor.trees")
    }
    assert used == {"butfor.arrays", "butfor.errors", "butfor.lazy"}


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {name: {imported for imported in imports(tree) if imported in MODULES} for name, tree in MODULES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


@pytest.mark.parametrize("library", sorted(ONLY))
def test_one_place_knows_each_library(library: str) -> None:
    knowing = {
        name for name, tree in MODULES.items() for imported in imports(tree) if imported.split(".")[0] == library
    }
    assert not [name for name in knowing if not any(inside(name, part) for part in ONLY[library])]
