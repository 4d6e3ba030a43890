"""The problem of one leaf of an oblique tree: a separable or quadratic cost over a box, cut by a few half-spaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from butfor.arrays import FloatArray

Cost = Literal["L2", "L1+L2", "L1", "Q"]
IMAGE = 28
INFEASIBLE = 0.1
"""The share of problems whose leaf is empty."""


@dataclass(frozen=True)
class Shape:
    """How large, and with what cost."""

    cost: Cost
    rows: int
    columns: int

    def __str__(self) -> str:
        return f"{self.cost}, {self.rows} rows, {self.columns} columns"


@dataclass(frozen=True)
class Form:
    """A quadratic form as solvers want it. It belongs to the cost, so all of this is there before the clock starts."""

    compact: sparse.csc_matrix

    @cached_property
    def dense(self) -> FloatArray:
        """As an array."""
        return np.asarray(self.compact.toarray())

    @cached_property
    def band(self) -> FloatArray:
        """The diagonal, and below it those under it."""
        size = self.compact.shape[0]
        found = sparse.coo_matrix(self.compact)
        width = int(np.max(found.row - found.col))
        band = np.zeros((width + 1, size))
        for k in range(width + 1):
            band[k, : size - k] = self.compact.diagonal(-k)
        return band


@dataclass(frozen=True)
class LeafProblem:
    """Minimise l1'|d| + l2'd^2 + d'Qd over moves d of the factual, where down <= d <= up and A d >= b.

    Q is None if the cost is separable.
    """

    l1: FloatArray
    l2: FloatArray
    Q: Form | None
    down: FloatArray
    up: FloatArray
    A: FloatArray
    b: FloatArray
    feasible: bool

    def price(self, d: FloatArray) -> float:
        """What a move costs."""
        curved = 0.0 if self.Q is None else d @ (self.Q.compact @ d)
        return float(self.l1 @ np.abs(d) + self.l2 @ d**2 + curved)

    def violation(self, d: FloatArray) -> float:
        """How far outside the worst half-space a move ends, as a distance: the size of the rows does not count."""
        return float(max(0.0, np.max((self.b - self.A @ d) / np.linalg.norm(self.A, axis=1))))


@cache
def neighbours() -> Form:
    """1 on the diagonal and -1/4 between pixels side by side: changes in patches are cheaper than scattered ones."""
    line = sparse.diags([1.0, 1.0], [-1, 1], shape=(IMAGE, IMAGE))
    whole = sparse.identity(IMAGE)
    beside = sparse.kron(line, whole) + sparse.kron(whole, line)
    return Form(sparse.csc_matrix(sparse.identity(IMAGE**2) - beside / 4))


def problems(shape: Shape, count: int, seed: int) -> Iterator[LeafProblem]:
    """Random problems, the empty leaves last. Each row reads a fifth of the columns, and the first denies the factual."""
    rng = np.random.default_rng([seed, shape.rows, shape.columns])
    for k in range(count):
        x0 = _picture(rng) if shape.columns == IMAGE**2 else rng.uniform(size=shape.columns)
        inside = rng.uniform(0.05, 0.95, size=shape.columns) - x0
        A = rng.normal(size=(shape.rows, shape.columns))
        A *= rng.uniform(size=A.shape) < max(0.2, 3 / shape.columns)
        A[np.arange(shape.rows), rng.integers(shape.columns, size=shape.rows)] += 1.0  # no empty row
        A *= 10 ** rng.uniform(-1, 1, size=(shape.rows, 1))
        A[0] *= np.sign(A[0] @ inside)
        b = A @ inside - rng.uniform(0, 0.3, size=shape.rows) * np.abs(A @ inside)
        feasible = k < count - round(INFEASIBLE * count)
        if not feasible:
            _contradict(A, b, rng)
        flat = np.zeros(shape.columns)
        yield LeafProblem(
            l1=flat if shape.cost in ("L2", "Q") else 10 ** rng.uniform(-1, 1, size=shape.columns),
            l2=flat if shape.cost in ("L1", "Q") else 10 ** rng.uniform(-1, 1, size=shape.columns),
            Q=neighbours() if shape.cost == "Q" else None,
            down=-x0,
            up=1 - x0,
            A=A,
            b=b,
            feasible=feasible,
        )


def _picture(rng: np.random.Generator) -> FloatArray:
    """White paper with a fifth of ink: most columns start at an end of the box."""
    y, x = np.mgrid[:IMAGE, :IMAGE]
    spots = rng.uniform(6, 22, size=(5, 2))
    ink = sum(np.exp(-((x - a) ** 2 + (y - b) ** 2) / 8) for a, b in spots)
    return np.asarray(np.where(ink > np.quantile(ink, 0.8), np.minimum(1.0, ink), 0.0).ravel())


def _contradict(A: FloatArray, b: FloatArray, rng: np.random.Generator) -> None:
    """Make the last row deny a mix of the others: together they ask for 0 >= something."""
    mix = rng.uniform(size=len(A) - 1) * (rng.uniform(size=len(A) - 1) < 0.5)
    mix[rng.integers(len(mix))] = 1.0
    A[-1] = -mix @ A[:-1]
    b[-1] = -mix @ b[:-1] + 0.1 * np.linalg.norm(A[-1])
