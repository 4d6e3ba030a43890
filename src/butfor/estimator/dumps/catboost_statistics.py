"""What CatBoost's saved models ask about categories: for one level, or for a statistic of the training rows.

A category is known by the lower half of its hash, a combination by a hash of these. For each combination, the model holds
how many training rows had it, by their class or in all. (Prokhorenkova et al. 2018, "CatBoost: unbiased boosting with
categorical features".) Its statistic is (count + prior) / (total + weight of the prior), shifted and scaled, in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.dumps.city_hash import LARGEST_HASH, city_hash
from butfor.space import frames

Saved = dict[str, Any]
Hashes = NDArray[np.uint64]

OF_COMBINATIONS = np.uint64(0x4906BA494954CB65)
"""What the hash of a combination is multiplied with."""

KINDS_OF_STATISTICS = ("Borders", "Buckets", "Counter", "FeatureFreq")
"""The statistics that are read: how many rows are above a border of the target, or in one part of it, or in all."""

COUNTED_IN_ALL = ("Counter", "FeatureFreq")
"""Those that count rows of all classes."""

MEANS = ("BinarizedTargetMeanValue", "FloatTargetMeanValue")
"""The kinds of statistics that are means."""


def check_statistics(saved: Saved) -> None:
    """Refuse statistics that a saved model does not hold as they were.

    Two of one kind get one name, and so only one table. Means of classes lose their digits after the point.
    """
    kinds = [ctr["ctr_type"] for ctr in saved["features_info"].get("ctrs", ())]
    means = [kind for kind in kinds if kind in MEANS]
    twice = [kind for listed in _settings(saved).values() for kind in listed if listed.count(kind) > 1] if kinds else []
    if means or twice:
        raise UnsupportedModelError(
            f"CatBoost was trained with the statistic {(means or twice)[0]!r}" + ("." if means else " twice."),
            "Its saved model does not hold that in full.",
            "Train it with the usual simple_ctr and combinations_ctr. Until then, the swarm searches.",
        )


def _settings(saved: Saved) -> dict[str, list[str]]:
    """The statistics that a saved model was trained with, by their kind."""
    params = saved["model_info"]["params"].get("cat_feature_params") or {}
    listed = {name: params.get(name) or () for name in ("simple_ctrs", "combinations_ctrs")}
    listed |= params.get("per_feature_ctrs") or {}
    return {name: [one["ctr_type"] for one in some] for name, some in listed.items()}


@dataclass(frozen=True, eq=False)
class HasLevel:
    """Whether a column has one level, by its hash: 1 or 0."""

    column: int
    hashed: int

    def of(self, numbers: FloatArray, hashes: Mapping[int, IntArray]) -> NDArray[Any]:
        """The number of each row."""
        return np.asarray(hashes[self.column] == self.hashed)


@dataclass(frozen=True, eq=False)
class AboveBorder:
    """Whether a number is above a border, in float32; `if_missing` where there is none."""

    column: int
    border: float
    if_missing: bool

    def of(self, numbers: FloatArray, hashes: Mapping[int, IntArray]) -> NDArray[Any]:
        """The side of each row."""
        own = numbers[:, self.column].astype(np.float32)
        return np.where(np.isnan(own), self.if_missing, own > self.border)


@dataclass(frozen=True, eq=False)
class Statistic:
    """A statistic of a combination.

    - `categories`: the columns of categories in it;
    - `parts`: what else it asks of a row;
    - `known`: the hashes of the combinations in the training rows, in their order, and `values` their statistics;
    - `unknown`: the statistic of all others.
    """

    categories: tuple[int, ...]
    parts: tuple[AboveBorder | HasLevel, ...]
    known: Hashes
    values: FloatArray
    unknown: float

    def of(self, numbers: FloatArray, hashes: Mapping[int, IntArray]) -> NDArray[Any]:
        """The statistic of each row."""
        asked = [*(hashes[j] for j in self.categories), *(part.of(numbers, hashes) for part in self.parts)]
        whole = np.zeros(len(numbers), dtype=np.uint64)
        for one in asked:
            whole = OF_COMBINATIONS * (whole + OF_COMBINATIONS * one.astype(np.int64).astype(np.uint64))
        at = np.minimum(np.searchsorted(self.known, whole), len(self.known) - 1)
        return np.where(self.known[at] == whole, self.values[at], self.unknown)


def asked_of_categories(saved: Saved) -> Iterator[tuple[HasLevel | Statistic, list[float]]]:
    """What is asked about categories, and the borders that it is compared with, in the order of their questions."""
    known = saved["features_info"]
    inputs = {
        kind: {info["feature_index"]: info for info in known.get(kind, ())}
        for kind in ("float_features", "categorical_features")
    }
    for info in known.get("categorical_features", ()):
        for hashed in info.get("values", ()):
            yield HasLevel(info["flat_feature_index"], hashed), [0.5]
    for ctr in known.get("ctrs", ()):
        yield _statistic(ctr, saved["ctr_data"][ctr["identifier"]], inputs), ctr["borders"]


def _statistic(ctr: Saved, table: Saved, inputs: dict[str, dict[int, Saved]]) -> Statistic:
    categories, sides, levels = [], [], []
    for element in ctr["elements"]:
        if "border" in element:
            info = inputs["float_features"][element["float_feature_index"]]
            border, if_missing = float(np.float32(element["border"])), info["nan_value_treatment"] == "AsTrue"
            sides.append(AboveBorder(info["flat_feature_index"], border, if_missing))
            continue
        column = inputs["categorical_features"][element["cat_feature_index"]]["flat_feature_index"]
        if "value" in element:
            levels.append(HasLevel(column, element["value"]))
        else:
            categories.append(column)
    stride = table["hash_stride"]
    cells = np.array(table["hash_map"], dtype=object).reshape(-1, stride)
    cells = cells[[int(one) != LARGEST_HASH for one in cells[:, 0]]]  # the mark of an empty place
    if not len(cells):
        raise InputError("a statistic of CatBoost has no rows.", "It must be unchanged.")
    hashes = cells[:, 0].astype(np.uint64)
    order = np.argsort(hashes)
    values, unknown = _values(ctr, cells[order, 1:].astype(np.float32), np.float32(table["counter_denominator"]))
    return Statistic(tuple(categories), (*sides, *levels), hashes[order], values, unknown)


def _values(ctr: Saved, counts: NDArray[np.float32], every: np.float32) -> tuple[FloatArray, float]:
    """The statistic of each row of counts, and that of what was not counted."""
    kind, border = ctr["ctr_type"], ctr["target_border_idx"]
    if kind not in KINDS_OF_STATISTICS:
        raise UnsupportedModelError(
            f"CatBoost was trained with the statistic {kind!r}.", f"{', '.join(KINDS_OF_STATISTICS)} can be read."
        )
    if kind in COUNTED_IN_ALL:
        some, total, empty = counts[:, 0], np.full(len(counts), every), every
    else:
        some = counts[:, border + 1 :].sum(axis=1) if kind == "Borders" else counts[:, border]
        total, empty = counts.sum(axis=1), np.float32(0)
    prior, weight, shift, scale = (
        np.float32(ctr[name]) for name in ("prior_numerator", "prior_denomerator", "shift", "scale")
    )
    found = ((np.append(some, np.float32(0)) + prior) / (np.append(total, empty) + weight) + shift) * scale
    return found[:-1].astype(np.float64), float(found[-1])


def hashes_of(table: Any, j: int) -> IntArray:
    """The hash of each category in a column."""
    name = frames.names(table)[j]
    return np.array([_hash(value, name) for value in frames.as_held(table, name, j)], dtype=np.int64)


def _hash(value: Any, name: str) -> int:
    if isinstance(value, str):
        return _of_text(value)
    if frames.is_missing(value) or value != int(value):
        raise InputError(
            f"column {name!r} holds {value!r}, which CatBoost takes for no category.",
            "Its categories are texts or whole numbers.",
        )
    return _of_text(str(int(value)))


@lru_cache(maxsize=100_000)
def _of_text(text: str) -> int:
    low = city_hash(text.encode()) & 0xFFFFFFFF
    return low - 2**32 if low >= 2**31 else low
