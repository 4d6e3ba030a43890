"""What a record holds of columns that nothing reads: all of an array, and of a data frame what can be written and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from butfor.explanation.explanations import Explanations
from butfor.records import tables
from butfor.space import frames
from butfor.space.levels import is_level


def recorded(answers: Explanations) -> list[str]:
    """The columns of the rows that a record holds. Those that nothing reads are left out if it cannot hold them."""
    space, table = answers.space, answers.table
    if not space.unread or frames.is_array(table):
        return list(space.columns)
    held = space.held_unread(table)
    kinds = tables.kind_of(table, list(held))
    written = {
        column["name"]
        for column in kinds["columns"]
        if all(map(is_level, held[column["name"]])) and _comes_back(json.dumps({**kinds, "columns": [column]}))
    }
    return [name for name in space.columns if name in written or name not in space.unread]


def recorded_unread(answers: Explanations, columns: Iterable[str]) -> dict[str, list[Any]]:
    """What the rows hold in those of some columns that nothing reads. What no record holds is None."""
    held = answers.space.held_unread(answers.table)
    return {name: [one if is_level(one) else None for one in held[name]] for name in columns if name in held}


@lru_cache(maxsize=64)
def _comes_back(described: str) -> bool:
    """Whether a type that a record describes is the same when it is read again."""
    written = json.loads(described)
    try:
        made = tables.rebuild(written, [[]], [], [])
        return bool(tables.kind_of(made, [written["columns"][0]["name"]]) == written)
    except Exception:  # each library has errors of its own for a type that it does not know by name
        return False
