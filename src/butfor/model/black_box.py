"""What is known about a model that was not read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A model of which only predictions are known.

    - `why`: what could not be read, in words;
    - `mismatched`: whether it was read, but into a model that predicts something else.
    """

    why: str
    mismatched: bool = False
