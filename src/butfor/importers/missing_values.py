"""Which columns may hold a missing value: those in which the steps of a pipeline and the model behind them take one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.estimator.inside import is_pipeline, wrapped
from butfor.estimator.source import Source
from butfor.importers.fold.column import Column
from butfor.space.space import Space


def with_missing(
    source: Source, space: Space, columns: list[Column], sample: Any, never: Collection[int] = ()
) -> Space:
    """The space, with `missing` set for features in which the model takes a missing value, but `never` for some.

    The columns that reach the estimator tell which features are possible. The estimator is then called to see whether
    it really takes them.
    """
    allows = _allows_nan(source.estimator)
    able = []
    for j, feature in enumerate(space.features):
        reads = [column for column in columns if column.feature == j]
        takes = all(not column.refuses_missing and (allows or not np.isnan(column.missing_value())) for column in reads)
        if (
            takes
            and j not in never
            and not feature.unread
            and feature.dummies is None
            and (reads or feature.missing or feature.levels is None)
        ):
            able.append(j)
    open_to = Space(tuple(replace(feature, missing=True) for feature in space.features))
    taken = _taken(source, open_to, able, sample)
    return Space(tuple(replace(feature, missing=j in taken) for j, feature in enumerate(space.features)))


def _taken(source: Source, space: Space, able: list[int], sample: Any) -> list[int]:
    """Which of these features may be missing for the estimator.

    All are tried at once. If that fails, each half is tried by itself.
    """
    if not able:
        return []
    point = space.encode(sample)
    point[:, able] = np.nan
    try:
        source.ask("predict", space.decode(point, sample))
    except (ValueError, TypeError):
        if len(able) == 1:
            return []
        middle = len(able) // 2
        return [j for half in (able[:middle], able[middle:]) for j in _taken(source, space, half, sample)]
    return able


def _allows_nan(estimator: Any) -> bool:
    inner = estimator.steps[-1][1] if is_pipeline(estimator) else wrapped(estimator)
    if inner is not None:
        return _allows_nan(inner)
    if hasattr(estimator, "calibrated_classifiers_"):  # its own tags say nothing of what is inside
        return all(_allows_nan(one.estimator) for one in estimator.calibrated_classifiers_)
    if hasattr(estimator, "base_models"):  # nor do those of NGBoost
        return all(_allows_nan(tree) for trees in estimator.base_models for tree in trees)
    members = getattr(estimator, "estimators_", ())
    if any(is_pipeline(member) for member in members):  # pipelines with imputers of their own: they are asked
        return all(is_pipeline(member) or _allows_nan(member) for member in members)
    if hasattr(estimator, "__sklearn_tags__"):
        return bool(estimator.__sklearn_tags__().input_tags.allow_nan)
    return bool(estimator._get_tags()["allow_nan"]) if hasattr(estimator, "_get_tags") else False
