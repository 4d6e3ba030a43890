"""An action: the same change for whoever takes it, such as "income +3000 and late_payments -1"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, number
from butfor.experimental import experimental
from butfor.explanation.changes import word
from butfor.model.grid_points import grid_point
from butfor.space.space import Space


@experimental
@dataclass(frozen=True)
class Action:
    """A change that does not depend on the row: amounts that are added to numbers, and levels that are taken.

    - `amounts`: column -> what is added to the number, as far as the range of the column goes: whoever has one late
      payment takes "late_payments -2" to none;
    - `levels`: column -> the level that it becomes.

    A missing number stays missing.
    """

    amounts: tuple[tuple[str, float], ...] = ()
    levels: tuple[tuple[str, Any], ...] = ()

    @property
    def changes(self) -> dict[str, Any]:
        """The action as a dict from column to amount or level."""
        return {**dict(self.amounts), **dict(self.levels)}

    def taken(self, start: FloatArray, space: Space) -> FloatArray:
        """The encoded rows after each of them took the action."""
        points = start.copy()
        for name, amount in self.amounts:
            j = space.index(name)
            feature = space.features[j]
            low, high = np.fmin(feature.low, start[:, j]), np.fmax(feature.high, start[:, j])
            after = np.clip(start[:, j] + amount, low, high)
            if feature.step:
                after = grid_point(np.round((after - feature.anchor) / feature.step), feature.step, feature.anchor)
            points[:, j] = np.where(np.isnan(start[:, j]), np.nan, after)
        for name, level in self.levels:
            points[:, space.index(name)] = space[name].code(level, f"the action {self}")
        return points

    def __str__(self) -> str:
        parts = [f"{name} {'+' if amount > 0 else ''}{word(amount)}" for name, amount in self.amounts]
        return " and ".join(parts + [f"{name} becomes {level}" for name, level in self.levels])


def action_of(given: Any, space: Space) -> Action:
    """The action that the user wrote: an `Action`, or a dict from column to amount or level."""
    if isinstance(given, Action):
        given = given.changes
    if not isinstance(given, Mapping) or not given:
        raise InputTypeError(
            f"the action {given!r} was given.",
            "An action is a dict from column to what is added to a number, or to the level that it becomes.",
            "Write {'income': 3000, 'housing': 'owns'}.",
        )
    amounts, levels = list[tuple[str, float]](), list[tuple[str, Any]]()
    for name, value in given.items():
        feature = space[str(name)]
        if feature.unread:
            raise InputError(
                f"the action {dict(given)!r} was given.",
                f"The model drops {feature.name!r}, so changing it changes no prediction.",
                "Leave it out.",
            )
        if feature.levels is not None:
            feature.code(value, f"the action {dict(given)!r}")
            levels.append((feature.name, value))
            continue
        message = (
            f"the action {dict(given)!r} was given.",
            f"What is added to {feature.name!r} must be a finite number.",
        )
        amount = number(value, *message)
        if not np.isfinite(amount):
            raise InputError(*message)
        amounts.append((feature.name, amount))
    return Action(tuple(amounts), tuple(levels))
