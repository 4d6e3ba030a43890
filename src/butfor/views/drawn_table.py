"""A table that is drawn: its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from butfor.errors import InputError
from butfor.space import frames

EVERY_ROW = "all rows"
"""The name of the only group of a table without groups."""


def columns_of(table: Any, needed: Sequence[str], maker: str) -> dict[str, list[Any]]:
    """The columns of a table that the function `maker` made. It must have at least one line."""
    columns = frames.listed(table)
    absent = [name for name in needed if name not in columns]
    if absent:
        raise InputError(f"the table has no column {absent[0]!r}.", f"Give the table that {maker} made.")
    if not len(columns[needed[0]]):
        raise InputError("the table has no line.", "There is nothing to draw.")
    return columns


def group_names(columns: dict[str, list[Any]], lines: int) -> list[str]:
    """The group of each line, as text."""
    return [str(group) for group in columns.get("group", [EVERY_ROW] * lines)]
