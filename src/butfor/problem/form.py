"""The form of a problem: what it needs from a solver. A solver can accept or refuse it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from butfor.model.questions import ModelKind


class ValueKind(StrEnum):
    """What a column that may change can become."""

    LEVELS = "levels"
    """One of finitely many values."""
    WHOLE = "whole"
    """A point of a grid: whole numbers, or steps."""
    CONTINUOUS = "continuous"
    """Any number in an interval."""
    MISSING = "missing"
    """A number that is missing, or may become so."""


class CostTerm(StrEnum):
    """A term that a cost may have. A solver that cannot handle one refuses it in `accepts`."""

    L0 = "l0"
    """A price per changed column."""
    L1 = "l1"
    """A price per unit of change."""
    L2 = "l2"
    """A price per squared unit of change."""
    LINF = "linf"
    """The largest of all changes."""
    CALLABLE = "callable"
    """A function of one number, known only at points where it is called."""
    QUADRATIC = "quadratic"
    """A quadratic form over several columns."""
    FORBIDDEN = "forbidden"
    """A price table in which some change of level has no price and so is not allowed."""
    TRADEOFF = "tradeoff"
    """The L-infinity part and a price table order two levels differently, so that neither is better."""


class ConstraintKind(StrEnum):
    """A constraint that is more than a narrower domain. A solver that cannot handle one refuses it in `accepts`."""

    AT_MOST = "at most"
    """At most a given number of columns change."""
    LINEAR = "linear"
    """A linear relation between numbers of the answer."""
    IMPLIES = "implies"
    """One change brings another along."""
    FRESH = "fresh"
    """Certain columns do not all change together."""
    LINKED = "linked"
    """The values of some columns are one of certain combinations."""
    COMPUTED = "computed"
    """The value of a column follows from others."""
    APART = "apart"
    """At least some column is far from its value in an earlier answer."""
    MARGIN = "margin"
    """A distance to every deciding boundary."""
    ROBUST = "robust"
    """A ball around the answer in which the target is met everywhere."""
    CANDIDATES = "candidates"
    """The answer is one of given rows."""
    OTHER = "other"
    """A relation that the encoded row decides, and of which nothing more is known."""
    JUDGED = "judged"
    """A model decides about each point, and nothing more is known about it."""


@dataclass(frozen=True)
class Form:
    """What a problem needs from a solver. Nothing here depends on how many rows there are.

    - `model`: the kind of model;
    - `inequalities`: how many score inequalities must hold at once, in the largest score set;
    - `curved`: whether some score set also has a curved boundary;
    - `blended`: whether some score set is about a mean of functions of several sums;
    - `movable`: what the columns that may change can become;
    - `forced`: whether a constraint forces some column to move;
    - `binned`: whether a linear model reads some movable number through its bin;
    - `cost`: the terms of the cost;
    - `constraints`: the constraints that are not part of the domain;
    - `weighted_changes`: whether changed columns have different prices;
    - `unread`: why the model could not be read, if it could not;
    - `round_ball`: whether an answer must stay valid in a ball that is no box;
    - `slips`: whether levels may slip in that ball;
    - `separable`: whether the model is a sum of trees of which each reads at most one column;
    - `combinations`: how many points a row and its neighbours in a ball may become at most (infinite if some number
      may be any in an interval);
    - `merged`: the form of the problem in which linked columns are one; None if no columns are linked, or if they cannot be
      merged;
    - `unmerged`: why they cannot;
    - `placed`: the form of the problem in which columns are one with those that are computed from them; None if none are, or if
      that cannot be;
    - `unplaced`: why it cannot;
    - `acted`: whether it is about actions, from which other values follow;
    - `cases`: then, the forms of the problems of the first row in which it is settled what follows;
    - `uncased`: why there are none.
    """

    model: ModelKind
    inequalities: int
    curved: bool
    movable: frozenset[ValueKind]
    forced: bool
    binned: bool
    cost: frozenset[CostTerm]
    constraints: frozenset[ConstraintKind]
    weighted_changes: bool
    unread: str = ""
    blended: bool = False
    separable: bool = False
    round_ball: bool = False
    slips: bool = False
    combinations: float = np.inf
    merged: Form | None = None
    unmerged: str = ""
    placed: Form | None = None
    unplaced: str = ""
    acted: bool = False
    cases: tuple[Form, ...] = ()
    uncased: str = ""


BLENDED = "the target is on a mean of functions of several sums of scores"
"""Why a solver refuses a form that is blended."""


ADDED_UP = frozenset({CostTerm.L0, CostTerm.L1, CostTerm.L2, CostTerm.FORBIDDEN})
"""The terms of prices that add up over columns."""


def coupled(form: Form, taken: Set[ConstraintKind]) -> str:
    """Why columns cannot be looked at one by one: constraints other than those that are taken, or the cost. Empty if they can."""
    if unknown := form.constraints - taken:
        return f"it takes no constraints of the kinds {listed(unknown)}"
    if others := form.cost - ADDED_UP:
        return f"the cost has the terms {listed(others)}; it takes prices that add up over columns"
    return ""


def listed(kinds: Iterable[StrEnum]) -> str:
    """Kinds as text, in a fixed order."""
    return ", ".join(sorted(kinds))
