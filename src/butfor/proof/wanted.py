"""What is wanted of a row, in the words of a question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.errors import UnsupportedProblemError
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.network import Network
from butfor.model.readout import Threshold
from butfor.model.survival.readout import Monotone
from butfor.problem.targets.classes import ClassCosts, Classes, Other, Probability
from butfor.problem.targets.safer import OtherBeyond
from butfor.problem.targets.survival import OnCurves, OnOneScore
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.targets.values import RelativeChange, ValueIn
from butfor.proof.one_sum import END_OF_NO_RANGE

LINK_BLUR = 2.0**-40
"""Curves are rounded. So what a quantity asks of a score is proven a little beyond: by this share of the score, and of 1."""

OTHER_END = "the other end of what is wanted is not needed"
"""Stands beside an end of two that a row misses."""

OF_CURVES = ("mean", "stack")
"""The kinds of models whose sums are asked together, through curves."""


def is_curved(told: dict[str, Any], kind: str) -> bool:
    """Whether what is wanted is about curves of sums: of a mean, a stack, or the odds of several classes."""
    return kind in OF_CURVES or (kind == "largest" and told.get("of", [""])[0] == "probability")


def not_asked(what: str) -> UnsupportedProblemError:
    """The error about a question of which no proof is made yet."""
    return UnsupportedProblemError(
        f"{what}: no proof is made of it yet.",
        "Proofs are made of classes, probabilities and values, of quantities of survival with one end, under constraints on "
        "single columns, linear relations, implications, bf.at_most_changes, bf.robust, bf.robust_to and bf.plausible, with "
        "prices that are added up over columns, or of which only the largest counts.",
    )


def wanted_of(target: AbstractTarget, reading: Reading, before: Prediction, kind: str) -> dict[str, Any]:
    """What is wanted of a row, which the estimator predicts `before`, by a model of a `kind` of sums."""
    if isinstance(target, OnOneScore):
        return _score(target, reading, before)
    if isinstance(target, ClassCosts):
        each = [(cost, wanted_of(Classes((label,)), reading, before, kind)) for label, cost in target.costs]
        return {"either": [[cost.hex(), told] for cost, told in each]}
    own, classes = reading.readout, list(reading.source.classes)
    if isinstance(target, RelativeChange):
        target = target.of(before)
    told = _classes_or_end(target, classes, before.labels[0] if classes else None)
    every = told["of"][1] == list(range(len(classes)))
    if every and kind in OF_CURVES:
        raise not_asked("a target of all classes, of a mean or a stack")
    if told["of"][0] == "class" and not every and isinstance(own, Threshold) and own.of == "probability":
        end = "at least" if told["of"][1] == own.positive else "at most"
        told = {**told, "of": ["probability", own.positive], end: float(own.threshold).hex()}
    softmax = own.link == "softmax" and not isinstance(reading.model, Network)
    if told["of"][0] == "probability" and (kind in ("score", "votes") or (kind == "largest" and not softmax)):
        raise not_asked(f"the target {target!r} of a model whose largest sum decides")
    if {"at least", "at most"} <= told.keys() and (kind == "leaves" or is_curved(told, kind)):
        return _missed_end(told, target, before)
    return told


def _missed_end(told: dict[str, Any], target: AbstractTarget, before: Prediction) -> dict[str, Any]:
    """The one of two ends that a row misses. If no cheaper row reaches that, none lies between both."""
    low: AbstractTarget
    if isinstance(target, Probability):
        low = replace(target, at_most=1.0)
    else:
        assert isinstance(target, ValueIn)
        low = replace(target, high=np.inf)
    other = "at least" if low.met(before, before)[0] else "at most"
    label = f"{told['label']}; " if "label" in told else ""
    return {key: its for key, its in told.items() if key != other} | {"label": f"{label}{OTHER_END}"}


def _score(target: OnOneScore, reading: Reading, before: Prediction) -> dict[str, Any]:
    """An end of a score. The row is predicted by itself: other rows may change the last digits of sums."""
    A, b, strict = target.needs(reading.readout, Prediction(reading.source, before.table))
    up, end, words = A[0].max() > 0, float(np.clip(b[0], -END_OF_NO_RANGE, END_OF_NO_RANGE)), repr(target)
    if strict:
        end = float(np.nextafter(end, np.inf))
    if isinstance(reading.readout, Monotone) and isinstance(target, OnCurves):
        end -= LINK_BLUR * (1 + abs(end))
        words += "; that this is the same is butfor's word"
    return {"of": ["value", None], "label": words, **({"at least": end.hex()} if up else {"at most": (-end).hex()})}


def _classes_or_end(target: AbstractTarget, classes: list[Any], now: Any) -> dict[str, Any]:
    """One of some classes, or an end of a probability or a value."""
    if isinstance(target, OtherBeyond):
        target = target.of(now)
    if isinstance(target, Classes):
        return _class(classes, target.labels)
    if isinstance(target, Other):
        return _class(classes, [label for label in classes if label != now])
    if isinstance(target, Probability):
        ends = (target.at_least if target.at_least > 0 else None, target.at_most if target.at_most < 1 else None)
        return {"of": ["probability", classes.index(target.label)], "label": str(target.label), **_ends(*ends)}
    if isinstance(target, ValueIn):
        return {
            "of": ["value", None],
            **_ends(*(end if np.isfinite(end) else None for end in (target.low, target.high))),
        }
    raise not_asked(f"the target {target!r}")


def _ends(low: float | None, high: float | None) -> dict[str, str]:
    """One end, or both."""
    return {key: float(end).hex() for key, end in (("at least", low), ("at most", high)) if end is not None}


def _class(classes: list[Any], wanted: Iterable[Any]) -> dict[str, Any]:
    """One class, or one of several."""
    numbers = [number for number, label in enumerate(classes) if label in wanted]
    told = " or ".join(str(classes[number]) for number in numbers)
    return {"of": ["class", numbers[0] if len(numbers) == 1 else numbers], "label": told}
