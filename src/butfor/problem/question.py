"""One call of `explain`, checked: what every row of it shares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError
from butfor.estimator.source import Source
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.costs import DEFAULT, AbstractCost, price
from butfor.problem.prices import Prices
from butfor.problem.targets.target import AbstractTarget, as_target
from butfor.solvers.solver import AbstractSolver
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class Asked:
    """What is wanted of the rows, at what prices and by which rules; how many answers, of which solver."""

    target: AbstractTarget
    cost: AbstractCost
    prices: Prices
    constraints: tuple[AbstractConstraint, ...]
    k: int
    solver: str | AbstractSolver
    seed: int


def asked(
    space: Space,
    source: Source,
    target: Any,
    cost: AbstractCost | None,
    constraints: Iterable[AbstractConstraint],
    k: int = 1,
    solver: str | AbstractSolver = "auto",
    seed: int = 0,
) -> Asked:
    """The question as it was written, checked against space and estimator."""
    if isinstance(constraints, AbstractConstraint):
        constraints = (constraints,)
    if not isinstance(constraints, Iterable):
        raise InputTypeError(f"constraints={constraints!r} was given.", "Constraints are a list.")
    listed = tuple(constraints)
    for constraint in listed:
        if not isinstance(constraint, AbstractConstraint):
            raise InputTypeError(
                f"constraints holds {constraint!r}.",
                "A constraint is bf.fixed(...), bf.only_up(...), bf.between(...), ...",
            )
        constraint.check(space)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k={k!r} was given.", "k is a whole number of at least 1.")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise InputTypeError(f"seed={seed!r} was given.", "A seed is a whole number.")
    if isinstance(solver, AbstractSolver):
        solver.check(space)
    chosen = DEFAULT if cost is None else cost
    return Asked(as_target(target, source), chosen, price(chosen, space), listed, int(k), solver, int(seed))
