"""Measures of how similar rows are to the training data.

They are the distance to the nearest rows, the local outlier factor and the isolation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.measure.coded import distinct, encoded
from butfor.space.space import Space

ROWS_COMPARED = 5_000
"""How many training rows are used at most. If there are more, a sample is drawn.

The time for a local outlier factor grows with the square of this number.
"""


class Plausibility:
    """Three measures of how similar a row is to the training data. Smaller is more plausible.

    Choose it for single rows; `Judge` measures whole sets of answers. Distances are Gower's, as in `bf.Gower`. A
    missing value is treated as the column's typical value, with an additional distance of 1 from every known value.
    Of more than 5,000 training rows, so many are drawn with `seed`. Each measure is fitted when it is first used.

    >>> import numpy as np
    >>> from butfor.space.infer import infer
    >>> data = np.random.default_rng(0).normal(size=(200, 2))
    >>> near = Plausibility(data, infer(data))
    >>> near.neighbour_distance([[0.0, 0.0], [9.0, 9.0]]).round(2)
    array([0.03, 1.2 ])
    """

    def __init__(self, data: Any, space: Space, *, neighbours: int = 10, seed: int = 0) -> None:
        if isinstance(neighbours, bool) or not isinstance(neighbours, int | np.integer) or neighbours < 1:
            raise InputError(f"neighbours={neighbours!r} was given.", "It must be a whole number of at least 1.")
        codes = Space(tuple(replace(feature, missing=True) for feature in space)).encode(
            data
        )  # the data may lack values
        if not len(codes):
            raise InputError("the data has no rows.", "Training rows are needed to know what is plausible.")
        if len(codes) > ROWS_COMPARED:
            codes = codes[np.sort(np.random.default_rng(seed).choice(len(codes), ROWS_COMPARED, replace=False))]
        self._space, self._neighbours, self._seed = space, int(neighbours), seed
        self._codes = codes

    def neighbour_distance(self, rows: Any) -> FloatArray:
        """The mean Gower distance of each row to its nearest distinct training rows.

        `1/k sum_{t in N_k(x)} 1/d sum_j |x_j - t_j| / range_j` (Dandl, Molnar, Binder and Bischl, PPSN 2020).
        """
        points = self._placed(rows)
        if not len(points):
            return np.empty(0)
        found, _ = self._nearest.kneighbors(points)
        return np.asarray(found.mean(axis=1) / len(self._space))

    def outlier_factor(self, rows: Any) -> FloatArray:
        """The local outlier factor of each row. It is about 1 inside the data, and larger for an outlier.

        It says how much thinner the data is around a row than around its neighbours: `LOF_k(x) = mean over N_k(x) of
        lrd(t) / lrd(x)`, where lrd is the local reachability density (Breunig, Kriegel, Ng and Sander, SIGMOD 2000).
        Only distinct training rows count; the value is NaN if there is only one.
        """
        points = self._placed(rows)
        if not len(points) or self._outliers is None:
            return np.full(len(points), np.nan)
        return -np.asarray(self._outliers.score_samples(points))

    def isolation(self, rows: Any) -> FloatArray:
        """How few questions single a row out, from 0 to 1. Below 0.5 is ordinary, near 1 is an outlier.

        `2^(-E h(x) / c)`, where h is the path length in 100 random trees and c its average (Liu, Ting and Zhou, ICDM
        2008). To make it a constraint instead of measuring it, use `bf.plausible`.
        """
        points = self._placed(rows)
        return -np.asarray(self._forest.score_samples(points)) if len(points) else np.empty(0)

    @cached_property
    def _nearest(self) -> Any:
        rows = self._distinct
        return NearestNeighbors(n_neighbors=min(self._neighbours, len(rows)), metric="manhattan").fit(rows)

    @cached_property
    def _outliers(self) -> Any:
        rows = self._distinct
        if len(rows) < 2:
            return None
        count = min(self._neighbours, len(rows) - 1)
        return LocalOutlierFactor(n_neighbors=count, metric="manhattan", novelty=True).fit(rows)

    @cached_property
    def _forest(self) -> Any:
        return IsolationForest(random_state=self._seed).fit(place(self._codes, self._space))

    @cached_property
    def _distinct(self) -> FloatArray:
        return place(self._codes[distinct(self._codes)], self._space)

    def _placed(self, rows: Any) -> FloatArray:
        return place(encoded(rows, self._space), self._space)


def place(codes: FloatArray, space: Space) -> FloatArray:
    """Encoded rows as points. Their Manhattan distance is Gower's times the number of columns.

    This does not hold for missing values.
    """
    parts = []
    for j, feature in enumerate(space):
        lost = np.isnan(codes[:, j])
        known = np.where(lost, feature.typical, codes[:, j])
        if feature.levels is None:
            parts.append(known[:, None] / feature.range)
        elif feature.ordered:
            parts.append(known[:, None] / max(len(feature.levels) - 1, 1))
        else:
            parts.append(0.5 * (known[:, None] == np.arange(len(feature.levels))))
        if feature.missing:
            parts.append(lost[:, None].astype(np.float64))
    return np.hstack(parts)
