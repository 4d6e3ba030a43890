"""The form of a problem: what it needs, in words that a solver can say yes or no to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """What a problem needs of a solver; nothing here depends on the size of the data."""

    model: str
    scores: int
    sets: int
    rows: int
    curved: bool
    movable: frozenset[str]
    forced: bool
    binned: bool
    cost: frozenset[str]
    relations: frozenset[str]
    weighted_changes: bool
    unread: str = ""
    """Why the model could not be read, if it could not."""
