"""butfor: certified counterfactual explanations.

The cheapest change to one row that makes a trained model answer differently ("but for X, Y would not have happened"),
exact and proven where the model allows it, in the user's own columns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from butfor import compat, compress, errors, groups, measure, noise, plots, survival, teach, trees
    from butfor.audit.recheck import check
    from butfor.audit.result import AllChecked, Check, Checked
    from butfor.errors import ButforError
    from butfor.estimator.calibrated import calibrated
    from butfor.estimator.functions import black_box
    from butfor.estimator.keras_models import keras_model
    from butfor.estimator.onnx_graphs import onnx_model
    from butfor.estimator.scorecards import Scorecard
    from butfor.estimator.torch_modules import torch_model
    from butfor.explain.explainer import Explainer
    from butfor.explain.rules import Rules, rules
    from butfor.explain.supports import Supports
    from butfor.explain.surroundings import Robustness
    from butfor.explanation.alternatives import Alternatives
    from butfor.explanation.best import Best
    from butfor.explanation.changes import Change
    from butfor.explanation.column_words import Column, describe
    from butfor.explanation.concat import concat
    from butfor.explanation.contributions import Contributions
    from butfor.explanation.decision_map import DecisionMap
    from butfor.explanation.explanation import Explanation
    from butfor.explanation.explanations import Explanations
    from butfor.explanation.ladder import Ladder
    from butfor.explanation.menu import Menu, MenuLine, Standing
    from butfor.explanation.question_record import QuestionRecord
    from butfor.explanation.reasons import ReasonCode, reasons
    from butfor.explanation.region import Region
    from butfor.explanation.trade_off import Stretch, TradeOff
    from butfor.explanation.tree_path import CrossedSplit, TreePath
    from butfor.ledger.chain import Entry
    from butfor.ledger.log import Log
    from butfor.ledger.verified import Verified
    from butfor.portfolio.portfolio import HowFar, Portfolio, load
    from butfor.problem.constraints.confident_names import confident
    from butfor.problem.constraints.follows_names import follows
    from butfor.problem.constraints.linked_names import combinations, computed, linked
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
    from butfor.problem.costs import L0, L1, L2, MAD, Gower, LInf, Quadratic, Table
    from butfor.problem.missing_price import Missing
    from butfor.problem.suggestions import Suggestions, suggest
    from butfor.problem.targets.names import class_costs, classes, other, probability, relative_change, value
    from butfor.problem.targets.score import Score
    from butfor.proof.prove import prove
    from butfor.proof.proven import Proofs, Proven
    from butfor.serve.widget import widget
    from butfor.solvers.outcome import Status, Stopped
    from butfor.solvers.swarm.swarm import Swarm
    from butfor.space.encodings import one_hot, thermometer
    from butfor.space.feature import Categorical, Continuous, Integer, Ordinal, Step
    from butfor.space.space import Space
    from butfor.validation.dossier import Dossier, dossier
    from butfor.verdict.certificate import Certificate
    from butfor.verdict.evidence import Evidence
    from butfor.warming.warm import warm

_HOMES = {
    "butfor.audit.recheck": ("check",),
    "butfor.audit.result": ("AllChecked", "Check", "Checked"),
    "butfor.errors": ("ButforError",),
    "butfor.estimator.calibrated": ("calibrated",),
    "butfor.estimator.functions": ("black_box",),
    "butfor.estimator.keras_models": ("keras_model",),
    "butfor.estimator.onnx_graphs": ("onnx_model",),
    "butfor.estimator.scorecards": ("Scorecard",),
    "butfor.estimator.torch_modules": ("torch_model",),
    "butfor.explain.explainer": ("Explainer",),
    "butfor.explain.rules": ("Rules", "rules"),
    "butfor.explain.supports": ("Supports",),
    "butfor.explain.surroundings": ("Robustness",),
    "butfor.explanation.alternatives": ("Alternatives",),
    "butfor.explanation.best": ("Best",),
    "butfor.explanation.changes": ("Change",),
    "butfor.explanation.column_words": ("Column", "describe"),
    "butfor.explanation.reasons": ("ReasonCode", "reasons"),
    "butfor.explanation.concat": ("concat",),
    "butfor.explanation.contributions": ("Contributions",),
    "butfor.explanation.decision_map": ("DecisionMap",),
    "butfor.explanation.explanation": ("Explanation",),
    "butfor.explanation.explanations": ("Explanations",),
    "butfor.explanation.ladder": ("Ladder",),
    "butfor.explanation.menu": ("Menu", "MenuLine", "Standing"),
    "butfor.explanation.question_record": ("QuestionRecord",),
    "butfor.explanation.region": ("Region",),
    "butfor.explanation.trade_off": ("Stretch", "TradeOff"),
    "butfor.explanation.tree_path": ("CrossedSplit", "TreePath"),
    "butfor.ledger.chain": ("Entry",),
    "butfor.ledger.log": ("Log",),
    "butfor.ledger.verified": ("Verified",),
    "butfor.portfolio.portfolio": ("Portfolio", "HowFar", "load"),
    "butfor.problem.constraints.confident_names": ("confident",),
    "butfor.problem.constraints.follows_names": ("follows",),
    "butfor.problem.constraints.linked_names": ("combinations", "computed", "linked"),
    "butfor.problem.constraints.names": (
        "allowed", "at_most_changes", "becomes", "between", "candidates", "falls", "fixed", "implies",
        "linear", "margin", "may_be_missing", "moves", "only_down", "only_up", "plausible", "rises",
        "robust", "robust_to", "step", "whole", "within",
    ),
    "butfor.problem.costs": ("L0", "L1", "L2", "MAD", "Gower", "LInf", "Quadratic", "Table"),
    "butfor.problem.missing_price": ("Missing",),
    "butfor.problem.suggestions": ("Suggestions", "suggest"),
    "butfor.problem.targets.names": ("class_costs", "classes", "other", "probability", "relative_change", "value"),
    "butfor.problem.targets.score": ("Score",),
    "butfor.proof.prove": ("prove",),
    "butfor.proof.proven": ("Proofs", "Proven"),
    "butfor.serve.widget": ("widget",),
    "butfor.solvers.outcome": ("Status", "Stopped"),
    "butfor.solvers.swarm.swarm": ("Swarm",),
    "butfor.space.encodings": ("one_hot", "thermometer"),
    "butfor.space.feature": ("Categorical", "Continuous", "Integer", "Ordinal", "Step"),
    "butfor.space.space": ("Space",),
    "butfor.validation.dossier": ("Dossier", "dossier"),
    "butfor.verdict.certificate": ("Certificate",),
    "butfor.verdict.evidence": ("Evidence",),
    "butfor.warming.warm": ("warm",),
}  # fmt: skip

import_module("butfor.warming.searches")

__version__ = "0.2.0"
__all__ = [name for names in _HOMES.values() for name in names]

_ROOMS = ("compat", "compress", "errors", "groups", "measure", "noise", "plots", "survival", "teach", "trees")
"""What stands behind a second word, such as `bf.noise.radius`."""

_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that `import butfor` costs nothing."""
    if name in _ROOMS:
        return import_module(f"butfor.{name}")
    if name not in _HOME:
        rooms = () if name.startswith("_") else _ROOMS  # Python itself asks for names with underscores
        inside = [f"{room}.{one}" for room in rooms for one in import_module(f"butfor.{room}").__all__]
        raise import_module("butfor.errors").no_attribute("butfor", name, [*__all__, *_ROOMS, *inside])
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """What a user may want: no helper of this file, and no folder of the implementation."""
    return sorted([*__all__, *_ROOMS, "__version__"])
