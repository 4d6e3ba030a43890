"""The paths of a tree as rules in words, and the tree as an indented text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from butfor.compress.columns import BinaryColumn, BinaryColumns, ColumnTest
from butfor.compress.tree import BinaryTree

Answered = Sequence[tuple[BinaryColumn, bool]]
"""Questions on a path, each with its answer."""


def conditions(path: Answered, lacking: Collection[int]) -> list[str]:
    """What a path asks of each raw column: one condition per column, in the order in which they are first asked.

    `lacking` are the raw columns of which some training values are missing.
    """
    by_column: dict[int, list[tuple[BinaryColumn, bool]]] = {}
    for question, answer in path:
        by_column.setdefault(question.feature, []).append((question, answer))
    return [_condition(asked, j in lacking) for j, asked in by_column.items()]


def _condition(asked: Answered, lacks: bool) -> str:
    """The answers about one column as one condition."""
    name = asked[0][0].column
    for question, answer in asked:
        if answer and question.test is not ColumnTest.ABOVE:
            return question.name
    above = max((one for one, yes in asked if yes), key=lambda one: one.at, default=None)
    most = min(
        (one for one, yes in asked if not yes and one.test is ColumnTest.ABOVE), key=lambda one: one.at, default=None
    )
    if above:
        return f"{above.ask[2:]} < {name} <= {most.ask[2:]}" if most else above.name
    others = [f"not {one.ask[2:]}" for one, _ in asked if one.test is ColumnTest.LEVEL]
    there = any(one.test is ColumnTest.MISSING for one, _ in asked)
    text = f"{name} <= {most.ask[2:]}" if most else f"{name} is {' and '.join(others + ['not missing'] * there)}"
    return f"({text} or is missing)" if lacks and not there else text


def rules(tree: BinaryTree, columns: BinaryColumns, lacking: Collection[int], labels: Sequence[str]) -> list[str]:
    """One rule per leaf."""
    found = []
    for node, path in tree.walk():
        if tree.column[node] >= 0:
            continue
        told = conditions([(columns[column], answer) for column, answer in path], lacking)
        where = f"if {' and '.join(told)}: " if told else "always: "
        found.append(where + prediction(tree, node, labels))
    return found


def prediction(tree: BinaryTree, node: int, labels: Sequence[str]) -> str:
    """What a leaf predicts, with the share of its training rows."""
    total = int(tree.counts[node].sum())
    right = int(tree.counts[node, tree.label[node]])
    share = f"{right / total:.0%} of {total} rows" if total else "no rows"
    return f"{labels[tree.label[node]]} ({share})"


def indented(tree: BinaryTree, columns: BinaryColumns, labels: Sequence[str]) -> str:
    """The tree as text. Below each question come the answers yes and no."""
    lines: list[str] = []

    def tell(node: int, before: str, depth: int) -> None:
        column = int(tree.column[node])
        lead = "|   " * depth + before
        if column < 0:
            lines.append(lead + prediction(tree, node, labels))
            return
        lines.append(f"{lead}{columns[column].name}?")
        tell(int(tree.yes[node]), "yes: ", depth + 1)
        tell(int(tree.no[node]), "no: ", depth + 1)

    tell(0, "", 0)
    return "\n".join(lines)
