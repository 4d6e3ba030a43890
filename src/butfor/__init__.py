"""butfor: certified counterfactual explanations.

The cheapest change to one row that makes a trained model answer differently ("but for X, Y would not have happened"),
exact and proven where the model allows it, in the user's own columns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor import compat, compress, groups, measure, plots, survival, trees
    from butfor.audit.recheck import check
    from butfor.errors import (
        ButforError,
        FidelityError,
        InputError,
        InputTypeError,
        MissingExtraError,
        NotFittedError,
        UnknownColumnError,
        UnsupportedModelError,
        UnsupportedProblemError,
    )
    from butfor.estimator.functions import black_box
    from butfor.estimator.onnx_graphs import onnx_model
    from butfor.estimator.torch_modules import torch_model
    from butfor.explain.explainer import Explainer
    from butfor.explanation.column_words import Column, describe
    from butfor.explanation.explanation import Explanation
    from butfor.explanation.explanations import Explanations
    from butfor.explanation.ladder import Ladder
    from butfor.explanation.menu import Menu
    from butfor.explanation.trade_off import TradeOff
    from butfor.explanation.variety import Variety
    from butfor.importers.fold.linear import linear_over
    from butfor.importers.registry import register_importer, register_step
    from butfor.model.readout import Sign
    from butfor.problem.constraints.names import (
        allowed,
        at_most_changes,
        becomes,
        between,
        candidates,
        falls,
        fixed,
        implies,
        linear,
        margin,
        may_be_missing,
        moves,
        only_down,
        only_up,
        plausible,
        rises,
        robust,
        robust_to,
        step,
        whole,
        within,
    )
    from butfor.problem.constraints.noise import choose_radius, choose_sigma, probability_within
    from butfor.problem.costs import L0, L1, L2, MAD, Gower, LInf, Quadratic, Table
    from butfor.problem.targets.names import class_costs, classes, other, probability, relative_change, value
    from butfor.records.reading import load
    from butfor.solvers.outcome import Status, Stopped
    from butfor.solvers.swarm.swarm import Swarm
    from butfor.space.feature import Categorical, Continuous, Integer, Ordinal, Step
    from butfor.space.space import Space
    from butfor.verdict.certificate import Certificate
    from butfor.warming.warm import warm

_HOMES = {
    "butfor.audit.recheck": ("check",),
    "butfor.verdict.certificate": ("Certificate",),
    "butfor.errors": (
        "ButforError", "FidelityError", "InputError", "InputTypeError", "MissingExtraError", "NotFittedError",
        "UnknownColumnError", "UnsupportedModelError", "UnsupportedProblemError",
    ),
    "butfor.explain.explainer": ("Explainer",),
    "butfor.explanation.column_words": ("Column", "describe"),
    "butfor.explanation.explanation": ("Explanation",),
    "butfor.explanation.explanations": ("Explanations",),
    "butfor.explanation.ladder": ("Ladder",),
    "butfor.explanation.menu": ("Menu",),
    "butfor.explanation.trade_off": ("TradeOff",),
    "butfor.explanation.variety": ("Variety",),
    "butfor.estimator.functions": ("black_box",),
    "butfor.estimator.onnx_graphs": ("onnx_model",),
    "butfor.estimator.torch_modules": ("torch_model",),
    "butfor.importers.fold.linear": ("linear_over",),
    "butfor.importers.registry": ("register_importer", "register_step"),
    "butfor.model.readout": ("Sign",),
    "butfor.problem.constraints.names": (
        "allowed", "at_most_changes", "becomes", "between", "candidates", "falls", "fixed", "implies", "linear",
        "margin", "may_be_missing", "moves", "only_down", "only_up", "plausible", "rises", "robust",
        "robust_to", "step", "whole", "within",
    ),
    "butfor.problem.constraints.noise": ("choose_radius", "choose_sigma", "probability_within"),
    "butfor.problem.costs": ("L0", "L1", "L2", "MAD", "Gower", "LInf", "Quadratic", "Table"),
    "butfor.problem.targets.names": ("class_costs", "classes", "other", "probability", "relative_change", "value"),
    "butfor.solvers.outcome": ("Status", "Stopped"),
    "butfor.solvers.swarm.swarm": ("Swarm",),
    "butfor.space.feature": ("Categorical", "Continuous", "Integer", "Ordinal", "Step"),
    "butfor.space.space": ("Space",),
    "butfor.records.reading": ("load",),
    "butfor.warming.warm": ("warm",),
}  # fmt: skip

import_module("butfor.warming.searches")

__version__ = "0.1.0"
__all__ = [name for names in _HOMES.values() for name in names]

_FOLDERS = ("compat", "compress", "groups", "measure", "plots", "survival", "trees")

_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import butfor` costs nothing."""
    if name in _FOLDERS:
        return import_module(f"butfor.{name}")
    if name not in _HOME:
        raise import_module("butfor.lazy").no_attribute("butfor", name, [*__all__, *_FOLDERS])
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """What a user may want: no helper of this file, and no folder of the implementation."""
    return sorted([*__all__, *_FOLDERS, "__version__"])
