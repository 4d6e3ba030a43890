"""The columns of the user's table and the features that they hold: dummies are several columns, and one feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.names import fixed, moves
from butfor.space.feature import Feature
from butfor.space.space import Space


def feature_of(space: Space, column: Any) -> Feature:
    """The feature that a column holds, alone or with others."""
    return next((feature for feature in space if str(column) in feature.columns), None) or space[column]


def features_of(space: Space, columns: Sequence[Any]) -> list[Feature]:
    """The features that some columns hold, alone or with others."""
    names = set(map(str, columns))
    return [feature for feature in space if names & set(feature.columns)]


def cells_of(feature: Feature, column: Any) -> list[Any]:
    """What a column of a feature holds at each of its levels."""
    levels = list(feature.levels or ())
    if feature.dummies is None:
        return levels
    return feature.dummies.cells(feature.columns.index(str(column)), np.arange(float(len(levels))))


def only(space: Space, varied: Sequence[Any]) -> Iterator[AbstractConstraint]:
    """No column changes but these. Of dummies, some may be among them."""
    names = set(map(str, varied))
    held = []
    for feature in space:
        kept = [column for column in feature.columns if column not in names]
        if kept and len(kept) < len(feature.columns) and feature.levels is not None:
            yield _while_keeping(feature, kept)
        elif kept:
            held.append(feature.name)
    if held:
        yield fixed(*held)


def _while_keeping(feature: Feature, kept: Sequence[str]) -> AbstractConstraint:
    """A feature changes only between levels at which these columns of it hold the same."""
    levels = feature.levels or ()
    held = list(zip(*(cells_of(feature, column) for column in kept), strict=True))
    alike = [[other for other, its in zip(levels, held, strict=True) if its == own] for own in held]
    return moves(feature.name, dict(zip(levels, alike, strict=True)))
