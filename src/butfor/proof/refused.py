"""What a proof cannot say yet."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from butfor.arrays import BoolArray
from butfor.model.lattice import Lattice
from butfor.model.trees import Trees
from butfor.neighbours.ball import BallNorm
from butfor.problem.constraints.constraint import JudgedConstraint
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.linked import Combinations
from butfor.problem.constraints.relations import AtMost, LinearRelation
from butfor.problem.merged.merging import Merging, TooManyError
from butfor.problem.problem import Problem
from butfor.problem.question import Question
from butfor.proof.wanted import not_asked


def refuse_ball(constraint: JudgedConstraint, problem: Problem, model: Any, lost: BoolArray, curved: bool) -> None:
    """Raise an error if no proof can say the ball of a constraint.

    - `model`: as the checker reads it;
    - `lost` (columns): whether a column may be missing;
    - `curved`: whether what is wanted is about curves of sums.
    """
    ball = problem.demands.ball
    assert ball is not None
    if ball.slips.seen:
        raise not_asked(f"the constraint {constraint!r} of levels")
    for refused, of in (
        (curved, "a mean of probabilities"),
        (model.paths, "an oblique tree"),
        (model.slopes, "trees and weights together"),
        (model.trees and not isinstance(problem.model, Trees), "steps of single columns"),
        (model.trees and ball.norm is not BallNorm.LINF, "trees, of which only boxes (norm='linf') are proven"),
    ):
        if refused:
            raise not_asked(f"the constraint {constraint!r} of {of}")
    for j in np.flatnonzero(ball.radius > 0).tolist():
        name, step, anchor = problem.space.features[j].name, float(ball.step[j]), float(ball.anchor[j])
        grid = Lattice.of(step, anchor) if step else None
        if grid is not None and (grid.step, grid.anchor) != (Fraction(step), Fraction(anchor)):
            raise not_asked(f"the constraint {constraint!r} of {name!r}, whose grid floats miss")
        if (coarse := problem.domain.step[j]) and Fraction(float(ball.radius[j])) % Fraction(float(coarse)):
            raise not_asked(
                f"the constraint {constraint!r} of {name!r}, whose values are farther apart than the radius"
            )
        if model.weights and lost[j]:
            raise not_asked(f"the constraint {constraint!r} of {name!r}, which may be missing")


def refuse_question(question: Question) -> None:
    """Raise an error about what a proof cannot say yet."""
    for constraint in question.constraints:
        if constraint.in_ball or (constraint in question.judged and constraint.asks_models):
            continue
        if constraint in question.judged or constraint in question.candidates or constraint.alters:
            raise not_asked(f"the constraint {constraint!r}")
    if question.prices.calls:
        raise not_asked(f"the cost {question.cost!r}")


def merging_of(problem: Problem) -> Merging | None:
    """How columns that belong together are merged; None if there are none. Raises an error if no proof can merge them."""
    found = problem.relations_of(Combinations)
    if not found:
        return None
    try:
        why = problem.merging.obstacle()
    except TooManyError as error:
        why = str(error)
    if why:
        raise not_asked(f"the constraint {found[0]!r} where {why}")
    return problem.merging


def refuse_relations(problem: Problem) -> None:
    """Raise an error about a relation that no proof can say."""
    for relation in problem.relations:
        if not isinstance(relation, AtMost | LinearRelation | Implication):
            raise not_asked(f"the constraint {relation!r}")


def refuse_cost(problem: Problem, model: Any, curved: bool) -> None:
    """Raise an error if no proof can say a cost that is not added up over columns, of a model as the checker reads it.

    `curved`: whether what is wanted is about curves of sums.
    """
    prices = problem.prices
    if prices.is_added or prices.is_largest:
        return
    what = "a quadratic form" if prices.Q is not None else "a largest price"
    for refused, of in (
        (curved, "a mean of probabilities"),
        (model.layers, "a network"),
        (model.slopes, "trees and weights together"),
        (model.trees and prices.Q is not None, "trees"),
        (model.trees and problem.relations_of(LinearRelation), "trees under linear relations"),
    ):
        if refused:
            raise not_asked(f"{what} beside other prices, of {of}")
