"""The independent judge of proofs: it tries all rows that could be the cheapest, and adds up as an estimator does.

It shares no code with the checker: it reads files of models with numpy, and sums in three orders in floating point.
"""

from __future__ import annotations

import json
from copy import copy
from fractions import Fraction
from typing import Any

import numpy as np

MOST_ROWS = 400_000


class TooManyError(Exception):
    """More rows than can be tried."""


class JudgedModel:
    """Trees as arrays, and what is made of their sum. at: where its own sums begin, if it is one of several models."""

    at = 0
    others: list[dict[str, Any]] = []

    def __init__(self, kind: str, content: str) -> None:
        data = json.loads(content)
        self.kind = kind
        if kind == "xgboost":
            learner = data["learner"]
            trees = learner["gradient_booster"]["model"]["trees"]
            keys = (
                "split_indices",
                "split_conditions",
                "left_children",
                "right_children",
                "split_conditions",
                "default_left",
            )
            several = learner["objective"]["name"].startswith("multi:")
            self.adds, self.reads, self.type = "largest" if several else "logistic", np.float32, np.float32
            given = np.float32(json.loads(learner["learner_model_param"]["base_score"]))
            self.base = np.ravel(given if several else -np.log(np.float32(1) / given - np.float32(1)))
            self.of = learner["gradient_booster"]["model"]["tree_info"]
        else:
            trees, keys = data["trees"], ("feature", "cut", "left", "right", "value", "missing")
            self.adds, self.type = data["sum"], np.float64
            self.reads = np.float32 if data["reads"] == "float32" else np.float64
            self.base, self.scale = self.numbers(np.ravel(data["base"]).tolist()), float.fromhex(data["scale"])
            self.of = [tree.get("of", 0) for tree in trees]
            self.curves = data.get("curves", [{"weight": (1.0).hex()}] * len(self.base))
            self.end = self.numbers(data.get("end", [0.0]))[0]
            self.ballots = self.numbers(data.get("ballots", []))
            self.others = data.get("others", [])
        self.trees = [tuple(self.numbers(tree.get(key, [])) for key in keys) for tree in trees]

    @staticmethod
    def numbers(values: list[Any]) -> np.ndarray:
        def one(x: Any) -> Any:  # "inf" is one, too
            return float.fromhex(x) if isinstance(x, str) else [one(y) for y in x] if isinstance(x, list) else x

        return np.array([one(x) for x in values])

    def cuts(self, feature: int) -> list[float]:
        found = {float(c) for f, cut, left, *_ in self.trees for c in cut[(f == feature) & (left >= 0)]}
        return sorted(found - {np.inf, -np.inf})

    def goes_left(self, x: np.ndarray, cut: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # what float32 does not hold is beyond every cut
            x = x.astype(self.reads)
        return x < cut.astype(np.float32) if self.kind == "xgboost" else x.astype(np.float64) <= cut

    def leaves(self, rows: np.ndarray) -> list[np.ndarray]:
        found = []
        for feature, cut, left, right, value, lost in self.trees:
            at = np.zeros(len(rows), dtype=int)
            while (inner := left[at] >= 0).any():
                x = rows[np.arange(len(rows)), np.where(inner, feature[at], 0)]
                go = self.goes_left(x, cut[at])
                if np.isnan(x).any():
                    go = np.where(np.isnan(x), lost[at] == 1, go)
                at = np.where(inner, np.where(go, left[at], right[at]), at)
            found.append(value[at])
        return found

    def may_say(self, rows: np.ndarray, wanted: dict[str, Any]) -> np.ndarray:
        """For which rows some order of addition gives the class, or reaches the value, of each of the models."""
        leaves, at, its = (
            self.leaves(rows),
            len(self.base) - sum(told["sums"] for told in self.others),
            wanted.get("others", []),
        )
        found = self.one(0, at, self.adds).may(leaves, wanted)
        for told, own in zip(self.others, its, strict=True):
            other = self.one(at, told["sums"], told["sum"])
            other.type = np.float32 if told["digits"] == 24 else np.float64
            found &= other.may(leaves, own)
            at += told["sums"]
        return found

    def one(self, at: int, count: int, adds: str) -> JudgedModel:
        """One of several models."""
        own = copy(self)
        own.at, own.base, own.adds = at, self.base[at : at + count], adds
        return own

    def may(self, leaves: list[np.ndarray], wanted: dict[str, Any]) -> np.ndarray:
        """For which rows some order of addition gives the class, or reaches the value."""
        n, (what, label) = len(self.trees), wanted["of"]
        orders = (range(n), range(n - 1, -1, -1), sorted(range(n), key=lambda k: -float(np.abs(leaves[k]).max())))
        if what == "value":
            return np.any([self.sums(leaves, order) >= float.fromhex(wanted["at least"]) for order in orders], axis=0)
        if what == "probability" and self.adds == "mean":
            way = 1 if "at least" in wanted else -1
            end, each = (
                float.fromhex(wanted["at least" if way > 0 else "at most"]),
                [self.mean_of(leaves, order) for order in orders],
            )
            return np.any([way * (one if label else 1 - one) >= way * end for one in each], axis=0)
        if what == "probability" and self.adds == "largest":
            way = 1 if "at least" in wanted else -1
            end = float.fromhex(wanted["at least" if way > 0 else "at most"])
            return np.any([way * self.shares_of(leaves, order)[:, label] >= way * end for order in orders], axis=0)
        return np.any([np.isin(one, label) for order in orders for one in self.classes_of(leaves, order)], axis=0)

    def classes_of(self, leaves: list[np.ndarray], order: Any) -> list[np.ndarray]:
        """The class, in each of the ways in which an estimator may find the largest sum."""
        if self.adds == "shares":
            total = np.column_stack([self.sums(leaves, order, of) for of in range(len(self.base))])
            return [np.argmax(total / len(leaves), axis=1)]
        if self.adds == "votes":
            votes = np.column_stack([self.sums(leaves, order, of) > 0 for of in range(len(self.base))])
            return [(np.where(votes, self.ballots, -self.ballots).sum(axis=1) > 0).astype(int)]
        if self.adds in ("logistic", "score"):
            return [(self.sums(leaves, order) > 0).astype(int)]
        if self.adds == "mean":
            return [(self.mean_of(leaves, order) > 0.5).astype(int)]
        if self.adds == "stack":
            return [(self.end + self.curves_of(leaves, order) > 0).astype(int)]
        sums = np.column_stack([self.sums(leaves, order, of) for of in range(len(self.base))])
        return [np.argmax(sums, axis=1), np.argmax(self.shares_of(leaves, order), axis=1)]

    def shares_of(self, leaves: list[np.ndarray], order: Any) -> np.ndarray:
        """The probabilities of several classes, by a softmax."""
        sums = np.column_stack([self.sums(leaves, order, of) for of in range(len(self.base))])
        exponentials = np.exp(sums - sums.max(axis=1, keepdims=True))
        return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))

    def mean_of(self, leaves: list[np.ndarray], order: Any) -> np.ndarray:
        """The probability of class 1, the mean of what curves make of its sums."""
        return self.curves_of(leaves, order) / sum(float.fromhex(told["weight"]) for told in self.curves)

    def curves_of(self, leaves: list[np.ndarray], order: Any) -> np.ndarray:
        """What curves of its sums add up to."""
        sums = [self.sums(leaves, order, of).astype(np.float64) for of in range(len(self.base))]
        each = [self.curved(one, told) for one, told in zip(sums, self.curves, strict=True)]
        return np.tensordot([float.fromhex(told["weight"]) for told in self.curves], each, axes=1)

    def curved(self, x: np.ndarray, told: dict[str, Any]) -> np.ndarray:
        """What a curve makes of a sum, without its weight."""
        if told.get("straight"):
            return x
        slope, shift, _ = map(float.fromhex, told.get("bend", ["nan"] * 3))
        with np.errstate(over="ignore"):
            share = 1 / (1 + np.exp(-x))
            x, share = (
                (slope * share + shift, 1 / (1 + np.exp(-slope * share - shift))) if "bend" in told else (x, share)
            )
        knots = np.array([[*map(float.fromhex, knot)] for knot in told.get("knots", [])]).T
        return np.asarray(np.interp(x, *knots) if len(knots) else share)

    def sums(self, leaves: list[np.ndarray], order: Any, of: int = 0) -> np.ndarray:
        total, of = np.full(len(leaves[0]), self.base[of], dtype=self.type), self.at + of
        for k in order:
            if leaves[k].ndim > 1 or self.of[k] == of:
                leaf = (leaves[k][:, of] if leaves[k].ndim > 1 else leaves[k]).astype(self.type)
                total = total + (leaf if self.kind == "xgboost" else self.scale * leaf)
        return total


