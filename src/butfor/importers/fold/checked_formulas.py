"""Formulas that a step has told of itself, when it was called with names in place of numbers, and whether they are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column, Values
from butfor.importers.fold.recoded import few_values
from butfor.model.formula import Formula
from butfor.model.formula_probes import ALL_MISSING, TELLING_NUMBERS, Function, Probed, mixed_rows, rows_with_gaps

VALUES_NAMED = 3
"""How many values of a row an error names in which a formula is wrong."""


def check_formulas(columns: list[Column], formulas: Sequence[Formula], function: Function, by: str) -> None:
    """Refuse formulas of columns if the function that has told them computes something else.

    The function gets and returns columns of values. If it does with a missing value what no formula says, it is noted down
    that this value must not be missing.
    """
    probed = Probed(function, formulas, range(len(columns)))
    rows = mixed_rows([_pool(column) for column in columns])
    wrong = probed.wrong(rows)
    if wrong is None:
        raise _refused(by, "it refuses the numbers that it is asked about")
    if wrong.any():
        row = int(np.argmax(wrong))
        values = ", ".join(repr(value) for value in (column[row].item() for column in rows[:VALUES_NAMED]))
        raise _refused(by, f"it makes something else of the row that begins with {values}")
    lost = {i: value for i, column in enumerate(columns) for value in [_lost(column)] if _is_missing(value)}
    for i in _wrong_gaps(probed, rows, lost):
        _note_never_missing(columns[i], by)


def _pool(column: Column) -> Values:
    """The values of a column about which a function is asked."""
    if column.table is not None or column.edges is not None:
        return few_values(column)[:-1]
    ends = () if column.ends is None else column.ends
    own = column.at(column.inside(np.array([column.centre, *ends])))
    return np.concatenate([TELLING_NUMBERS.astype(own.dtype), own[np.isfinite(own)]])


def _lost(column: Column) -> Any:
    """What the step gets in place of a missing value."""
    if column.refuses_missing:
        return 0.0
    return column.at(np.array([np.nan]))[0] if column.table is None else column.table[-1]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(value != value))


def _wrong_gaps(probed: Probed, rows: Sequence[Values], lost: Mapping[int, Any]) -> set[int]:
    """The columns whose missing values the function treats otherwise than its formulas do.

    If it does so only where all of them are missing, these are all.
    """
    made, which = rows_with_gaps(rows, lost)
    wrong = probed.wrong(made)
    found = set() if wrong is None else set(which[wrong].tolist())
    return set(lost) if found == {ALL_MISSING} else found - {ALL_MISSING}


def _note_never_missing(column: Column, by: str) -> None:
    """Note that a value of the table must not be missing. It cannot be said of what earlier steps make."""
    made = column.projections is None or column.feature >= column.projections.features or column.domain is not None
    if made or column.never_missing is None:
        raise _refused(by, "it treats missing values otherwise")
    column.never_missing.add(column.feature)


def _refused(by: str, why: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{by} does more than calculate: {why}.",
        "What it computes must follow from its formula alone.",
        "Take care of such values in a step before it, or let the swarm search.",
    )
