"""The columns of its table that an estimator drops first of all, such as numbers of customers and dates.

No step gets them. So a row may do without them, and what they hold is nobody's business.
"""

from __future__ import annotations

import warnings
from typing import Any

from butfor.estimator.source import is_pipeline, members
from butfor.space import frames


def dropped(estimator: Any) -> frozenset[str]:
    """The columns that an estimator was fitted on, and that its first step passes on to nobody."""
    if is_pipeline(estimator):
        return dropped(first_step(estimator))
    inside = members(estimator) or [one for _, one in getattr(estimator, "transformer_list", ()) if one != "drop"]
    if inside:
        alone = not getattr(estimator, "passthrough", False)  # the end of a stack may get the columns, too
        return frozenset.intersection(*map(dropped, inside)) if alone else frozenset()
    names, places = (getattr(estimator, name, None) for name in ("feature_names_in_", "_transformer_to_input_indices"))
    if names is None or places is None:
        return frozenset()
    gets = {at for name, step, _ in estimator.transformers_ if _does(step) for at in places.get(name, ())}
    return frozenset(str(name) for at, name in enumerate(names) if at not in gets)


def _does(step: Any) -> bool:
    return not (isinstance(step, str) and step == "drop")


def first_step(estimator: Any) -> Any:
    """The first step of a pipeline that does something; what is no pipeline is its own."""
    steps = [step for _, step in estimator.steps] if is_pipeline(estimator) else []
    return next((step for step in steps if step is not None and step != "passthrough"), estimator)


def without_dropped(estimator: Any, table: Any) -> Any:
    """`table` without the columns that an estimator drops. All of it, if the estimator insists on them."""
    gone = frozenset() if frames.is_array(table) else dropped(estimator)
    kept = [name for name in frames.names(table) if name not in gone]
    if len(kept) in (0, len(frames.names(table))):
        return table
    chosen = frames.select(table, kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.predict(frames.take(chosen, [0]))
        except Exception:  # whatever it raises for a column that is not there
            return table
    return chosen
