"""One word for each idea: no two classes share a name, and no name of a constant stands for two values."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from tests.sources import SOURCE, modules, parsed

ROOT = SOURCE.parents[1]


def constants(tree: ast.Module) -> dict[str, str]:
    """The constants of a module: upper-case names that are not private, with what they are set to."""
    found = {}
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = (
                node.value.elts if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) else [node.value]
            )
            for name, value in zip(names, values * (len(names) if len(values) == 1 else 1), strict=True):
                if (
                    isinstance(name, ast.Name)
                    and name.id.isupper()
                    and not name.id.startswith("_")
                    and not is_type_variable(value)
                ):
                    found[name.id] = ast.unparse(value) if value else ""
    return found


def is_type_variable(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"


def test_no_two_classes_share_a_name() -> None:
    homes = defaultdict(list)
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_constant_stands_for_two_values() -> None:
    homes = defaultdict(dict)
    for module, tree in modules().items():
        for name, value in constants(tree).items():
            homes[name][module] = value
    assert {name: values for name, values in homes.items() if len(values) > 1} == {}


@pytest.mark.parametrize("folder", ["benchmarks", "reproductions"])
def test_nothing_outside_of_the_library_sets_a_name_in_its_modules(folder: str) -> None:
    """What is set there does nothing once the name is gone, and nobody notices."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        tree = parsed(path)
        imports = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        ours = {one.asname or "butfor" for one in imports if one.name.split(".")[0] == "butfor"}
        found += [
            f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node).split(".")[0] in ours
        ]
    assert not found
