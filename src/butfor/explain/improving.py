"""Answers as they are found: a first one soon, then better ones, and bounds that close in on them.

Each step asks the whole question again with more time than before. So all steps together take at most about
1 + 1 / (GROWTH - 1) times what the last one takes, and every answer has the certificate that `explain` would give it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from butfor.compiled.clock import now
from butfor.explanation.explanations import Explanations
from butfor.solvers.outcome import Stopped

FIRST_SECONDS = 0.15
"""How long the first step may take. Most questions are settled by then."""

IMPROVING_SECONDS = 60.0
"""How long all steps may take if nothing else is said."""

GROWTH = 2.5
"""How much more time each step has than the one before."""


def improving(asked: Callable[[float], Explanations], seconds: float) -> Iterator[Explanations]:
    """The answers after each step that made one cheaper or raised a bound. `asked` gives them within so many seconds."""
    until, step, best = now() + seconds, FIRST_SECONDS, None
    while True:
        found = asked(max(min(step, until - now()), FIRST_SECONDS / 10))
        if best is None or _better(found, best):
            best = found
            yield found
        if not _out_of_time(found) or now() >= until:
            return
        step *= GROWTH


def _better(found: Explanations, best: Explanations) -> bool:
    """Whether some row has a cheaper answer or a higher bound, and none a dearer answer or a lower bound."""
    if len(found) != len(best):
        return len(found) > len(best)
    pairs = [
        (new.cost, old.cost, new.certificate.bound, old.certificate.bound) for new, old in zip(found, best, strict=True)
    ]
    worse = any(cost > before or bound < low for cost, before, bound, low in pairs)
    return not worse and any(cost < before or bound > low for cost, before, bound, low in pairs)


def _out_of_time(found: Explanations) -> bool:
    """Whether more time could help."""
    return any(
        one.certificate.stopped is Stopped.TIME and one.certificate.bound < (one.cost if one.found else inf)
        for one in found
    )
