"""The bias check: would a protected column alone flip the decision?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from butfor.errors import InputError, UnknownColumnError, choice
from butfor.experimental import experimental
from butfor.explain.arguments import budget_of
from butfor.explain.asking import Asking
from butfor.explain.explainer import Explainer
from butfor.groups.asking import answered, framed, labels, tried, under
from butfor.groups.counted import ALREADY
from butfor.problem.constraints.restrictions import Fixed
from butfor.solvers.outcome import Outcome, answers_of
from butfor.space.space import Space
from butfor.verdict.case import Case
from butfor.verdict.verify import verify

YES, NO, UNSETTLED = "yes", "no", "open"
"""Whether a row flips. The first two are proven."""

COMBINATIONS_ASKED = 1000
"""Protected columns with at most this many combinations of levels are tried one by one."""


@experimental
def flips(
    explainer: Explainer,
    X: Any,
    protected: Any,
    *,
    target: Any = None,
    time_limit: float | None = None,
) -> Any:
    """Whether a protected column alone would flip the decision about each row, proven either way.

    All other columns keep their values. Choose it as a first test of direct discrimination: a row that flips is treated
    differently because of the protected column and for no other reason. That no row flips does *not* prove that the
    model is fair. Other columns may say the same as the protected one (Kusner et al., Counterfactual Fairness, NeurIPS
    2017).

    - `protected`: a column that the model reads, or several that may change together;
    - `target`: what counts as another decision, as for `explain`. Of the explainer's rules, only a target counts here;
    - `time_limit`: seconds for the whole call.

    The table has a line per row:

    - `row`, `before`: its label, and what is predicted for it;
    - `flips`: "yes" or "no", both proven, "open", or "already met" (of a target that the row meets as it is);
    - `after`: what would be predicted;
    - the protected columns as they are (`sex`) and as they would flip the decision (`sex would be`).

    Levels are tried one by one with the estimator itself, so every row is settled, for black boxes, too. A number is
    searched by the solver of the model, and the value shown is the nearest that flips. A row is left open only if the
    time is up or no solver proves anything.

    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> found = flips(Explainer(loans.pipeline().fit(X, y), data=X), X, "sex")
    >>> found["flips"].value_counts().to_dict()
    {'no': 1000}
    """
    names = _names(protected, explainer.space)
    budget = budget_of(time_limit, None, None)
    case = _of_decision(explainer, X, target)
    others = [name for name in explainer.space.names if name not in names]
    alone = under(case, [Fixed(tuple(others))] if others else [])
    columns = [explainer.space.index(name) for name in names]
    levels = [explainer.space.features[j].levels for j in columns]
    combinations = np.prod([np.inf if its is None else float(len(its)) for its in levels])
    few = combinations <= COMBINATIONS_ASKED
    found = _every_level(alone, columns) if few else answered(alone, budget)
    return framed(case, _told(alone, found, columns))


def _of_decision(explainer: Explainer, X: Any, target: Any) -> Case:
    """The question about another decision. Of what rules say, only the target counts: a protected column changes as a test."""
    rules = replace(explainer.rules, cost=None, constraints=(), safety=None)
    return Asking(explainer.reading).case(X, *rules.asked(target, None, ()))


def _names(protected: Any, space: Space) -> list[str]:
    """The protected columns, each of which must be able to change."""
    several = isinstance(protected, Iterable) and not isinstance(protected, str)
    names = list(dict.fromkeys(map(str, protected if several else [protected])))
    if not names:
        raise InputError("no protected column was named.", "At least one is needed.")
    for name in names:
        told = f"the model reads no column {name!r}, so it alone flips no decision."
        try:
            feature = space[name]
        except UnknownColumnError as error:
            raise UnknownColumnError(told, error.needed, error.remedy) from None
        if feature.unread:
            raise InputError(told, "It drops that column.", *choice("It reads", None, space.read)[:1])
        if feature.kind == "constant":
            raise InputError(
                f"the protected column {name!r} has a single value in the data ({feature.describe()}).",
                "It could not change.",
                f"Declare its values with space={{{name!r}: bf.Categorical([...])}}.",
            )
    return names


def _every_level(case: Case, columns: Sequence[int]) -> Outcome:
    """The cheapest combination of levels that flips each row. All of them are asked."""
    space, start = case.referee.space, case.factuals
    best, cost = np.full(start.shape, np.nan), np.full(len(start), np.inf)
    every = np.arange(len(start))
    for codes in product(*(range(len(space.features[j].levels or ())) for j in columns)):
        points = start.copy()
        points[:, columns] = np.array(codes, dtype=np.float64)
        fine, price = tried(case, every, points)
        better = fine & (price < cost)
        best[better], cost[better] = points[better], price[better]
    return answers_of(every, best, cost, np.where(np.isfinite(cost), cost, np.inf))


def _told(case: Case, found: Outcome, columns: Sequence[int]) -> dict[str, list[Any]]:
    """The lines of the table."""
    space, target = case.referee.space, case.question.target
    impossible = np.isinf(found.bound) & ~found.found()
    already = target.met(case.before, case.before)
    found = replace(found, cost=np.where(already, np.inf, found.cost))
    known = np.select([already, found.found(), impossible], [ALREADY, YES, NO], UNSETTLED)
    told: dict[str, list[Any]] = {
        "row": labels(case),
        "before": list(target.outputs(case.before)),
        "flips": known.tolist(),
        "after": verify(case, found).after,
    }
    for j in columns:
        feature = space.features[j]
        told[feature.name] = [feature.value(code) for code in case.factuals[:, j].tolist()]
        told[f"{feature.name} would be"] = [
            feature.value(code) if there else None
            for code, there in zip(found.points[:, j].tolist(), found.found().tolist(), strict=True)
        ]
    return told
