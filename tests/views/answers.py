"""Answers made by hand and drawn at random, for the tests of the views: no model is needed to look at one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import butfor as bf
from butfor.explanation.question_record import QuestionRecord
from butfor.problem.costs import AbstractCost
from butfor.problem.spec import to_spec
from butfor.problem.targets.classes import Classes
from butfor.problem.targets.target import AbstractTarget
from butfor.space.feature import Feature
from butfor.testing.problems import Kinds, random_constraints, random_row, random_space
from butfor.testing.random_costs import random_cost
from butfor.verdict.certificate import Certificate

SPACE = bf.Space(
    (
        Feature("income", 0.0, 100_000.0, step=1.0),
        Feature("debt <b>", 0.0, 1.0, missing=True),
        Feature("job", levels=("clerk & co", "$nurse$", "pilot"), missing=True),
    )
)
WORDS = {
    bf.Status.PROVEN_OPTIMAL: "no admissible change costs less",
    bf.Status.WITHIN_GAP: "at most 100.0% above the optimum",
    bf.Status.VALID: "optimality is not claimed",
    bf.Status.PROVEN_INFEASIBLE: "impossible with fixed('job'); without it there is an answer",
    bf.Status.NOT_FOUND: "no answer was found, although no limit was reached; there may be one",
}


def question(target: AbstractTarget, cost: AbstractCost, constraints: list[Any]) -> QuestionRecord:
    spec = {"target": to_spec(target), "cost": to_spec(cost), "constraints": [to_spec(one) for one in constraints]}
    return QuestionRecord(repr(target), repr(cost), tuple(map(repr, constraints)), spec)


def made(
    before: tuple[float, ...] = (20_000.0, 0.25, 0.0),
    after: tuple[float, ...] | None = (22_500.0, 0.25, 1.0),
    status: bf.Status = bf.Status.PROVEN_OPTIMAL,
    *,
    space: bf.Space = SPACE,
    asked: QuestionRecord | None = None,
    said: tuple[Any, Any] = ("no", "yes"),
    **more: Any,
) -> bf.Explanation:
    """An answer that says what it is told to say."""
    start = np.array(before)
    end = None if after is None else np.array(after)
    factual = pd.DataFrame({one.name: [one.value(code)] for one, code in zip(space, before, strict=True)})
    cost = np.inf if end is None else 1.5
    bounds = {bf.Status.PROVEN_OPTIMAL: cost, bf.Status.WITHIN_GAP: 0.75, bf.Status.PROVEN_INFEASIBLE: np.inf}
    return bf.Explanation(
        space=space,
        factual_codes=start,
        point_codes=end,
        factual=factual,
        point=None if end is None else space.decode(end[None], factual, start[None]),
        before=said[0],
        after=None if end is None else said[1],
        cost=cost,
        certificate=Certificate(
            status=status,
            cost=cost,
            bound=bounds.get(status, 0.0),
            why=WORDS[status],
            solver="by hand: for a test",
            checks=() if end is None else (("the model predicts yes", True), ("all constraints hold", False)),
            conflict=("fixed('job')",) if status is bf.Status.PROVEN_INFEASIBLE else (),
            fingerprint="0123456789abcdef",
            versions={"butfor": bf.__version__},
        ),
        question=asked or question(Classes(("yes",)), bf.L1(), [bf.fixed("debt <b>"), bf.only_up("income")]),
        **more,
    )


def drawn(seed: int) -> bf.Explanation:
    """A random answer: any space, any cost, any constraints, any status."""
    rng = np.random.default_rng(seed)
    kinds = Kinds(relations=("at most", "margin", "linear", "implies"))
    space = random_space(rng, kinds)
    status = list(bf.Status)[rng.integers(5)]
    label = [True, 3, "yes", 2.5][rng.integers(4)]
    asked = question(Classes((label,)), random_cost(rng, space, kinds.costs), random_constraints(rng, space, kinds))
    return made(
        tuple(random_row(rng, space).tolist()),
        tuple(random_row(rng, space).tolist()) if status.found else None,
        status,
        space=space,
        asked=asked,
        said=("no", label),
        row=int(rng.integers(100)),
        rank=int(rng.integers(1, 4)),
        model="DecisionTreeClassifier",
    )
