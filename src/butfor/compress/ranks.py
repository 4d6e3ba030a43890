"""Which binary columns are kept first: those that many changes cross, or those that part the classes best together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from butfor.arrays import FloatArray, IntArray
from butfor.compress.columns import BinaryColumns
from butfor.space.space import Space

RANKS = ("counts", "classes")


def by_classes(columns: BinaryColumns, training: Any, space: Space, codes: IntArray) -> BinaryColumns:
    """The columns, ranked by how well they part the classes together. A quantile keeps as many as by their counts.

    - `training`, `codes`: the training rows, and the number of the class of each.
    """
    lasting = sorted((one.survives for one in columns), reverse=True)
    order = _order(columns.answers(training, space.features), codes, np.array([one.count for one in columns]))
    survives = dict(zip(order, lasting, strict=True))
    return BinaryColumns(replace(one, survives=survives[k]) for k, one in enumerate(columns))


def _order(answers: NDArray[np.uint8], codes: IntArray, counts: IntArray) -> list[int]:
    """One after the other, the column that leaves rows with equal answers least mixed.

    Of equal ones, and where none parts any classes, the one with the largest count.
    """
    left, order = np.argsort(-counts, kind="stable"), list[int]()
    group = np.zeros(len(codes), dtype=np.intp)
    while len(left):
        mixed = _mixed(answers[:, left].astype(np.float64), group, codes)
        best = int(np.argmin(mixed))
        if mixed[best] >= _mixed(np.zeros((len(codes), 1)), group, codes)[0] - 1e-9 * len(codes):
            break
        group = np.unique(2 * group + answers[:, left[best]], return_inverse=True)[1]
        order.append(int(left[best]))
        left = np.delete(left, best)
    return [*order, *left.tolist()]


def _mixed(answers: FloatArray, group: IntArray, codes: IntArray) -> FloatArray:
    """Gini's impurity, sum of n_g (1 - sum_c (n_gc / n_g)^2), when each column alone splits the groups further."""
    classes = int(codes.max()) + 1
    cell = group * classes + codes
    place, cells = (cell, np.arange(len(cell))), (int(group.max()) + 1) * classes
    member = sparse.csr_array((np.ones(len(cell)), place), shape=(cells, len(cell)))
    yes = np.asarray(member @ answers).reshape(-1, classes, answers.shape[1])
    every: FloatArray = np.asarray(member.sum(axis=1)).reshape(-1, classes, 1)
    return _impurity(yes) + _impurity(every - yes)


def _impurity(count: FloatArray) -> FloatArray:
    size = count.sum(axis=1)
    pure = np.divide((count**2).sum(axis=1), size, out=np.zeros_like(size), where=size > 0)
    return np.asarray((size - pure).sum(axis=0))
