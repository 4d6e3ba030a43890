"""Rows that cost less than a claim, as the estimator sees them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.problem.domain import Domain
from butfor.proof.asked import ProofQuestion
from butfor.proof.failing import CheaperError


@dataclass(frozen=True)
class RefutingRow:
    """A row below a claim that reaches the goal, as far as sums tell.

    - `met`: whether the estimator says what is wanted;
    - `cost`, `paid`: what it costs by the least price of its cells, and what the row that was tried costs.
    """

    met: bool
    cost: float
    paid: float
    words: str


class CheaperRowError(Exception):
    """A row costs less than a claim, and gets what is wanted, as far as sums tell."""

    def __init__(self, row: RefutingRow) -> None:
        super().__init__(row)
        self.row = row


def cheaper_row(asked: ProofQuestion, i: int, columns: list[Any], cheaper: CheaperError) -> tuple[FloatArray, float]:
    """The row of some cells, or of some numbers, and what it costs by the least price of its cells."""
    domain, start = asked.problem.domain.take(np.array([i])), asked.problem.factuals[i]
    point, prices = start.copy(), list[Fraction]()
    for j, (column, cell) in enumerate(zip(columns, cheaper.chosen, strict=True)):
        own = Fraction(cheaper.numbers[j]) if j in cheaper.numbers else cell
        if own is None or (column.lost and not isinstance(own, Fraction) and own == len(column.price) - 1):
            point[j] = np.nan
            prices.append(column.price[-1])
            continue
        if column.levels is not None:
            level = own < len(asked.problem.space.features[j].levels or ())
            point[j] = own if level else np.nan
            prices.append(column.price[own])
            continue
        low, high, price, stays = _ends(column, own)
        prices.append(price)
        if not stays:
            value = low if low == high else domain.nearest(j, np.array([[low]]), np.array([[high]]))[0, 0]
            value = np.float32(value) if domain.single[j] else value  # as the table holds it
            point[j] = start[j] if np.isnan(value) else value
    if asked.problem.prices.is_added or asked.problem.prices.is_largest:
        return point, float(max(prices) if asked.problem.prices.is_largest else sum(prices))
    return point, float(asked.problem.prices.total(start[None], point[None])[0])


def refuting_row(asked: ProofQuestion, i: int, point: FloatArray, cost: float) -> RefutingRow:
    """What a row that costs so much is to the estimator: whether it says what is wanted."""
    start, space, point = asked.whole.factuals[i], asked.whole.space, asked.apart(point[None])[0]
    changes = asked.case.changes(np.array([i]), point[None])
    met = asked.case.question.target.met(changes.before, changes.after)[0]
    met &= asked.whole.take(np.array([i])).admits(point[None])[0]
    moved = np.flatnonzero((point != start) & ~(np.isnan(point) & np.isnan(start))).tolist()
    told = ", ".join(f"{space.names[j]} = {space.features[j].value(point[j])}" for j in moved)
    paid = float(asked.case.question.prices.total(changes.start, changes.points)[0])
    paid += float(asked.case.question.target.offsets(changes.after, 1)[0])
    met &= not _same_point(asked.whole.domain, start, point)
    met = bool(met) and all(rule.holds(changes, asked.case.referee)[0] for rule in asked.case.question.judged)
    return RefutingRow(met, cost, paid, told or "the row as it is")


def _same_point(domain: Domain, start: FloatArray, point: FloatArray) -> bool:
    """Whether a number only becomes another float of its point of a grid: that is no change that anybody makes."""
    moved = (domain.step > 0) & (point != start) & ~np.isnan(start)
    step = np.where(moved, domain.step, 1.0)
    places = [np.round((one - domain.anchor) / step) for one in (start, point)]
    return bool((moved & (places[0] == places[1])).any())


def _ends(column: Any, own: Any) -> tuple[float, float, Fraction, bool]:
    """The numbers that a cell, or a number, of a column stands for; the price, and whether the row stays there."""
    if isinstance(own, Fraction):
        stays = own == column.now and column.stay
        return float(own), float(own), Fraction(0) if stays else column.paid(own), stays
    low, high = map(float, column.range_of(own))
    return low, high, column.price[own], own == column.home and column.stay
