"""What is inside an estimator: the steps of a pipeline, and the estimators that get the rows as they are."""

from __future__ import annotations

from typing import Any


def is_pipeline(estimator: Any) -> bool:
    """Whether an estimator has named steps, as pipelines do. Other objects call other things steps."""
    steps = getattr(estimator, "steps", None)
    return isinstance(steps, list) and len(steps) > 0 and all(isinstance(one, tuple | list) for one in steps)


def first_step(estimator: Any) -> Any:
    """The first step of a pipeline that does something; what is no pipeline is its own."""
    steps = [step for _, step in estimator.steps] if is_pipeline(estimator) else []
    return next((step for step in steps if step is not None and step != "passthrough"), estimator)


def wrapped(estimator: Any) -> Any:
    """The fitted estimator inside a search, a threshold, a frozen one or a transformed target. None: there is no wrapper.

    Bags and boosting keep their members elsewhere, and beside them a copy that is not fitted.
    """
    if type(estimator).__name__ == "FrozenEstimator":  # it has all attributes of what is inside
        return estimator.estimator
    if type(estimator).__name__ == "TransformedTargetRegressor":
        return estimator.regressor_
    if hasattr(estimator, "best_estimator_"):
        return estimator.best_estimator_
    return None if hasattr(estimator, "estimators_") else getattr(estimator, "estimator_", None)


def members(estimator: Any) -> list[Any]:
    """The fitted estimators that get the rows as they are: inside a wrapper, a calibration, a vote or a stack."""
    inner = wrapped(estimator)
    found = [*getattr(estimator, "gets_rows", ())] if inner is None else [inner]
    found += [member.estimator for member in getattr(estimator, "calibrated_classifiers_", ())]
    if type(estimator).__name__.startswith(("Voting", "Stacking", "OneVsRest")):
        found += list(getattr(estimator, "estimators_", ()))
    return found
