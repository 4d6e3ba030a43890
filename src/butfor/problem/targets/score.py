"""The score of an answer: what the model says about the target's quantity, before and after, and what is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.scores import UNIT_SINGLE

SHORTEST, LONGEST = 3, 6
"""With how many significant digits a score is written: as few as tell it from the others."""

CLOSE_RELATIVE, CLOSE_ABSOLUTE = 1e-9, 1e-12
"""How far two computations of one score may differ. Another processor may round differently."""

CLOSE_SINGLE = 64 * UNIT_SINGLE
"""The same, relative, for two scores that were computed in single precision, which shows in their digits."""


@dataclass(frozen=True)
class Score:
    """A number of the model that the target is about, before and after a change.

    - `of`: what it is, such as "probability of approved". Probabilities are calibrated if the model's are;
    - `before`, `after`: the number for the row and for the answer (`after` is None if there is no answer);
    - `threshold`: the number that is needed (None: there is no fixed one);
    - `up`: whether the number must be at least the threshold, and not at most.
    """

    of: str
    before: float
    after: float | None = None
    threshold: float | None = None
    up: bool = True

    @property
    def beyond(self) -> float | None:
        """How far beyond the threshold the answer stands; None if there is no answer or no threshold."""
        if self.after is None or self.threshold is None:
            return None
        return self.after - self.threshold if self.up else self.threshold - self.after

    @property
    def needed(self) -> str:
        """What is needed, in words; empty if there is no fixed threshold.

        >>> Score("predicted value", 7.0, 9.0, threshold=8.5).needed
        'at least 8.5'
        """
        return f"at {'least' if self.up else 'most'} {self.texts[-1]}" if self.threshold is not None else ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The numbers that are known (before, after, threshold) as short texts.

        Each has as few digits as tell it from the others, but not more than six.

        >>> Score("probability of yes", 0.25, 0.50001, threshold=0.5).texts
        ('0.25', '0.50001', '0.5')
        """
        numbers = [one for one in (self.before, self.after, self.threshold) if one is not None]
        return tuple(_told_apart(number, [one for one in numbers if one != number]) for number in numbers)

    def __str__(self) -> str:
        moved = " → ".join(self.texts[: 1 if self.after is None else 2])
        return f"{self.of} {moved}" + (f" ({self.needed} needed)" if self.needed else "")

    def same_as(self, other: Score | None) -> bool:
        """Whether this is the same score, computed again."""
        if other is None or (self.of, self.up) != (other.of, other.up):
            return False
        mine, its = (self.before, self.after, self.threshold), (other.before, other.after, other.threshold)
        return all(close(a, b) for a, b in zip(mine, its, strict=True))


def scores_of(
    of: list[str], before: FloatArray, after: FloatArray | None, threshold: FloatArray, up: BoolArray
) -> list[Score | None]:
    """One score per row. A threshold that is NaN is not known, and a row whose score is NaN has none."""
    ends = [None] * len(before) if after is None else [float(one) for one in after]
    made: list[Score | None] = []
    for name, was, end, needed, more in zip(of, before.tolist(), ends, threshold.tolist(), up.tolist(), strict=True):
        known = was == was and (end is None or end == end)
        made.append(Score(name, was, end, None if needed != needed else needed, more) if known else None)
    return made


def _told_apart(number: float, others: list[float]) -> str:
    texts = [
        (_short(number, digits), [_short(one, digits) for one in others]) for digits in range(SHORTEST, LONGEST + 1)
    ]
    return next((text for text, rest in texts if text not in rest), texts[-1][0])


def _short(number: float, digits: int) -> str:
    if not np.isfinite(number):
        return str(number)
    digits = digits if abs(number) < 10**digits else len(str(int(abs(number))))
    rounded = float(f"{number:.{digits}g}")
    return np.format_float_positional(rounded, trim="-") if 1e-6 < abs(rounded) < 1e16 else f"{rounded:g}"


def close(a: float | None, b: float | None) -> bool:
    """Whether two computations of one number agree."""
    if a is None or b is None:
        return a is b
    relative = CLOSE_SINGLE if _in_single(a) and _in_single(b) else CLOSE_RELATIVE
    return math.isclose(a, b, rel_tol=relative, abs_tol=CLOSE_ABSOLUTE)


def _in_single(number: float) -> bool:
    """Whether single precision holds a number, and half precision does not: a round number tells nothing."""
    with np.errstate(over="ignore"):  # narrow types do not reach large numbers
        return float(np.float32(number)) == number != float(np.float16(number))
