"""Targets, costs and constraints as plain data and back, so that an answer can be checked a year later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from butfor.model.survival import curves as survival_curves
from butfor.problem import costs as cost
from butfor.problem.constraints import relations as relation
from butfor.problem.constraints import restrictions as restriction
from butfor.problem.targets import risk as risk_target
from butfor.problem.targets import survival as survival_target
from butfor.problem.targets import target

KNOWN = {
    kind.__name__: kind
    for kind in (
        cost.L0, cost.L1, cost.L2, cost.LInf, cost.Gower, cost.MAD, cost.Table, cost.Quadratic, cost.Mix,
        restriction.Fixed, restriction.Direction, restriction.Between, restriction.Within, restriction.Grid, restriction.Allowed,
        restriction.Moves, restriction.MayVanish, relation.AtMost, relation.Relation, relation.Event,
        relation.Implication, relation.Margin, relation.Plausible,
        target.Classes, target.Other, target.ClassCosts, target.Probability, target.ValueIn, target.RelativeChange,
        survival_target.SurvivalChange, survival_target.SurvivalReach, risk_target.RiskChange, risk_target.HazardRatio,
        survival_curves.MeanTime, survival_curves.Chance, survival_curves.QuantileTime,
    )
}  # fmt: skip


def to_spec(thing: Any) -> Any:
    """JSON data for a target, cost or constraint; what cannot be written (a callable, a table of rows) is only described."""
    if isinstance(thing, np.generic):
        thing = thing.item()
    if thing is None or isinstance(thing, str | bool | int):
        return thing
    if isinstance(thing, float):
        return thing if np.isfinite(thing) else {"number": str(thing)}
    if isinstance(thing, np.ndarray):
        return {"array": thing.tolist()}
    if isinstance(thing, Mapping):
        return {"map": [[to_spec(key), to_spec(value)] for key, value in thing.items()]}
    if isinstance(thing, tuple | list):
        return [to_spec(item) for item in thing]
    if is_dataclass(thing) and type(thing).__name__ in KNOWN:
        return {"kind": type(thing).__name__, **{f.name: to_spec(getattr(thing, f.name)) for f in fields(thing)}}
    return {"described": repr(thing)}


def from_spec(data: Any, objects: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """What `to_spec` wrote; `LookupError` if it was only described, unless it is one of `objects`, by its description."""
    if isinstance(data, list):
        return tuple(from_spec(item, objects) for item in data)
    if not isinstance(data, dict):
        return data
    if "number" in data:
        return float(data["number"])
    if "array" in data:
        return np.array(data["array"])
    if "map" in data:
        return {from_spec(key, objects): from_spec(value, objects) for key, value in data["map"]}
    if "described" in data:
        if data["described"] in objects:
            return objects[data["described"]]
        raise LookupError(data["described"])
    kind = KNOWN[data["kind"]]
    return kind(**{name: from_spec(value, objects) for name, value in data.items() if name != "kind"})
