"""What a record holds of columns that nothing reads: all of an array, and of a data frame what can be written and read again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from butfor.explanation.explanations import Explanations
from butfor.problem.spec import from_spec, to_spec
from butfor.records import tables
from butfor.space import frames
from butfor.space.levels import is_level


def recorded(answers: Explanations) -> list[str]:
    """The columns of the rows that a record holds. Those that nothing reads are left out if it cannot hold them."""
    space, table = answers.space, answers.table
    if not space.unread or frames.is_array(table):
        return list(space.columns)
    given = frames.positions(table)
    return [
        name
        for name in space.columns
        if name not in space.unread or (name in given and _is_written(table, name, given[name]))
    ]


def held_unread(answers: Explanations, columns: Iterable[str]) -> dict[str, list[Any]]:
    """What the rows hold in those of some columns that nothing reads. What no record holds is None."""
    given = frames.positions(answers.table) if answers.space.unread else {}
    return {
        name: [value if is_level(value) else None for value in frames.values(answers.table, name, given[name])]
        for name in columns
        if name in answers.space.unread
    }


def _is_written(table: Any, name: str, position: int) -> bool:
    """Whether a record holds what a column of a data frame holds, with its type."""
    cells = frames.values(table, name, position)
    if not all(map(is_level, cells)):
        return False
    described = tables.kind_of(table, [name])
    try:
        kept = [from_spec(to_spec(cell)) for cell in cells]
        made = tables.rebuild(described, [kept], tables.labels_of(table), tables.blanks(table, described["columns"]))
        return tables.kind_of(made, [name]) == described and frames.values(made, name, 0) == cells
    except Exception:  # each library has errors of its own for a type that it does not know by name
        return False
