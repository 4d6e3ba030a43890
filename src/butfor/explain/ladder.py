"""Several goals for one row: they must be the rungs of one ladder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError
from butfor.estimator.source import Source
from butfor.problem.targets.classes import Classes, Probability
from butfor.problem.targets.names import as_target
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.targets.values import ValueIn
from butfor.solvers.solver import Budget


def rungs(goals: Any, source: Source) -> dict[str, AbstractTarget]:
    """The goals with their names, checked: probabilities of one class, values that move one way, or classes."""
    if isinstance(goals, Mapping):
        named = {str(name): as_target(goal, source) for name, goal in goals.items()}
    elif isinstance(goals, Sequence) and not isinstance(goals, str | bytes):
        targets = [as_target(goal, source) for goal in goals]
        named = {repr(target): target for target in targets}
        if len(named) < len(targets):
            raise InputError(f"the goals {_listed(targets)} were given.", "One of them is given twice.")
    else:
        raise InputTypeError(
            f"goals={goals!r} was given.", "It must be a list of targets, or a dict from name to target."
        )
    if not named:
        raise InputError("no goal was given.", "At least one is needed.")
    _check_order(list(named.values()))
    return named


def shares(budget: Budget, count: int) -> Iterator[Budget]:
    """The time that is left, shared equally among those still to come."""
    for place in range(count):
        yield budget.at_most(budget.left() / (count - place))


def _check_order(targets: Sequence[AbstractTarget]) -> None:
    given = f"the goals {_listed(targets)} were given."
    kinds = {type(target) for target in targets}
    if len(kinds) > 1 or not kinds <= {Classes, Probability, ValueIn}:
        raise InputError(
            given,
            "They must be of one kind: probabilities of one class, values, or classes.",
            "Use bf.probability(label, at_least=...), bf.value(...) or the names of classes.",
        )
    if isinstance(targets[0], Probability):
        found = [target for target in targets if isinstance(target, Probability)]
        if len({target.label for target in found}) > 1:
            raise InputError(given, "They must be about one class.", "Make one ladder for each class.")
        ends = np.array([(target.at_least, target.at_most) for target in found])
        if (ends[:, 1] == 1).all() and not _climbs(ends):
            raise InputError(given, "The probabilities must increase from one goal to the next.", "Sort them.")
        _check_ends(given, "The probabilities", ends)
    if isinstance(targets[0], ValueIn):
        ends = np.array([(target.low, target.high) for target in targets if isinstance(target, ValueIn)])
        _check_ends(given, "The values", ends)


def _check_ends(given: str, what: str, ends: FloatArray) -> None:
    if not any(_climbs(sign * ends) for sign in (1, -1)):
        raise InputError(given, f"{what} must increase, or decrease, from one goal to the next.", "Sort them.")


def _climbs(ends: np.ndarray) -> bool:
    """Whether no end of an interval lies below that of the one before, and one of both lies above."""
    before, after = ends[:-1], ends[1:]
    return bool(((after >= before).all(axis=1) & (after > before).any(axis=1)).all())


def _listed(targets: Sequence[AbstractTarget]) -> str:
    return ", ".join(repr(str(target)) for target in targets)
