"""Constraints, as source text and as plain rules of the fuzzer's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from tests.fuzz.columns import Known, Random, grid_points

LOOSE = 1e-7
"""What a judge of handed-out rows forgives where the documentation speaks of a tolerance."""


TOGETHER = ("linked", "combinations")
"""The words for columns that belong together."""


@dataclass(frozen=True)
class Rule:
    """A constraint: its name, the columns that it names, and what else it is given."""

    word: str
    names: tuple[str, ...] = ()
    given: tuple[Any, ...] = ()

    def text(self) -> str:
        """The constraint as source text."""
        listed = [*map(repr, self.names), *map(repr, self.given)]
        if self.word == "linear":
            listed = [repr(dict(zip(self.names, self.given[0], strict=True))), *map(repr, self.given[1:])]
        if self.word == "robust":
            listed = [repr(dict(zip(self.names, self.given[0], strict=True))), f"norm={self.given[1]!r}"]
        if self.word == "implies":
            listed = [self._event(k) for k in (0, 1)]
        if self.word in TOGETHER:
            columns = {name: [row[k] for row in self.given] for k, name in enumerate(self.names)}
            listed = [*map(repr, self.names), f"table=pd.DataFrame({columns!r})"]
        if self.word == "allowed":
            listed = [repr(self.names[0]), repr(list(self.given))]
        if self.word == "moves":
            listed = [repr(self.names[0]), repr({self.given[0]: list(self.given[1])})]
        return f"bf.{self.word}({', '.join(listed)})"

    def _event(self, k: int) -> str:
        word, by = self.given[k]
        return (
            f"bf.{word}({self.names[k]!r}, {by!r})" if word == "becomes" else f"bf.{word}({self.names[k]!r}, by={by!r})"
        )

    def holds(
        self,
        facts: Sequence[Known],
        start: FloatArray,
        points: FloatArray,
        slack: float = 0.0,
        beside: Sequence[Rule] = (),
    ) -> BoolArray:
        """Which points respect it, `beside` others. `slack` is forgiven where a tolerance is documented.

        Whether a ball is robust is not told by the points alone: see `Bench.firm`.
        """
        place = [[fact.name for fact in facts].index(name) for name in self.names]
        if self.word == "at_most_changes":
            return np.asarray(changes(facts, beside, start, points) <= self.given[0])
        if self.word in TOGETHER:
            rows = np.array([[facts[j].code(v) for j, v in zip(place, row, strict=True)] for row in self.given])
            known = [~changed(row, points[:, place]).any(axis=1) for row in [start[place], *rows]]
            return np.asarray(np.any(known, axis=0))
        if self.word == "linear":
            return self._linear([facts[j] for j in place], start[place], points[:, place], slack)
        if self.word == "implies":
            events = [
                _happens(facts[j], given, start[j], points[:, j], slack)
                for j, given in zip(place, self.given, strict=True)
            ]
            cause, consequence = events
            if self.given[1][0] == "becomes":
                consequence = points[:, place[1]] == facts[place[1]].levels.index(self.given[1][1])
            return np.asarray(~cause | consequence)
        fine = np.ones(len(points), dtype=np.bool_)
        for j in place:
            fine &= self._single(facts[j], start[j], points[:, j], slack)
        return fine

    def _linear(self, facts: list[Known], start: FloatArray, x: FloatArray, slack: float) -> BoolArray:
        """Printed numbers decide, in fractions, where floats are too close to tell.

        With some `slack`, an equation may be missed by the rounding of one real number, and anything as far as the row
        itself misses it by the rounding of a computed total.
        """
        weights, sense, bound = self.given
        parts = np.array(weights) * np.column_stack([_numbers(fact, x[:, k]) for k, fact in enumerate(facts)])
        over, size = parts.sum(axis=1) - bound, abs(bound) + np.abs(parts).sum(axis=1)
        fine = {"<=": over < 0, ">=": over > 0, "==": over == 0}[sense]
        near = np.flatnonzero(np.abs(over) <= 1e-6 * size)
        own = self._missed(facts, start) if slack and len(near) else None
        single = any(fact.single for fact in facts)
        given = (
            own is not None
            and len(weights) + bool(bound) > 2
            and abs(own) <= (1e-6 if single else 1e-14) * size[near].max()
        )
        for i in near.tolist():
            miss = self._missed(facts, x[i])
            if miss is None:
                continue
            ends = sorted((own, Fraction(0))) if given and own is not None else [Fraction(0), Fraction(0)]
            fine[i] = (sense == "<=" or miss >= ends[0]) and (sense == ">=" or miss <= ends[1])
            if slack and sense == "==" and not fine[i]:
                fine[i] = any(
                    fact.real and _rounded(fact, _printed(fact, x[i, k]) - miss / Fraction(repr(weights[k]))) == x[i, k]
                    for k, fact in enumerate(facts)
                )
        return np.asarray(fine)

    def _missed(self, facts: list[Known], x: FloatArray) -> Fraction | None:
        """By how much the sum of printed numbers is above the bound; None if one is missing."""
        weights, _, bound = self.given
        if np.isnan(x).any():
            return None
        terms = [
            Fraction(repr(w)) * _printed(fact, one) for w, fact, one in zip(weights, facts, x.tolist(), strict=True)
        ]
        return sum(terms, -Fraction(repr(bound)))

    def _single(self, fact: Known, now: float, x: FloatArray, slack: float) -> BoolArray:
        same, gone = (x == now) | (np.isnan(x) & np.isnan(now)), np.isnan(x)
        if self.word == "fixed":
            return np.asarray(same)
        if self.word in ("only_up", "only_down"):
            return np.asarray(gone | np.isnan(now) | (x >= now if self.word == "only_up" else x <= now))
        if self.word == "between":
            return np.asarray(gone | ((x >= self.given[0]) & (x <= self.given[1])))
        if self.word == "within":
            room = self.given[0] * abs(now) * (1 + slack)
            return np.asarray(gone | np.isnan(now) | (np.abs(x - now) <= room))
        if self.word in ("step", "whole"):
            k = x / (self.given[0] if self.given else 1.0)
            return np.asarray(gone | same | (np.abs(k - np.round(k)) <= (10 * slack or 1e-9)))
        if self.word == "allowed":
            return np.asarray(gone | np.isin(x, [fact.levels.index(level) for level in self.given]))
        if self.word == "moves":
            if np.isnan(now) or fact.levels[int(now)] != self.given[0]:
                return np.asarray(gone | same | np.isnan(now))
            return np.asarray(gone | same | np.isin(x, [fact.levels.index(level) for level in self.given[1]]))
        return np.ones(len(x), dtype=np.bool_)


def changed(start: FloatArray, points: FloatArray) -> BoolArray:
    """Which columns differ."""
    return np.asarray(~((points == start) | (np.isnan(points) & np.isnan(start))))


def changes(facts: Sequence[Known], rules: Sequence[Rule], start: FloatArray, points: FloatArray) -> FloatArray:
    """How many columns differ. Those that belong together, directly or through others, are one."""
    groups = [{j} for j in range(len(facts))]
    names = [fact.name for fact in facts]
    for rule in rules:
        if rule.word in TOGETHER:
            its = {names.index(name) for name in rule.names}
            near = [group for group in groups if group & its]
            groups = [group for group in groups if not group & its] + [set().union(*near)]
    moved = changed(start, points)
    return np.asarray(sum(moved[:, sorted(group)].any(axis=1).astype(np.float64) for group in groups))


def _printed(fact: Known, x: float) -> Fraction:
    """The number that a code is printed as."""
    number = float(_numbers(fact, np.array([x]))[0])
    narrow = np.float32(number)
    return Fraction(str(narrow) if fact.single and float(narrow) == number else repr(number))


def _rounded(fact: Known, number: Fraction) -> float:
    return float(np.float32(float(number))) if fact.single else float(number)


def _numbers(fact: Known, x: FloatArray) -> FloatArray:
    return (
        x
        if not fact.levels
        else np.append([float(v) for v in fact.levels], np.nan)[np.nan_to_num(x, nan=-1).astype(int)]
    )


def _happens(fact: Known, event: tuple[str, Any], now: float, x: FloatArray, slack: float) -> BoolArray:
    word, by = event
    if word == "becomes":
        code = fact.levels.index(by)
        return np.asarray((x == code) & (now != code))
    gain = x - now if word == "rises" else now - x
    return np.asarray(gain >= by * (1 - (slack or 1e-12)) if by else gain > 0)


def admissible(
    rules: Sequence[Rule], facts: Sequence[Known], start: FloatArray, points: FloatArray, slack: float = 0.0
) -> BoolArray:
    """Which points keep every rule, the ranges and grids of the columns, and what is known."""
    fine = np.ones(len(points), dtype=np.bool_)
    free = {name for rule in rules if rule.word == "may_be_missing" for name in rule.names}
    for j, fact in enumerate(facts):
        fine &= in_domain(fact, start[j], points[:, j], fact.name in free)
        if fact.step:  # 6 * 0.1 is not 0.6, and yet means it: to become 0.6 is no change
            beside = np.abs(points[:, j] - start[j]) <= 4 * np.spacing(np.abs(start[j]))
            fine &= (points[:, j] == start[j]) | ~beside
    for rule in rules:
        fine &= rule.holds(facts, start, points, slack, rules)
    return fine


def in_domain(fact: Known, now: float, x: FloatArray, may_vanish: bool) -> BoolArray:
    """Which values of a column are possible at all."""
    same, gone = (x == now) | (np.isnan(x) & np.isnan(now)), np.isnan(x)
    if fact.levels:
        fine = x >= 0
    else:
        fine = (x >= np.fmin(fact.low, now)) & (x <= np.fmax(fact.high, now))
        if fact.step:
            fine &= np.abs(x / fact.step - np.round(x / fact.step)) <= 1e-6
    return np.asarray(same | np.where(gone, may_vanish, fine))


def beside_grid(fact: Known, now: float, x: FloatArray) -> BoolArray:
    """Which values only mean a point of their grid. They are let in, and nobody promises that none of them is cheaper."""
    if fact.levels or not fact.step:
        return np.zeros(x.shape, dtype=np.bool_)
    numbers = np.nan_to_num(x)
    points = grid_points(np.round(numbers / fact.step), fact.step, fact.single)
    return np.asarray((x != now) & ~np.isnan(x) & (numbers != points))


def random_rules(rng: Random, facts: Sequence[Known]) -> tuple[Rule, ...]:
    """None to three constraints that make sense for these columns."""
    made = [_random_rule(rng, facts) for _ in range(int(rng.choice([0, 1, 1, 2, 2, 3])))]
    return tuple(dict.fromkeys(rule for rule in made if rule))


def _random_rule(rng: Random, facts: Sequence[Known]) -> Rule | None:
    fact = facts[int(rng.integers(len(facts)))]
    choices = [Rule("fixed", (fact.name,)), Rule("at_most_changes", (), (int(rng.integers(1, 3)),))]
    if fact.ordered:
        choices += [Rule("only_up", (fact.name,)), Rule("only_down", (fact.name,))]
    if fact.gaps:
        choices.append(Rule("may_be_missing", (fact.name,)))
    if len(facts) > 1:
        choices.append(_together(rng, facts))
    several = _several(rng, facts)
    choices += several + several[:1]
    if fact.levels and fact.levels != (False, True):
        some = tuple(level for level in fact.levels if rng.random() < 0.6) or fact.levels[:1]
        choices += [Rule("allowed", (fact.name,), some), Rule("moves", (fact.name,), (fact.levels[0], some))]
    elif not fact.levels:
        choices += _on_number(rng, fact)
    return choices[int(rng.integers(len(choices)))]


def _together(rng: Random, facts: Sequence[Known]) -> Rule:
    """Two or three columns that belong together, with up to eight rows. They may follow from the first column."""
    some = [facts[int(j)] for j in rng.choice(len(facts), min(len(facts), int(rng.integers(2, 4))), replace=False)]
    codes = [rng.choice(fact.grid, int(rng.integers(1, 9))) for fact in some]
    rows = [tuple(fact.value(code) for fact, code in zip(some, row, strict=True)) for row in zip(*codes, strict=False)]
    names = tuple(fact.name for fact in some)
    if rng.random() < 0.5:
        return Rule("linked", names, tuple({row[0]: row for row in rows}.values()))
    return Rule("combinations", names, tuple(rows))


def _on_number(rng: Random, fact: Known) -> list[Rule]:
    known = fact.grid[~np.isnan(fact.grid)]
    low, high = sorted(float(v) for v in rng.choice(known, 2))
    if fact.real and rng.random() < 0.5:  # ends that no float32 holds
        low, high = float(np.round(low, 2)), float(np.round(high, 2))
        low, high = min(low, high), max(low, high)
    made = [Rule("between", (fact.name,), (low, high))]
    if abs(fact.high) < 1e3 and not fact.binary:
        made.append(Rule("within", (fact.name,), (float(rng.choice([0.1, 0.5, 1.0])),)))
        made.append(Rule("step", (fact.name,), (float(rng.choice([2.0, 3.0]) * (fact.step or 0.5)),)))
    return made


def _several(rng: Random, facts: Sequence[Known]) -> list[Rule]:
    numbers = [fact for fact in facts if not fact.levels]
    ordered = [fact for fact in facts if fact.ordered and not fact.real]
    made = []
    if numbers:
        weights = tuple(float(rng.choice([-2, -1, 1, 2, 0.5])) for _ in numbers)
        middle = sum(w * float(rng.choice(f.grid[~np.isnan(f.grid)])) for w, f in zip(weights, numbers, strict=True))
        sense = str(rng.choice(["<=", ">=", "<=", ">=", "=="]))
        made.append(Rule("linear", tuple(fact.name for fact in numbers), (weights, sense, float(middle))))
        if len(numbers) > 1 and rng.random() < 0.6:  # an order of two columns, or a difference that the grid has
            a, b = (numbers[int(k)] for k in rng.choice(len(numbers), 2, replace=False))
            apart = float(rng.choice(a.grid[~np.isnan(a.grid)])) - float(rng.choice(b.grid[~np.isnan(b.grid)]))
            bound = 0.0 if rng.random() < 0.5 else float(f"{apart:.12g}")
            made[-1] = Rule("linear", (a.name, b.name), ((1.0, -1.0), sense, bound))
    if len(ordered) > 1:
        a, b = (ordered[int(k)] for k in rng.choice(len(ordered), 2, replace=False))
        words = [str(word) for word in rng.choice(["rises", "falls"], 2)]
        made.append(Rule("implies", (a.name, b.name), ((words[0], 0.0), (words[1], 1.0))))
    return made
