"""Which options of a feature the knapsack solver looks at, against the definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from butfor.solvers.linear.knapsack_kernels import GAIN, LENGTH, PRICE, _keep


def worth_a_look(table: np.ndarray, every: np.ndarray) -> list[int]:
    """Those that stay or go on, and those of which no other one gains as much and costs no more, the first of equal ones."""
    found = []
    for first, end in pairwise(every):
        for i in range(first, end):
            mine, others = table[i, [GAIN, PRICE]], [k for k in range(first, end) if k != i]
            as_good = [k for k in others if table[k, GAIN] >= mine[0] and table[k, PRICE] <= mine[1]]
            equal = [k for k in as_good if (table[k, [GAIN, PRICE]] == mine).all()]
            best = not set(as_good) - set(equal) and not [k for k in equal if k < i]
            if i == first or (table[i, PRICE] < np.inf and (table[i, LENGTH] > 0 or best)):
                found.append(i)
    return found


def test_no_other_option_gains_as_much_and_costs_no_more() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        every = np.cumsum([0, rng.integers(1, 12), rng.integers(1, 6)])
        table = rng.integers(-2, 3, (every[-1], 7)).astype(float)
        table[:, PRICE] = rng.choice([0, 1, 2, 3, np.inf], len(table))
        table[:, LENGTH] = rng.choice([0, 0, 0, 1], len(table))
        order = np.lexsort((table[:, GAIN], np.repeat([0, 1], np.diff(every))))
        parts, start, option = np.empty_like(table), np.empty(3, dtype=np.intp), np.empty(len(table), dtype=np.intp)
        _keep(table, order, every, parts, start, option)
        assert option[: start[-1]].tolist() == worth_a_look(table, every)
        assert (parts[: start[-1]] == table[option[: start[-1]]]).all()
