"""Find a smallest set of constraints that already makes a problem impossible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.solvers.outcome import Stopped
from butfor.space.space import Space

RANGES = "the ranges of the data"
MODEL = "the model itself"

Chosen = frozenset[int]
"""Some of the constraints, by their numbers."""

Kept = Callable[[Sequence[AbstractConstraint], bool], Chosen | None]
"""A function: which constraints does an answer keep by chance that was asked to keep these? None if there is provably none.

The flag widens the ranges of numbers. It raises `OpenQuestionError` if it cannot tell.
"""


class OpenQuestionError(Exception):
    """A question that was left open, because of `stopped`.

    `EFFORT` is reached at the same question every time. So what is known by then can be used.
    """

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(stopped.meaning)
        self.stopped = stopped


def smallest_conflict(atoms: Sequence[AbstractConstraint], kept_by_answer: Kept) -> tuple[tuple[str, ...], bool]:
    """A smallest conflicting set, in words, and whether all of it is known to be needed.

    First an irreducible set is found by halving (Junker, QUICKXPLAIN, AAAI 2004). Then it is compared with smallest
    sets that hit whatever must be left out for an answer (Ignatiev et al., CP 2015). If the effort ends meanwhile, the
    set may not be a smallest one. If it ends earlier, the set may hold too much; then a set of all is not returned.
    """
    search = _Search(atoms, kept_by_answer)
    if not atoms or search.needs_nothing():
        at_all = search.asked([], True)
        return {True: (MODEL,), False: (RANGES,), None: ()}[at_all], at_all is not None
    kept = search.irreducible(frozenset(), False, list(range(len(atoms)))[::-1])
    if search.open and len(kept) == len(atoms):
        return (), False
    kept = kept if search.open else search.smallest(kept)
    chosen = [atoms[i] for i in sorted(kept)]
    words = tuple(map(repr, chosen))
    return (words if search.asked(chosen, True) is not False else (*words, RANGES)), not search.open


@dataclass
class _Search:
    """What is known about sets of constraints: which are possible, and which are not.

    `open`: whether a question was left open that decides whether a constraint is needed.
    """

    atoms: Sequence[AbstractConstraint]
    kept_by_answer: Kept
    possible: list[Chosen] = field(default_factory=list)
    contradictory: list[Chosen] = field(default_factory=list)
    open: bool = False

    def asked(self, chosen: Sequence[AbstractConstraint], widen: bool) -> bool | None:
        """Whether these constraints leave no answer; None if the effort does not suffice to tell."""
        try:
            return self.kept_by_answer(chosen, widen) is None
        except OpenQuestionError as left_open:
            if left_open.stopped is not Stopped.EFFORT:
                raise
            return None

    def needs_nothing(self) -> bool:
        """Whether there is no answer even without any constraint."""
        return self._proven(frozenset())

    def _proven(self, chosen: Chosen) -> bool:
        """Whether these constraints are known to leave no answer. If that is left open, they are kept."""
        try:
            return self.contradicts(chosen)
        except OpenQuestionError as left_open:
            if left_open.stopped is not Stopped.EFFORT:
                raise
            self.open = True
            return False

    def contradicts(self, chosen: Chosen) -> bool:
        """Whether these constraints leave no answer. Nothing is asked that follows from what is known.

        An answer often keeps more than it was asked to. So all that it keeps is known to be possible together.
        """
        if any(chosen <= known for known in self.possible):
            return False
        if any(chosen >= known for known in self.contradictory):
            return True
        kept = self.kept_by_answer([self.atoms[i] for i in sorted(chosen)], False)
        if kept is None:
            self.contradictory.append(chosen)
        else:
            self.possible.append(chosen | kept)
        return kept is None

    def irreducible(self, base: Chosen, added: bool, rest: list[int]) -> Chosen:
        """An irreducible part of `rest` that contradicts `base`.

        It is empty if `base` is contradictory by itself. This is tested only if something was just `added` to `base`.
        """
        if added and self._proven(base):
            return frozenset()
        if len(rest) == 1:
            return frozenset(rest)
        first, second = rest[: len(rest) // 2], rest[len(rest) // 2 :]
        late = self.irreducible(base.union(first), True, second)
        return self.irreducible(base | late, bool(late), first) | late

    def smallest(self, kept: Chosen) -> Chosen:
        """A smallest conflict, given an irreducible one."""
        everything = frozenset(range(len(self.atoms)))
        try:
            while True:
                tried = smallest_hitting([everything - known for known in self.possible], len(kept) - 1)
                if tried is None:
                    return kept
                if self.contradicts(tried):
                    return tried
                self._grow(tried, everything)
        except OpenQuestionError as open_:
            if open_.stopped is not Stopped.EFFORT:
                raise
            return kept

    def _grow(self, chosen: Chosen, everything: Chosen) -> None:
        """Add constraints to a possible set as long as there is an answer. So the next sets are larger."""
        for i in sorted(everything - chosen):
            if not self.contradicts(chosen | {i}):
                chosen = chosen | {i}


def smallest_hitting(sets: Iterable[Chosen], most: int) -> Chosen | None:
    """A smallest set of at most `most` numbers that has one of each of these sets; None if there is none."""
    ordered = sorted(sets, key=lambda one: (len(one), sorted(one)))
    return next((found for size in range(1, most + 1) if (found := _hitting(ordered, frozenset(), size))), None)


def _hitting(sets: Sequence[Chosen], chosen: Chosen, left: int) -> Chosen | None:
    missed = next((one for one in sets if not one & chosen), None)
    if missed is None:
        return chosen
    if not left:
        return None
    tries = (_hitting(sets, chosen | {i}, left - 1) for i in sorted(missed))
    return next((found for found in tries if found is not None), None)


def widened(space: Space) -> Space:
    """The same space with wider ranges: a thousand ranges more on both sides of each."""
    return Space(
        tuple(
            feature
            if feature.levels is not None
            else replace(
                feature,
                low=float(np.floor(feature.low - 1000 * feature.range)),
                high=float(np.ceil(feature.high + 1000 * feature.range)),
            )
            for feature in space.features
        )
    )
