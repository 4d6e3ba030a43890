"""Files and functions that a reader can hold in mind."""

from __future__ import annotations

import ast

from tests.sources import SOURCE, modules

LINES_OF_A_FILE, LINES_OF_A_FUNCTION, LEVELS = 400, 60, 8
NESTING = (ast.For, ast.While, ast.If, ast.With, ast.Try)


def functions(module: ast.Module) -> list[ast.FunctionDef]:
    found = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))
    return [node for node in found if not compiled(node)]


def compiled(function: ast.FunctionDef) -> bool:
    """Whether numba compiles it: there a loop in one piece is often the clearer one, and the faster."""
    marks = ("njit", "kernel", "part", "inlined")
    return any(mark in ast.unparse(one) for one in function.decorator_list for mark in marks)


def own_lines(function: ast.FunctionDef) -> int:
    """The lines of a function without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def depth(node: ast.AST) -> int:
    """How many statements are nested in one another; `elif` is no deeper than `if`."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, depth(child) + (isinstance(child, NESTING) and not chained))
    return deepest


def test_a_file_is_short() -> None:
    files = SOURCE.rglob("*.py")
    lines = {str(path.relative_to(SOURCE)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {name: count for name, count in lines.items() if count > LINES_OF_A_FILE} == {}


def test_functions_are_short_and_flat() -> None:
    known = [(f"{name}: {one.name}", one) for name, tree in modules().items() for one in functions(tree)]
    assert len(known) > 1000
    long = [name for name, one in known if own_lines(one) > LINES_OF_A_FUNCTION]
    deep = [name for name, one in known if depth(one) > LEVELS]
    assert not long, f"more than {LINES_OF_A_FUNCTION} lines"
    assert not deep, f"more than {LEVELS} levels"
