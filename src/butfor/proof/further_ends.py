"""Further ends of cells, where a prover that splits boxes at ends alone found numbers between two points of a grid."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

from butfor.proof.failing import CheaperError, TooWideError

NEXT_TO_A_POINT = 1e-9
"""A number that is off a point of its grid by less than this share of a step is that point."""

Ends = dict[int, list[str]]
"""By column, where further cells end."""


def parted_further(columns: list[Any], cheaper: CheaperError, ends: Ends) -> bool:
    """Add an end between the two points of a grid next to each number that lies between them, or where cells are too wide.

    Returns whether there was any.
    """
    more = False
    for j, its in cheaper.ends.items() if isinstance(cheaper, TooWideError) else ():
        new = {x.hex() for x in its} - {*ends.setdefault(j, [])}
        ends[j] += sorted(new)
        more |= bool(new)
    for j, x in cheaper.numbers.items():
        column = columns[j]
        if column.levels is not None or not column.step:
            continue
        steps = (Fraction(x) - column.anchor) / column.step
        if abs(steps - round(steps)) > NEXT_TO_A_POINT:
            end = float(column.anchor + (floor(steps) + Fraction(1, 2)) * column.step).hex()
            more |= end not in ends.setdefault(j, [])
            ends[j] += [end] * (end not in ends[j])
    return more
