"""The importers that butfor ships: the one list. Loaded when a model is first read."""

from __future__ import annotations

from importlib import import_module

from butfor.importers.registry import remember

LIBRARIES = (
    "catboost_trees",
    "lifelines_models",
    "lightgbm_trees",
    "own_trees",
    "sklearn_ensembles",
    "sklearn_hist_boosting",
    "sklearn_linear",
    "sklearn_steps",
    "sklearn_tree",
    "sklearn_wrappers",
    "sksurv_models",
    "xgboost_trees",
)
"""Files of `importers/libraries`. Each registers what it reads; none imports its library before it meets an object of it."""


def load_builtin() -> None:
    """Fill the registry with what butfor ships; what the user has taught before stays."""
    teach_again = remember()
    for name in LIBRARIES:
        import_module(f"butfor.importers.libraries.{name}")
    teach_again()
