"""A target that is written as names and values: in a file of rules, or by the options of a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from butfor.errors import InputError
from butfor.model.survival.curves import Chance, MeanTime, QuantileTime
from butfor.problem.targets import names as aim
from butfor.problem.targets import survival_names as life
from butfor.problem.targets.classes import ClassCosts, Classes, Other, Probability
from butfor.problem.targets.survival import SurvivalChange, SurvivalReach
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.targets.values import RelativeChange, ValueIn

Given = Mapping[str, Any]
OF_PROBABILITY = ("probability", "probability_at_most")


def read_target(given: Given, called: Callable[[str], str] = str) -> AbstractTarget:
    """The target that names and values mean, each of `NAMES_OF_TARGETS`. `called`: what an error calls a name."""
    used = [option for option in KINDS_OF_TARGETS if any(name in given for name in option)]
    if len(used) != 1:
        named = [called(name) for option in used for name in option if name in given]
        told = f"{' and '.join(named)} were given." if named else "no target was given."
        raise InputError(told, "A question has only one target.", "Give one of them." if named else "")
    return KINDS_OF_TARGETS[used[0]](given, called)


def _of_classes(given: Given, called: Callable[[str], str]) -> AbstractTarget:
    """The classes that are wanted, or the probability of one."""
    asked = [name for name in OF_PROBABILITY if name in given]
    if "class" not in given:
        raise InputError(f"{called(asked[0])} was given without a class.", f"Give the class with {called('class')}.")
    labels = given["class"] if isinstance(given["class"], list | tuple) else [given["class"]]
    if not asked:
        return aim.classes(*labels)
    if len(labels) != 1:
        raise InputError(f"{called(asked[0])} was given with {len(labels)} classes.", "It needs exactly one.")
    least, most = map(given.get, OF_PROBABILITY)
    if least is not None and most is not None:
        return aim.probability(labels[0], between=(least, most))
    return aim.probability(labels[0], at_least=least, at_most=most)


def _pair(given: Given, name: str, called: Callable[[str], str]) -> tuple[Any, Any]:
    """The two numbers that belong to a name."""
    value = given[name]
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f"{called(name)} = {value!r} was given.", "It takes two numbers.")
    return value[0], value[1]


def _unit(given: Given) -> str:
    return str(given.get("unit", ""))


KINDS_OF_TARGETS: dict[tuple[str, ...], Callable[[Given, Callable[[str], str]], AbstractTarget]] = {
    ("at_least", "at_most"): lambda given, called: aim.value(
        **{end: given[end] for end in ("at_least", "at_most") if end in given}
    ),
    ("relative_change",): lambda given, called: aim.relative_change(given["relative_change"]),
    ("mean_gain",): lambda given, called: life.mean_gain(given["mean_gain"], unit=_unit(given)),
    ("median_gain",): lambda given, called: life.median_gain(given["median_gain"], unit=_unit(given)),
    ("survival_at",): lambda given, called: life.survival_at(*_pair(given, "survival_at", called), unit=_unit(given)),
    ("quantile_at_least",): lambda given, called: life.quantile_at_least(
        *_pair(given, "quantile_at_least", called), unit=_unit(given)
    ),
    ("class", *OF_PROBABILITY): _of_classes,
    ("class_costs",): lambda given, called: aim.class_costs(given["class_costs"]),
}
"""For the names of each kind of target, the function that makes it."""

NAMES_OF_TARGETS = (*(name for option in KINDS_OF_TARGETS for name in option), "unit")


def written_target(target: AbstractTarget) -> Given | str | None:
    """The names and values that mean a target; None if they cannot say it."""
    match target:
        case Other():
            return "other"
        case Classes(labels):
            return {"class": labels[0] if len(labels) == 1 else list(labels)}
        case Probability(label, low, high):
            ends = {"probability": low} if low > 0 else {}
            return {"class": label, **ends, **({"probability_at_most": high} if high < 1 else {})}
        case ClassCosts(costs) if all(isinstance(label, str) for label, _ in costs):
            return {"class_costs": dict(costs)}
        case ValueIn(low, high):
            return {name: end for name, end in (("at_least", low), ("at_most", high)) if np.isfinite(end)}
        case RelativeChange(by):
            return {"relative_change": by}
        case SurvivalChange(MeanTime(0.0, None), by, unit) if by > 0:
            return {"mean_gain": by, "unit": unit}
        case SurvivalChange(QuantileTime(share), by, unit) if share == 0.5 and by > 0:
            return {"median_gain": by, "unit": unit}
        case SurvivalReach(Chance(time), value, True, unit):
            return {"survival_at": [time, value], "unit": unit}
        case SurvivalReach(QuantileTime(share), value, True, unit):
            return {"quantile_at_least": [share, value], "unit": unit}
    return None
