"""A prototype: a whole row that others are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from butfor.errors import InputError, choice
from butfor.estimator.prediction import Prediction
from butfor.space import frames
from butfor.space.writing import write

Prototype = tuple[tuple[str, Any], ...]
"""The columns and values of a row. Empty: none is given."""


def prototype_of(given: Any) -> Prototype:
    """A table of one row, or a mapping of columns to values, as pairs of plain Python values."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        table = frames.as_table(given)
        if frames.height(table) != 1:
            raise InputError(f"a prototype of {frames.height(table)} rows was given.", "One row is needed.")
        given = {name: frames.values(table, name, j)[0] for j, name in enumerate(frames.names(table))}
    return tuple((str(name), value.item() if isinstance(value, np.generic) else value) for name, value in given.items())


def predicted(prototype: Prototype, like: Prediction) -> Prediction:
    """What the estimator predicts for a prototype, which is written as a row of the same kind as the rows `like`."""
    row = frames.take(like.table, [0])
    unknown = [name for name, _ in prototype if name not in frames.names(row)]
    if unknown:
        raise InputError(
            f"the prototype has the unknown columns {unknown}.",
            *choice("The columns are", unknown[0], frames.names(row)),
        )
    absent = [name for name in like.source.names if name not in dict(prototype) and name not in like.source.dropped]
    if absent:
        raise InputError(f"the prototype lacks the columns {absent}.", "It must be a whole row.")
    return Prediction(like.source, write(row, {name: [value] for name, value in prototype}))
