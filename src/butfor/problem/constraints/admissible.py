"""What one may do to rows under constraints, and what the rows may become by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.problem.constraints.constraint import AbstractConstraint, Changes, Relation, among_each_other
from butfor.problem.constraints.follows import Consequences
from butfor.problem.constraints.of_values import OfValues, ValuesKept, possible_values
from butfor.problem.constraints.restrictions import narrowed_by, restrictions_in
from butfor.problem.domain import Domain, open_domain
from butfor.space.space import Space


def admissible(space: Space, factuals: FloatArray, constraints: Iterable[AbstractConstraint]) -> Domain:
    """The domain of one's actions on some rows under constraints.

    Columns that are computed from others may become whatever that is. A column that follows from others may end in its
    range. So what one does to it oneself may lie as far beyond as it changes by itself, and `ValuesKept` says of both
    together whether they stay within.
    """
    listed = tuple(constraints)
    consequences = Consequences.listed(space, listed)
    restrictions = restrictions_in(listed)
    computed = [space.index(name) for constraint in listed for name in constraint.following]
    if not consequences:
        domain = open_domain(space, factuals)
        return narrowed_by(domain.unbounded(computed) if computed else domain, restrictions, space)
    domain = possible_values(space, factuals, listed)
    low, high = domain.low.copy(), domain.high.copy()
    stay = domain.stay.copy()
    for j in consequences.effects:
        least, most = consequences.gains(j, factuals, domain.low, domain.high)
        low[:, j], high[:, j], stay[:, j] = domain.low[:, j] - most, domain.high[:, j] - least, True
    opened = replace(domain, low=low, high=high, stay=stay)
    return narrowed_by(opened, [one for one in restrictions if not one.of_values], space)


def inside(space: Space, changes: Changes, constraints: Iterable[AbstractConstraint]) -> BoolArray:
    """Which changes one may make, and end at values that may be."""
    listed = tuple(constraints)
    fine = admissible(space, changes.start, listed).admits(changes.actions)
    for relation in _of_ranges(Consequences.listed(space, listed), listed):
        fine = fine & relation.holds_between(space, changes.start, changes.actions)
    return np.asarray(fine)


def relations_of(space: Space, constraints: Iterable[AbstractConstraint]) -> tuple[Relation, ...]:
    """The relations among constraints, as they are asked about actions."""
    listed = tuple(constraints)
    consequences = Consequences.listed(space, listed)
    found = among_each_other(constraint for constraint in listed if isinstance(constraint, Relation))
    told = (
        OfValues(one, consequences)
        if one.of_values and consequences and (not one.numbers or consequences.touch(one.numbers))
        else one
        for one in found
    )
    return (*told, *_of_ranges(consequences, listed))


def _of_ranges(consequences: Consequences, constraints: tuple[AbstractConstraint, ...]) -> Iterator[Relation]:
    if consequences:
        yield ValuesKept(consequences, constraints)
