"""scikit-survival: Cox models, survival trees and forests, gradient boosting, accelerated times, survival machines.

The library is not imported. Only attributes of the fitted estimators are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.sklearn_tree import grown
from butfor.importers.registry import Imported, register_importer, register_step
from butfor.model.survival.curves import weighed
from butfor.model.survival.readout import Hazards, LeafCurves, LogTime, RiskOnly, Survival


def read_cox(estimator: Any, columns: list[Column]) -> Imported:
    """Cox models. The score is linear, the baseline is a step function."""
    return linear_over(columns, estimator.coef_, np.zeros(1)), _hazards(estimator)


def read_coxnet(estimator: Any, columns: list[Column]) -> Imported:
    """The penalised Cox model at the last (smallest) of its alphas, as in `predict`."""
    coef, offset = estimator._get_coef(None)
    model = linear_over(columns, coef, -np.atleast_1d(offset))
    if estimator._baseline_models is None:
        why = "CoxnetSurvivalAnalysis was fitted without its baseline"
        remedy = "Fit it with fit_baseline_model=True, or use bf.survival.risk_change."
        return model, RiskOnly(why=why, remedy=remedy, proportional=True)
    return model, _hazards(estimator, None)


def _hazards(estimator: Any, *alpha: Any) -> Hazards:
    """The baseline hazards. As in the estimator, S is S0 ** exp(score), so that a rounded 0 stays 0."""
    baseline = estimator if hasattr(estimator, "baseline_survival_") else estimator._get_baseline_model(*alpha)
    survival, hazard = baseline.baseline_survival_, baseline.cum_baseline_hazard_
    S, H = (np.asarray(step.a * step.y + step.b, dtype=np.float64) for step in (survival, hazard))
    with np.errstate(divide="ignore"):
        return Hazards(times=np.asarray(survival.x, dtype=np.float64), hazard=-np.log(S), lost=H[S == 0])


def read_ridge(estimator: Any, columns: list[Column]) -> Imported:
    """The accelerated failure time model: the logarithm of the time is linear."""
    return linear_over(columns, estimator.coef_, estimator.intercept_), LogTime()


def read_machine(estimator: Any, columns: list[Column]) -> Imported:
    """A linear survival machine. Its score is a risk if it learnt a ranking, else the logarithm of a time."""
    intercept = float(np.ravel(getattr(estimator, "intercept_", 0.0))[0])
    if estimator.rank_ratio < 1:
        return linear_over(columns, estimator.coef_, np.array([intercept])), LogTime()
    model = linear_over(columns, -np.asarray(estimator.coef_), np.array([-intercept]))
    return model, RiskOnly(why=f"{type(estimator).__name__} only ranks risks", remedy=RISK)


def read_forest(forest: Any, columns: list[Column]) -> Imported:
    """Survival forests. Their hazards and survival functions are means over the leaves."""
    return _leaves(forest, columns, forest.estimators_, forest.low_memory)


def read_tree(tree: Any, columns: list[Column]) -> Imported:
    """One survival tree."""
    return _leaves(tree, columns, [tree], tree.low_memory)


def _leaves(estimator: Any, columns: list[Column], trees: Sequence[Any], lean: bool) -> Imported:
    """The trees with the risk score in their leaves.

    It is the hazard, added up over the times at which there was an event.
    """
    events = estimator.is_event_time_
    risk = partial(_lean_risk if lean else _risk, events)
    nodes = grown(trees, values=risk)
    model = trees_over(columns, replace(nodes, value=nodes.value / len(trees)), np.zeros(1), folded=True)
    model = replace(model, summed=0 if lean else int(np.count_nonzero(events)))
    readout: Survival
    if lean:
        why = f"{type(estimator).__name__} was fitted with low_memory=True and keeps no survival function"
        readout = RiskOnly(why=why, remedy="Fit it with low_memory=False, or use bf.survival.risk_change.")
    else:
        times = np.asarray(estimator.unique_times_, dtype=np.float64)
        readout = LeafCurves(times=times, leaf_values=partial(_leaf_values, trees))
    return model, readout


def _risk(events: Any, tree: Any) -> FloatArray:
    return np.asarray(tree.tree_.value[:, events, 0].sum(axis=1, keepdims=True), dtype=np.float64)


def _lean_risk(events: Any, tree: Any) -> FloatArray:
    return np.ascontiguousarray(tree.tree_.value[:, 0, :1], dtype=np.float64)


def _leaf_values(trees: Sequence[Any], constant: float, weights: FloatArray) -> FloatArray:
    """`constant + S weights` of every node, divided by the number of trees.

    The curves of one tree are used at a time.
    """
    used = np.flatnonzero(weights)
    if len(used) == 1:  # one time of hundreds is looked up, not summed
        parts = [tree.tree_.value[:, used[0], 1] * weights[used[0]] for tree in trees]
    else:
        parts = [weighed(tree.tree_.value[:, :, 1], weights) for tree in trees]
    return np.asarray((constant + np.concatenate(parts)) / len(trees), dtype=np.float64)


def read_boosting(boosting: Any, columns: list[Column]) -> Imported:
    """Gradient boosting of regression trees. With dropout, each tree has its own weight."""
    trees = boosting.estimators_.ravel()
    nodes = grown(trees)
    weights = getattr(boosting, "_scale", np.ones(len(trees)))[: len(trees)]
    each = np.repeat(boosting.learning_rate * weights, [tree.tree_.node_count for tree in trees])
    base = np.asarray(boosting._raw_predict_init(np.zeros((1, boosting.n_features_in_)))[0], dtype=np.float64)
    folded = replace(nodes, value=each[:, None] * nodes.value)
    return trees_over(columns, folded, base, folded=True), _loss(boosting)


def read_componentwise(boosting: Any, columns: list[Column]) -> Imported:
    """Gradient boosting of one column at a time. It is linear; the first coefficient is the intercept."""
    coef = np.asarray(boosting.coef_, dtype=np.float64)
    return linear_over(columns, coef[1:], coef[:1]), _loss(boosting)


def _loss(boosting: Any) -> Survival:
    if boosting.loss != "coxph":
        return LogTime()
    return _hazards(boosting)


def refuse_kernel(machine: Any, columns: list[Column]) -> Imported:
    """Refuse a kernel that is not known to be linear."""
    raise UnsupportedModelError(
        f"{type(machine).__name__} computes its score through a kernel.",
        "Scores must be linear, or sums of trees.",
        "Use FastSurvivalSVM, which is linear.",
    )


def one_hot(step: Any, columns: list[Column]) -> list[Column]:
    """scikit-survival's own encoder. It replaces a column by one column per category, without the first."""
    out: list[Column] = []
    for name, column in zip(step.feature_names_in_, columns, strict=True):
        if name not in step.categories_:
            out.append(column)
            continue
        out += [column.map(partial(_is_level, level)) for level in step.categories_[name][1:]]
    return out


def _is_level(level: Any, x: Any) -> FloatArray:
    return np.array([np.nan if value is None or value != value else float(value == level) for value in x.tolist()])


RISK = "Use bf.survival.risk_change."

register_importer("sksurv.CoxPHSurvivalAnalysis", read_cox)
register_importer("sksurv.CoxnetSurvivalAnalysis", read_coxnet)
register_importer("sksurv.IPCRidge", read_ridge)
register_importer("sksurv.FastSurvivalSVM", read_machine)
register_importer("sksurv.FastKernelSurvivalSVM", refuse_kernel)
for forest in ("RandomSurvivalForest", "ExtraSurvivalTrees"):
    register_importer(f"sksurv.{forest}", read_forest)
for tree in ("SurvivalTree", "ExtraSurvivalTree"):
    register_importer(f"sksurv.{tree}", read_tree)
register_importer("sksurv.GradientBoostingSurvivalAnalysis", read_boosting)
register_importer("sksurv.ComponentwiseGradientBoostingSurvivalAnalysis", read_componentwise)
register_step("sksurv.OneHotEncoder", one_hot)
