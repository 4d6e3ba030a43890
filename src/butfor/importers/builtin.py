"""The list of importers that butfor ships. They are loaded when a model is first read."""

from __future__ import annotations

from importlib import import_module

from butfor.importers.registry import remember

LIBRARIES = (
    "catboost_trees",
    "cox_networks",
    "encoder_steps",
    "feature_engine_steps",
    "flaml_automl",
    "imodels_rules",
    "pmml_models",
    "interpret_ebm",
    "keras_networks",
    "lifelines_models",
    "lightgbm_trees",
    "ngboost_trees",
    "onnx_graphs",
    "onnx_pipelines",
    "optbinning_scorecards",
    "own_calibration",
    "own_scorecards",
    "own_trees",
    "prepared_networks",
    "pygam_models",
    "sklearn_averages",
    "sklearn_bayes",
    "sklearn_bent_steps",
    "sklearn_calibration",
    "sklearn_encoders",
    "sklearn_ensembles",
    "sklearn_hist_boosting",
    "sklearn_isolation",
    "sklearn_linear",
    "sklearn_networks",
    "sklearn_powers",
    "sklearn_projections",
    "sklearn_stacking",
    "sklearn_steps",
    "sklearn_targets",
    "sklearn_tree",
    "sklearn_wrappers",
    "sksurv_models",
    "skorch_networks",
    "statsmodels_results",
    "torch_modules",
    "treelite_models",
    "xgboost_trees",
    "ydf_forests",
)
"""Files in `importers/libraries`. Each registers what it reads.

None of them imports its library before it meets an object of that library.
"""


def load_builtin() -> None:
    """Register the importers that butfor ships. Importers that the user registered before stay."""
    teach_again = remember()
    for name in LIBRARIES:
        import_module(f"butfor.importers.libraries.{name}")
    teach_again()