def number(x: Any) -> Fraction:
    return Fraction(float.fromhex(x) if isinstance(x, str) else x)


def lies(value: Any, where: list[Any]) -> bool:
    """Whether a number, the position of a level, or None for a missing number lies in a set of a rule."""
    if len(where) == 1:
        return value in where[0]
    above, most, lost = where
    if value is None:
        return bool(lost)
    return (above is None or value > number(above)) and (most is None or value <= number(most))


def options(
    about: dict[str, Any], own: dict[str, Any], model: JudgedModel, sets: list[list[Any]]
) -> list[tuple[list[float], Fraction, bool, list[bool]]]:
    """What a column may become: its features, its exact price, whether that is a change, and in which sets it lies."""
    if "levels" in about:
        return [
            (
                [np.nan if x is None else float.fromhex(x) for x in level[1:]],
                number(price),
                k != own["now"],
                [lies(k, where) for where in sets],
            )
            for k, (level, price) in enumerate(zip(about["levels"], own["prices"], strict=True))
            if price is not None
        ]
    least, most = (number(own[key]) for key in ("least", "most"))
    known = own["now"] is not None
    now = number(own["now"]) if known else least
    fee, rate, square = map(number, own["price"])
    cuts = model.cuts(about["features"][0]) if about["features"] else []
    near = {float(now), float(least), float(most)}
    for cut in cuts:
        ends = {cut}
        if model.reads == np.float32:
            with np.errstate(over="ignore"):
                single = np.float32(cut)
                three = [float(np.nextafter(single, np.float32(way))) for way in (-np.inf, np.inf)] + [float(single)]
            ends |= {*three, *((a + float(single)) / 2 for a in three)}
        near |= {float(np.nextafter(end, way)) for end in ends for way in (-np.inf, np.inf)} | ends
    given = {float(number(end)) for where in sets for end in where[:2] if end is not None}
    near |= given | {float(np.nextafter(end, way)) for end in given for way in (-np.inf, np.inf)}
    tried = {Fraction(value) for value in near if np.isfinite(value)}
    if about["grid"]:
        step, anchor = map(Fraction, about["grid"])
        tried = {anchor + ((value - anchor) // step + k) * step for value in tried for k in (-1, 0, 1, 2)}
    found = {}
    if own["stay"] and known:
        found[now] = Fraction(0)
    for value in tried:
        if least <= value <= most and (value != now or not known):
            move = abs(value - now)
            found[value] = fee + rate * move + square * move * move
    cheapest: dict[bytes, tuple[list[float], Fraction, bool, list[bool]]] = {}
    for value, price in sorted(found.items(), key=lambda one: one[1]):
        x = float(value)
        moved = value != now or not known
        inside = [lies(value, where) for where in sets]
        way = model.goes_left(np.full(len(cuts), x), np.array(cuts)).tobytes() + bytes([moved, *inside])
        cheapest.setdefault(way, ([x] * len(about["features"]), price, moved, inside))
    lose = own.get("missing") if known else 0 if own["stay"] else None
    if lose is None:
        return list(cheapest.values())
    lost = [np.nan if x is None else float.fromhex(x) for x in about["missing"]]
    return [*cheapest.values(), (lost, number(lose), known, [lies(None, where) for where in sets])]


def least_cost(shared: dict[str, Any], own: dict[str, Any], kind: str, content: str) -> Fraction | None:
    """The exact least cost of an admissible row that may get the wanted class; None if there is none."""
    model = JudgedModel(kind, content)
    rules = own.get("never", [])
    sets = [[where for rule in rules for k, *where in rule if k == j] for j in range(len(shared["columns"]))]
    each = zip(shared["columns"], own["columns"], sets, strict=True)
    lists = [options(about, mine, model, its) for about, mine, its in each]
    sizes = [len(one) for one in lists]
    if np.prod(sizes, dtype=float) > MOST_ROWS:
        raise TooManyError
    if min(sizes) == 0:
        return None
    at = np.indices(sizes).reshape(len(sizes), -1)
    rows = np.zeros((at.shape[1], 1 + max(f for about in shared["columns"] for f in about["features"])))
    cost, changed = np.zeros(len(rows)), np.zeros(len(rows), dtype=int)
    for about, some, chosen in zip(shared["columns"], lists, at, strict=True):
        rows[:, about["features"]] = np.array([one[0] for one in some]).reshape(len(some), -1)[chosen]
        cost += np.array([float(one[1]) for one in some])[chosen]
        changed += np.array([one[2] for one in some], dtype=int)[chosen]
    each = shared["wanted"].get("either", [[0, shared["wanted"]]])
    extra = np.full(len(rows), np.inf)  # what the cheapest of the targets costs that a row may have
    for price, told in each:
        extra = np.where(model.may_say(rows, told), np.minimum(extra, float(number(price))), extra)
    may, cost = extra < np.inf, cost + extra
    said = [
        iter(np.array([one[3] for one in some], dtype=bool)[chosen].T) for some, chosen in zip(lists, at, strict=True)
    ]
    for rule in rules:
        may &= ~np.all([next(said[k]) for k, *_ in rule], axis=0)
    if own["changes"] is not None:
        may &= changed <= own["changes"]
    if not may.any():
        return None
    near = np.flatnonzero(may & (cost <= cost[may].min() * (1 + 1e-9) + 1e-12))
    return min(
        sum((some[i][1] for some, i in zip(lists, at[:, n], strict=True)), Fraction(float(extra[n]))) for n in near
    )
