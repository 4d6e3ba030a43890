"""What is known about a model that was not read."""

from __future__ import annotations

from dataclasses import dataclass

from butfor.model.barrier import AbstractBarrier


@dataclass(frozen=True, eq=False)
class BlackBox:
    """A model of which only predictions are known.

    - `why`: what could not be read, in words;
    - `barrier`: how far its inputs must move before it predicts something else, if that is known;
    - `mismatched`: whether it was read, but into a model that predicts something else.
    """

    why: str
    barrier: AbstractBarrier | None = None
    mismatched: bool = False
