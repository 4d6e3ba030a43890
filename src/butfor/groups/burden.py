"""What recourse costs in each group, how sure that is, and whether groups differ by more than chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError
from butfor.experimental import experimental
from butfor.explain.arguments import count_of, seed_of
from butfor.groups.firsts import Batch, Firsts, firsts, groups_of, named, parts_of
from butfor.solvers.outcome import Status

NUMBERS_DRAWN = 1 << 21
"""How many random numbers are drawn at once."""

TIED = 1e-9
"""A rearrangement whose statistic is this close to the observed one counts as a tie, so rounding decides nothing."""


@experimental
def costs(
    answers: Batch | Firsts,
    by: str | Iterable[Any] | None = None,
    *,
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> Any:
    """What recourse costs, by group, with bootstrap intervals of the mean.

    Choose it to compare what is asked of groups. The rows of a group that do not meet the target yet are drawn again
    with replacement, `draws` times. The interval holds the middle of the means found (percentile bootstrap; Efron and
    Tibshirani, An Introduction to the Bootstrap, 1993). It says how far the mean could be off for other rows of the
    same kind.

    `answers` and `by` are as for `statuses`. The table has a line per group:

    - `rows`: how many rows need a change;
    - `answered`, `impossible`, `open`: how many of them have an answer, provably have none, or neither. Means are over
      answered rows, so read them beside the number of impossible ones;
    - `proven`: how many answers are proven optimal. The cost of another one is only an upper bound;
    - `mean`, `low`, `high`: the mean cost and its interval (None for fewer than two answers);
    - `median`: the median cost.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r} was given.", "It must be between 0 and 1, such as 0.95.")
    many, rng = count_of("draws", draws), np.random.default_rng(seed_of(seed))
    known = firsts(answers)
    groups, lines = list[Any](), list[dict[str, Any]]()
    for group, rows in parts_of(known, by).items():
        its = rows[~known.already[rows]]
        status = [known.statuses[i] for i in its.tolist()]
        paid = known.costs[its][known.found[its]]
        low, high = _interval(paid, confidence, many, rng)
        impossible = status.count(Status.PROVEN_INFEASIBLE)
        groups.append(group)
        lines.append(
            {
                "rows": len(its),
                "answered": len(paid),
                "impossible": impossible,
                "open": len(its) - len(paid) - impossible,
                "proven": status.count(Status.PROVEN_OPTIMAL),
                "mean": float(paid.mean()) if len(paid) else None,
                "low": low,
                "high": high,
                "median": float(np.median(paid)) if len(paid) else None,
            }
        )
    return known.framed(named(groups, {name: [line[name] for line in lines] for name in lines[0]}))


def _interval(
    values: FloatArray, confidence: float, draws: int, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    if len(values) < 2:
        return None, None
    at_once = max(1, NUMBERS_DRAWN // len(values))
    sizes = [min(at_once, draws - begin) for begin in range(0, draws, at_once)]
    means = np.concatenate([values[rng.integers(len(values), size=(n, len(values)))].mean(axis=1) for n in sizes])
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


@experimental
def differences(answers: Batch | Firsts, by: str | Iterable[Any], *, draws: int = 2000, seed: int = 0) -> Any:
    """Whether groups differ in cost, or in how many rows cannot be helped, by more than chance.

    Choose it before you call a difference of `costs` a finding. A permutation test: if the group did not matter, any
    other assignment of the rows to groups of these sizes would be as likely. `p = (1 + #{t_b >= t}) / (1 + draws)`,
    where t is the spread between the groups, `sum_g n_g (m_g - m)^2`, and t_b that of a random assignment (Phipson and
    Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010).

    `answers` and `by` are as for `statuses`. The table has a line for the mean cost of the answered rows, and one for
    the share of impossible ones among those answered or proven impossible. Rows that meet the target already are left
    out. Its columns are `quantity`, the groups with the `lowest` and the `highest` value (None if all are equal), their
    `difference`, and `p` (None if fewer than two groups have a value).
    """
    many, rng = count_of("draws", draws), np.random.default_rng(seed_of(seed))
    known = firsts(answers)
    groups = groups_of(known, by)
    if len(groups) < 2:
        raise InputError(f"all rows are of the group {next(iter(groups))!r}.", "At least two groups are needed.")
    impossible = np.array([status is Status.PROVEN_INFEASIBLE for status in known.statuses])
    needs = ~known.already
    quantities: dict[str, tuple[FloatArray, BoolArray]] = {
        "mean cost": (known.costs, needs & known.found),
        "share impossible": (impossible.astype(np.float64), needs & (known.found | impossible)),
    }
    lines = [
        {"quantity": name, **_compared(values, {g: rows[on[rows]] for g, rows in groups.items()}, many, rng)}
        for name, (values, on) in quantities.items()
    ]
    return known.framed({name: [line[name] for line in lines] for name in lines[0]})


def _compared(values: FloatArray, groups: dict[Any, IntArray], draws: int, rng: np.random.Generator) -> dict[str, Any]:
    """The groups with the lowest and the highest mean, and how often chance spreads the means as far."""
    having = {group: rows for group, rows in groups.items() if len(rows)}
    if len(having) < 2:
        return {"lowest": None, "highest": None, "difference": None, "p": None}
    means = {group: float(values[rows].mean()) for group, rows in having.items()}
    lowest, highest = min(means, key=lambda group: means[group]), max(means, key=lambda group: means[group])
    sizes = np.array([len(rows) for rows in having.values()])
    pooled = values[np.concatenate(list(having.values()))]
    spread = _spread(sizes)
    seen = spread(pooled[None])[0]
    at_once = max(1, NUMBERS_DRAWN // len(pooled))
    hits = 0
    for begin in range(0, draws, at_once):
        drawn = np.tile(pooled, (min(at_once, draws - begin), 1))
        hits += int((spread(rng.permuted(drawn, axis=1)) >= seen - TIED * (1 + abs(seen))).sum())
    differ = means[highest] > means[lowest]
    return {
        "lowest": str(lowest) if differ else None,
        "highest": str(highest) if differ else None,
        "difference": means[highest] - means[lowest],
        "p": (1 + hits) / (1 + draws),
    }


def _spread(sizes: IntArray) -> Callable[[FloatArray], FloatArray]:
    """The spread between groups of these sizes, for rows of values in which they stand one after the other."""
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def of(values: FloatArray) -> FloatArray:
        gaps = np.add.reduceat(values, begin, axis=1) / sizes - values.mean(axis=1, keepdims=True)
        return np.asarray(gaps**2 @ sizes)

    return of
