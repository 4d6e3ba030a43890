"""Targets, costs and constraints as plain data and back. So an answer can be checked a year later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from butfor.model.survival import curves
from butfor.problem import costs, missing_price
from butfor.problem.constraints import (
    computed,
    confident,
    follows,
    implications,
    judged,
    linked,
    relations,
    restrictions,
    robust,
    robust_to,
)
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.targets import classes, risk, safer, survival, values
from butfor.space import dummies, levels

SPEC_KINDS: tuple[type, ...] = (
    costs.L0, costs.L1, costs.L2, costs.LInf, costs.Gower, costs.MAD, costs.Table, costs.Quadratic, costs.Mix,
    missing_price.Missing,
    restrictions.Fixed, restrictions.Direction, restrictions.Between, restrictions.Within, restrictions.Grid,
    restrictions.Allowed, restrictions.AllowedMoves, restrictions.MayVanish,
    relations.AtMost, relations.LinearRelation, implications.Event, implications.Implication, follows.Follows,
    linked.LinkedColumns, linked.Combinations, computed.ComputedColumn, judged.Margin, judged.Plausible,
    robust.Robust, robust_to.RobustTo, confident.Confident,
    classes.Classes, classes.Other, classes.ClassCosts, classes.Probability, safer.OtherBeyond,
    values.ValueIn, values.RelativeChange, survival.SurvivalBeside, survival.SurvivalChange, survival.SurvivalReach,
    risk.RiskChange, risk.HazardRatio, curves.MeanTime, curves.Chance, curves.QuantileTime, dummies.Dummies,
)  # fmt: skip

WRITTEN = {"AllowedMoves": "Moves", "LinearRelation": "Relation"}
"""Kinds whose word in the schema differs from the name of their class. The schema keeps its first words."""

KNOWN = {WRITTEN.get(kind.__name__, kind.__name__): kind for kind in SPEC_KINDS}
_WORDS = {kind: word for word, kind in KNOWN.items()}


def class_of(constraint: Any) -> type[AbstractConstraint]:
    """The class of a constraint that was written as data. Of one that was only described, no more is known."""
    kind = KNOWN.get(constraint.get("kind", "")) if isinstance(constraint, dict) else None
    return kind if kind is not None and issubclass(kind, AbstractConstraint) else AbstractConstraint


def following_in(spec: Mapping[str, Any]) -> list[str]:
    """The columns of a question that follow from others. They are known even where a function is only described."""
    listed = spec.get("constraints", [])
    return [one["name"] for one in listed if isinstance(one, dict) and one.get("kind") == "ComputedColumn"]


def to_spec(thing: Any) -> Any:
    """JSON data for a target, cost or constraint.

    What cannot be written (a callable, a table of rows) is only described.
    """
    if levels.is_level(thing):
        return levels.written(thing)
    if isinstance(thing, np.ndarray):
        return {"array": thing.tolist()}
    if isinstance(thing, Mapping):
        return {"map": [[to_spec(key), to_spec(value)] for key, value in thing.items()]}
    if isinstance(thing, tuple | list):
        return [to_spec(item) for item in thing]
    if is_dataclass(thing) and type(thing) in _WORDS:
        return {"kind": _WORDS[type(thing)], **{f.name: to_spec(getattr(thing, f.name)) for f in fields(thing)}}
    return {"described": repr(thing)}


class ByDescription(Mapping[str, Any]):
    """Objects by what describes them. Each is taken once, and of those that are described alike, one after the other."""

    def __init__(self, objects: Iterable[Any] = ()) -> None:
        self.left: dict[str, list[Any]] = {}
        for one in objects:
            self.left.setdefault(repr(one), []).append(one)

    def __getitem__(self, words: str) -> Any:
        return self.left[words].pop(0)

    def __contains__(self, words: object) -> bool:
        return bool(self.left.get(str(words)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.left)

    def __len__(self) -> int:
        return len(self.left)


def from_spec(data: Any, objects: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """The object that `to_spec` wrote.

    If it was only described, it is taken from `objects` (description -> object); if it is not there, `LookupError` is
    raised.
    """
    if isinstance(data, list):
        return tuple(from_spec(item, objects) for item in data)
    if not isinstance(data, dict):
        return data
    if levels.is_written(data):
        return levels.read(data)
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
