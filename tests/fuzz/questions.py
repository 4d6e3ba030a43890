"""Targets and costs, as source text and as plain rules of the fuzzer's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from tests.fuzz.columns import Known, Random


@dataclass(frozen=True, eq=False)
class Said:
    """What the estimator says about some rows: classes and probabilities, or values."""

    classes: list[Any]
    values: Any
    chances: FloatArray | None = None

    def take(self, at: Any) -> Said:
        """Some of the rows."""
        return Said(self.classes, self.values[at], None if self.chances is None else self.chances[at])


def say(model: Any, table: Any, chances: bool = True) -> Said:
    """Ask the estimator."""
    classes = list(getattr(model, "classes_", []))
    if not classes:
        return Said([], np.asarray(model.predict(table), dtype=np.float64).ravel())
    plain = [label.item() if isinstance(label, np.generic) else label for label in classes]
    found = None
    if chances and hasattr(model, "predict_proba"):
        found = np.asarray(model.predict_proba(table), dtype=np.float64)
    return Said(plain, np.asarray(model.predict(table)).ravel(), found)


@dataclass(frozen=True)
class Aim:
    """A target.

    - `word`: other, class, classes, costs, probability, unlikely, between, least, most, range or relative;
    - `labels`: the classes in it, and `costs` what each costs;
    - `share`: for a threshold that is attained, the share of points below it; it is settled into `ends`.
    """

    word: str
    labels: tuple[Any, ...] = ()
    costs: tuple[float, ...] = ()
    share: tuple[float, ...] = ()
    ends: tuple[float, ...] = ()

    @property
    def of_chances(self) -> bool:
        """Whether it is about a probability."""
        return self.word in ("probability", "unlikely", "between")

    def settled(self, said: Said) -> Aim:
        """The target with its thresholds set to values that the estimator attains; the shares are kept."""
        if not self.share:
            return self
        pool = said.values
        if self.of_chances:
            assert said.chances is not None
            pool = said.chances[:, said.classes.index(self.labels[0])]
        ends = tuple(sorted(float(np.quantile(pool, share, method="nearest")) for share in self.share))
        return replace(self, ends=ends)

    def text(self) -> str:
        """The target as source text."""
        labels, ends = self.labels, self.ends
        if self.word == "costs":
            return repr(dict(zip(labels, self.costs, strict=True)))
        texts: dict[str, Callable[[], str]] = {
            "other": lambda: "'other'",
            "class": lambda: repr(labels[0]),
            "classes": lambda: f"bf.classes({', '.join(map(repr, labels))})",
            "probability": lambda: f"bf.probability({labels[0]!r}, at_least={ends[0]!r})",
            "unlikely": lambda: f"bf.probability({labels[0]!r}, at_most={ends[0]!r})",
            "between": lambda: f"bf.probability({labels[0]!r}, between=({ends[0]!r}, {ends[1]!r}))",
            "least": lambda: f"bf.value(at_least={ends[0]!r})",
            "most": lambda: f"bf.value(at_most={ends[0]!r})",
            "range": lambda: f"bf.value(at_least={ends[0]!r}, at_most={ends[1]!r})",
            "relative": lambda: f"bf.relative_change({ends[0]!r})",
        }
        return texts[self.word]()

    def met(self, before: Said, after: Said) -> BoolArray:
        """Which rows meet it. `before` is one row."""
        y = after.values
        if self.word == "other":
            return np.asarray(y != before.values[0])
        if self.of_chances:
            assert after.chances is not None
            found = after.chances[:, after.classes.index(self.labels[0])]
            above, below = self.ends[0], self.ends[-1]
            if self.word == "between":
                return np.asarray((found >= above) & (found <= below))
            return np.asarray(found >= above if self.word == "probability" else found <= below)
        if self.word == "relative":
            wanted = before.values[0] + self.ends[0] * abs(before.values[0])
            return np.asarray(y >= wanted if self.ends[0] > 0 else y <= wanted)
        if self.word in ("least", "range"):
            return np.asarray((y >= self.ends[0]) & (y <= (self.ends[1] if len(self.ends) > 1 else np.inf)))
        if self.word == "most":
            return np.asarray(y <= self.ends[0])
        return np.array([label in self.labels for label in y.tolist()], dtype=np.bool_)

    def surcharge(self, after: Said) -> FloatArray:
        """What the class itself costs."""
        if self.word != "costs":
            return np.zeros(len(after.values))
        price = dict(zip(self.labels, self.costs, strict=True))
        return np.array([price.get(label, np.inf) for label in after.values.tolist()])


def random_aim(rng: Random, said: Said) -> Aim:
    """A target that makes sense for this estimator."""
    if not said.classes:
        share = float(np.round(rng.random(), 3))
        word = str(rng.choice(["least", "most", "range", "relative"]))
        if word == "relative":
            return Aim(word, ends=(float(rng.choice([0.1, 0.3, -0.1, -0.3])),))
        if word == "range":
            return Aim(word, share=(share, float(np.round(rng.random(), 3))))
        if rng.random() < 0.25:
            spread = float(np.ptp(said.values)) or 1.0
            return Aim(word, ends=(float(said.values.min() + rng.random() * spread),))
        return Aim(word, share=(share,))
    words = ["other", "class", "class", "classes", "costs"] + ["probability"] * 4 * (said.chances is not None)
    word = str(rng.choice(words))
    order = [said.classes[k] for k in rng.permutation(len(said.classes))]
    if word == "probability":
        word = str(rng.choice(["probability", "probability", "unlikely", "between"]))
        if word == "between":
            return _between(rng, said, order[0])
        if rng.random() < 0.6:
            aim = Aim(word, (order[0],), share=(float(np.round(0.3 + 0.7 * rng.random(), 3)),))
            (end,) = aim.settled(said).ends
            return aim if end > 0 and (end < 1 or word == "probability") else Aim("class", (order[0],))
        return Aim(word, (order[0],), ends=(float(np.round(rng.uniform(0.2, 0.9), 2)),))
    some = tuple(order[: max(1, int(rng.integers(1, len(order) + 1)))])
    if word == "costs":
        return Aim(word, some, tuple(float(c) for c in rng.choice([0.0, 0.2, 0.5, 1.0], len(some))))
    return Aim(word, () if word == "other" else some if word == "classes" else some[:1])


def _between(rng: Random, said: Said, label: Any) -> Aim:
    """A probability between two that are attained, or between two round numbers."""
    if rng.random() < 0.6:
        share = tuple(float(np.round(each, 3)) for each in np.sort(rng.random(2)))
        aim = Aim("between", (label,), share=share)
        low, high = aim.settled(said).ends
        return aim if 0 < low < high < 1 else Aim("class", (label,))
    low, high = np.round(np.sort(rng.uniform(0.1, 0.9, 2)), 2)
    return Aim("between", (label,), ends=(float(low), float(high))) if low < high else Aim("class", (label,))


@dataclass(frozen=True)
class Price:
    """One term of a cost: its weight, its name, its weights, its scale, or a table of prices."""

    word: str
    weight: float = 1.0
    weights: tuple[tuple[str, float], ...] = ()
    scale: str = "range"
    table: tuple[tuple[Any, Any, float], ...] = ()

    def text(self) -> str:
        """The term as source text."""
        if self.word == "Table":
            name = self.weights[0][0]
            if not self.table:
                inner = f"lambda before, after: {self.weights[0][1]!r} * np.maximum(after - before, 0)"
            else:
                inner = repr({(a, b): price for a, b, price in self.table})
            made = f"bf.Table({{{name!r}: {inner}}})"
        else:
            given = [f"weights={dict(self.weights)!r}"] * bool(self.weights)
            given += [f"scale={self.scale!r}"] * (self.scale != "range")
            made = f"bf.{self.word}({', '.join(given)})"
        return made if self.weight == 1 else f"{self.weight!r} * {made}"

    def of(self, facts: Sequence[Known], start: FloatArray, points: FloatArray) -> FloatArray:
        """The price of each point."""
        if self.word == "Table":
            return self.weight * self._table(facts, start, points)
        weights, d = dict(self.weights), np.empty(points.shape)
        for j, fact in enumerate(facts):
            scale = "mad" if self.word == "MAD" else self.scale
            d[:, j] = shares(fact, scale, start[j], points[:, j])
        w = np.array([weights.get(fact.name, 1.0) for fact in facts])
        if self.word == "L2":
            return np.asarray(self.weight * (w * d**2).sum(axis=1))
        if self.word == "L0":
            return np.asarray(self.weight * (w * (d > 0)).sum(axis=1))
        if self.word == "LInf":
            return np.asarray(self.weight * (w * d).max(axis=1))
        return np.asarray(self.weight * (w * d).sum(axis=1) / (len(facts) if self.word == "Gower" else 1))

    def _table(self, facts: Sequence[Known], start: FloatArray, points: FloatArray) -> FloatArray:
        j = [fact.name for fact in facts].index(self.weights[0][0])
        x, now = points[:, j], start[j]
        if not self.table:
            return np.asarray(self.weights[0][1] * np.maximum(x - now, 0))
        price = {(a, b): amount for a, b, amount in self.table}
        before = facts[j].value(now)
        listed = [0.0 if c == now else price.get((before, facts[j].value(c)), np.inf) for c in x.tolist()]
        return np.array(listed)


def shares(fact: Known, scale: str, now: float, x: FloatArray) -> FloatArray:
    """The change of one column in units of its range (or another scale). What becomes known or missing counts 1."""
    if fact.levels:
        apart = np.abs(x - now) / max(len(fact.levels) - 1, 1) if fact.ordered else (x != now).astype(np.float64)
    else:
        scale = "range" if fact.binary else scale
        width = {"range": fact.high - fact.low, "none": 1.0, "mad": fact.mad, "std": fact.std}[scale]
        apart = np.abs(x - now) / (width or (fact.high - fact.low) or 1.0)
    gone = np.isnan(x)
    return np.where(gone & np.isnan(now), 0.0, np.where(gone | np.isnan(now), 1.0, apart))


def price_of(terms: Sequence[Price], facts: Sequence[Known], start: FloatArray, points: FloatArray) -> FloatArray:
    """The cost of each point."""
    return np.asarray(sum((term.of(facts, start, points) for term in terms), np.zeros(len(points))))


def random_prices(rng: Random, facts: Sequence[Known]) -> tuple[Price, ...]:
    """A cost. Some are in another currency, in which everything is tiny or huge."""
    terms = _random_terms(rng, facts)
    factor = 10.0 ** int(rng.integers(-12, 13)) if rng.random() < 0.25 else 1.0
    return tuple(replace(term, weight=factor * term.weight) for term in terms)


def _random_terms(rng: Random, facts: Sequence[Known]) -> tuple[Price, ...]:
    """The terms of a cost: mostly one, sometimes a mixture."""
    names = [fact.name for fact in facts]
    some = tuple((n, float(rng.choice([0.5, 2.0, 5.0]))) for n in names if rng.random() < 0.5)
    weights = some if rng.random() < 0.35 else ()
    word = str(rng.choice(["L1", "L1", "L1", "L2", "L0", "LInf", "Gower", "MAD", "mix", "mix", "table"]))
    if word == "mix":
        first = Price(str(rng.choice(["L1", "L2", "LInf"])), 1.0, weights)
        return first, Price(str(rng.choice(["L0", "L0", "L1"])), float(rng.choice([0.05, 0.25])))
    if word == "table":
        found = _random_table(rng, facts)
        return (found, Price("L1")) if found else (Price("L1"),)
    if word in ("L1", "L2", "LInf"):
        scale = str(rng.choice(["range", "range", "range", "mad", "std", "none"]))
        return (Price(word, 1.0, weights, scale),)
    return (Price(word, weights=weights if word == "L0" else ()),)


def _random_table(rng: Random, facts: Sequence[Known]) -> Price | None:
    fact = facts[int(rng.integers(len(facts)))]
    if fact.gaps:
        return None
    if not fact.levels:
        if not fact.step or fact.binary or rng.random() < 0.7:  # with relations these are searched: slow
            return None
        return Price("Table", weights=((fact.name, 0.5 / ((fact.high - fact.low) or 1.0)),))
    pairs = [(a, b) for a in fact.levels for b in fact.levels if a != b and rng.random() < 0.7]
    table = tuple((a, b, float(rng.integers(0, 4)) / 2) for a, b in pairs)
    return Price("Table", weights=((fact.name, 1.0),), table=table) if table else None
