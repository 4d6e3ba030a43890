"""The columns of its table that an estimator drops first of all, such as numbers of customers and dates."""

from __future__ import annotations

from typing import Any

from butfor.estimator.inside import first_step, is_pipeline, members
from butfor.space.space import Space


def dropped_places(estimator: Any) -> frozenset[int]:
    """Where the columns stand that an estimator passes on to nobody, among those that it was fitted on.

    A `ColumnTransformer` at the beginning of a pipeline says so. Several estimators drop what all of them drop. Any other
    step may read the whole table.
    """
    if is_pipeline(estimator):
        return dropped_places(first_step(estimator))
    inside = members(estimator) or [one for _, one in getattr(estimator, "transformer_list", ()) if one != "drop"]
    if inside:
        alone = not getattr(estimator, "passthrough", False)  # the end of a stack may get the columns, too
        same = len({getattr(one, "n_features_in_", None) for one in (estimator, *inside)} - {None}) < 2
        return frozenset.intersection(*map(dropped_places, inside)) if alone and same else frozenset()
    given = getattr(estimator, "_transformer_to_input_indices", None)
    if not isinstance(given, dict):
        return frozenset()
    read = {at for name, step, _ in estimator.transformers_ for at in _read(step, given.get(name, ()))}
    return frozenset(range(estimator.n_features_in_)) - read


def _read(step: Any, places: Any) -> list[int]:
    """Which of the columns at these places a part of a `ColumnTransformer` reads."""
    if isinstance(step, str) and step == "drop":
        return []
    dropped = dropped_places(step)
    return [at for k, at in enumerate(places) if k not in dropped]


def look_up_read(estimator: Any, space: Space) -> None:
    """Look up all columns of a space that another estimator reads. So a question that is about it names them."""
    dropped = dropped_places(estimator)
    place = {name: at for at, name in enumerate(space.columns)}
    for feature in space:
        if not {place[name] for name in feature.columns} <= dropped:
            space.index(feature.name)
