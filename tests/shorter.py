"""What the short run of the tests leaves to the long one: more of the same cases.

Lists of cases say it where the cases are written. Where they come from several lists, or from a fixture, a mark says it:
with `@pytest.mark.shorter(4)`, the short run takes four of a test's cases, always the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import product
from typing import Any
from zlib import crc32

import pytest


def leave_to_the_long_run(tests: Iterable[pytest.Item]) -> None:
    """Mark as long what `shorter` leaves out. Cases are drawn by the digests of their names, so every list is mixed."""
    cases: dict[str, list[pytest.Item]] = {}
    for test in tests:
        if test.get_closest_marker("shorter") and not test.get_closest_marker("long"):
            cases.setdefault(test.nodeid.partition("[")[0], []).append(test)
    for its in cases.values():
        (count,) = next(its[0].iter_markers("shorter")).args
        for left in sorted(its, key=lambda test: crc32(test.nodeid.encode()))[count:]:
            left.add_marker(pytest.mark.long)


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrised test. The short run takes the first `count` of them, the long run all."""
    known = list(cases)
    return [*known[:count], *(pytest.param(case, marks=pytest.mark.long) for case in known[count:])]


def diagonal(*lists: Iterable[Any]) -> list[Any]:
    """All combinations of the cases of some lists.

    The short run takes only as many as the longest list has cases: the first of each, the second of each, and so on,
    a shorter list from its start again. So it meets every case of every list.
    """
    known = [list(cases) for cases in lists]
    met = {tuple(at % len(cases) for cases in known) for at in range(max(map(len, known)))}
    return [
        _case(tuple(cases[at] for cases, at in zip(known, places, strict=True)), places in met)
        for places in product(*(range(len(cases)) for cases in known))
    ]


def one_in(step: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrised test. The short run takes one in `step` of them, the long run all."""
    return [_case(case, at % step == 0) for at, case in enumerate(cases)]


def unless(left: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrised test. The short run takes all but those that are `left`, the long run all."""
    known = list(cases)
    assert set(left) <= set(known), "what is left to the long run is one of the cases"
    return [_case(case, case not in left) for case in known]


def _case(case: Any, short: bool) -> Any:
    """One case of a parametrised test. A tuple holds the values of several arguments."""
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=() if short else pytest.mark.long)
