"""Numbers as the decimals that print them. Sums of these are exact, and so are the comparisons of relations."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=2**16)
def printed(number: float, single: bool = False) -> Fraction:
    """The shortest decimal that a number is printed as. In a column of float32 (`single`) that is the one of its float32."""
    with np.errstate(over="ignore"):
        narrow = np.float32(number)
    return Fraction(str(narrow) if single and float(narrow) == number else repr(float(number)))


def nearest(number: Fraction, single: bool = False) -> float:
    """The float that is nearest to a number. In a column of float32 it is one of these."""
    return float(np.float32(float(number))) if single else float(number)
