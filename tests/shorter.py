"""What the short run of the tests leaves to the long one: more of the same cases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrised test. The short run takes the first `count` of them, the long run all."""
    known = list(cases)
    return [*known[:count], *(pytest.param(case, marks=pytest.mark.long) for case in known[count:])]
