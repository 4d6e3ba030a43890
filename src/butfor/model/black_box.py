"""What is known about a model that was not read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A model of which only predictions are known. `why` says what could not be read."""

    why: str
