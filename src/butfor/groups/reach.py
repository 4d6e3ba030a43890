"""The levers: how many rows each column alone can help, and each pair of columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, IntArray
from butfor.experimental import experimental
from butfor.explain.arguments import budget_of
from butfor.explain.explainer import Explainer
from butfor.groups.asking import answered, case_of, framed, in_need, under
from butfor.problem.constraints.admissible import admissible
from butfor.problem.constraints.restrictions import Fixed
from butfor.problem.costs import AbstractCost
from butfor.problem.written.constraints import Constraints
from butfor.solvers.solver import Budget
from butfor.verdict.case import Case


@experimental
def levers(
    explainer: Explainer,
    X: Any,
    *,
    target: Any = None,
    cost: AbstractCost | str | None = None,
    constraints: Constraints = (),
    time_limit: float | None = None,
) -> Any:
    """How many rows each column alone can help, and each pair of columns, while all others keep their values.

    Choose it to see where help would reach most people. For each column and each pair, the rows are explained with all
    other columns fixed. A row that a column helps is helped by each of its pairs, so only the others are asked again.

    The arguments are those of `explain`. Rows that meet the target already are left out. The table has a line per
    column and pair that can change: `column`, `with_column` (None for the column alone), `rows` that provably can be
    helped, their `share`, and how many are `open` because the time was up or no solver proves anything.

    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> explainer = Explainer(loans.pipeline().fit(X, y), data=X)
    >>> rejected = X[explainer.model.predict(X) == "rejected"].iloc[:40]
    >>> found = levers(explainer, rejected, target="approved", constraints="fixed sex, age, months, job")
    >>> found[found["rows"] == 40][["column", "with_column", "share"]].to_dict("split")["data"]
    [['income', 'late_payments', 1.0], ['amount', 'late_payments', 1.0]]
    """
    budget = budget_of(time_limit, None, None)
    whole = case_of(explainer, X, target, cost, constraints)
    rows = in_need(whole)
    case = whole.take(rows)
    columns = np.flatnonzero(admissible(explainer.space, case.factuals, case.question.constraints).movable)
    helped: dict[tuple[int, ...], BoolArray] = {}
    left_open: dict[tuple[int, ...], int] = {}
    for chosen in [(j,) for j in columns.tolist()] + list(combinations(columns.tolist(), 2)):
        sure = np.zeros(len(rows), dtype=np.bool_)
        if len(chosen) > 1:
            sure = helped[chosen[:1]] | helped[chosen[1:]]
        helped[chosen], left_open[chosen] = _helped(case, chosen, np.flatnonzero(~sure), budget)
    names = explainer.space.names
    columns_of_table: dict[str, list[Any]] = {
        "column": [names[chosen[0]] for chosen in helped],
        "with_column": [names[chosen[1]] if len(chosen) > 1 else None for chosen in helped],
        "rows": [int(its.sum()) for its in helped.values()],
        "share": [float(its.mean()) for its in helped.values()],
        "open": list(left_open.values()),
    }
    return framed(case, columns_of_table)


def _helped(case: Case, free: Sequence[int], asked: IntArray, budget: Budget) -> tuple[BoolArray, int]:
    """Which rows can be helped by the free columns, where all rows but those asked surely can; how many are open."""
    helped = np.ones(len(case.factuals), dtype=np.bool_)
    if not len(asked):
        return helped, 0
    others = tuple(name for j, name in enumerate(case.referee.space.names) if j not in free)
    found = answered(under(case.take(asked), [Fixed(others)] if others else []), budget)
    helped[asked] = found.found()
    return helped, int((~found.found() & ~np.isinf(found.bound)).sum())
