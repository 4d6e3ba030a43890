"""Relations over trees are exact: judged by enumerating cells, with a linear program in fractions for each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.formulation.exact_program import Clash, Number, SumRow, cheapest
from butfor.model.questions import cuts
from butfor.solvers.outcome import Status

NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Question:
    """A model of trees, a row, and a relation. `whole`: columns of whole numbers; `unit`: what each column is counted in."""

    model: object
    data: pd.DataFrame
    row: pd.DataFrame
    goal: float
    weights: dict[str, str]
    sense: str
    bound: str
    implied: tuple[str, str, float] | None
    unit: dict[str, float]
    fee: float
    whole: tuple[str, ...]

    def relations(self) -> list[object]:
        """What butfor is asked to keep."""
        made: list[object] = [
            bf.linear({n: float(Fraction(w)) for n, w in self.weights.items()}, self.sense, float(self.bound))
        ]
        if self.implied is not None:
            cause, consequence, by = self.implied
            made.append(bf.implies(bf.rises(cause), bf.falls(consequence, by=by)))
        return made

    def keeps(self, start: dict[str, Fraction], point: dict[str, Fraction]) -> bool:
        """Whether printed numbers keep the relation. An equation may hold for floats only as nearly as one of them can."""
        total = sum((Fraction(w) * point[n] for n, w in self.weights.items()), -Fraction(self.bound))
        held = total <= 0 if self.sense == "<=" else total >= 0 if self.sense == ">=" else not total
        if self.sense == "==" and not held:
            kind = {n: self.data[n].dtype.type for n in self.weights}
            held = any(
                kind[n](float(point[n] - total / Fraction(w))) == kind[n](float(point[n]))
                for n, w in self.weights.items()
            )
        if self.implied is not None:
            cause, consequence, by = self.implied
            held &= point[cause] <= start[cause] or start[consequence] - point[consequence] >= Fraction(repr(by))
        return held


def printed(row: pd.DataFrame) -> dict[str, Fraction]:
    """The numbers of a row as they are printed."""
    return {name: Fraction(str(row[name].iloc[0])) for name in NAMES}


def truth(question: Question, explainer: bf.Explainer) -> float:
    """What the cheapest answer costs, by enumeration: of cells, of what stays, of what an implication does."""
    start, space = printed(question.row), explainer.space
    cells = [_cells(question, explainer, name, start[name]) for name in NAMES]
    boxes = list(product(*cells))
    tops = pd.DataFrame([[float(box[k][1]) for k in range(3)] for box in boxes], columns=NAMES)
    tops = tops.astype(question.data.dtypes.to_dict())
    met = np.asarray(question.model.predict(tops)) >= question.goal  # type: ignore[attr-defined]
    least = np.array([sum(_least(question, start, name, box[k]) for k, name in enumerate(NAMES)) for box in boxes])
    best, fee = np.inf, Fraction(question.fee)
    for at in np.argsort(least, kind="stable"):
        if least[at] >= best:
            break
        for stays in product((True, False), repeat=3) if met[at] else ():
            for bounds in _with_implication(question, start, dict(zip(NAMES, boxes[at], strict=True))):
                numbers = {}
                for k, (name, still) in enumerate(zip(NAMES, stays, strict=True)):
                    low, high = bounds[name]
                    low, high = (max(low, start[name]), min(high, start[name])) if still else (low, high)
                    numbers[k] = Number(low, high, start[name], 1 / Fraction(question.unit[name]))
                end = Fraction(question.bound)
                ends = None if question.sense == "<=" else end, None if question.sense == ">=" else end
                weights = {NAMES.index(n): Fraction(w) for n, w in question.weights.items()}
                found = cheapest(numbers, [SumRow(weights, *ends)])
                if not isinstance(found, Clash):
                    cost = sum((n.price * abs(found[k] - n.wish) for k, n in numbers.items()), fee * stays.count(False))
                    best = min(best, float(cost))
    assert space.names == NAMES
    return best


def _cells(question: Question, explainer: bf.Explainer, name: str, now: Fraction) -> list[tuple[Fraction, Fraction]]:
    """The ends of each cell that a column may be in, as printed floats. Whole numbers have a cell each."""
    feature = explainer.space[name]
    low, high = min(feature.low, float(now)), max(feature.high, float(now))
    if name in question.whole:
        return [(Fraction(k), Fraction(k)) for k in range(int(low), int(high) + 1)]
    kind = question.data[name].dtype.type
    edges = [edge for edge in cuts(explainer.reading.model, explainer.space.index(name)).tolist() if low <= edge < high]
    tops = [_rounded(kind(edge), edge, -1) for edge in edges] + [kind(high)]
    bottoms = [kind(low)] + [np.nextafter(top, kind(np.inf)) for top in tops[:-1]]
    return [(Fraction(str(b)), Fraction(str(t))) for b, t in zip(bottoms, tops, strict=True) if b <= t]


def _rounded(value: np.floating, edge: float, side: int) -> np.floating:
    """The nearest float of a column's type that is not beyond an edge."""
    return value if side * (float(value) - edge) >= 0 else np.nextafter(value, type(value)(side * np.inf))


def _least(question: Question, start: dict[str, Fraction], name: str, cell: tuple[Fraction, Fraction]) -> float:
    away = max(cell[0] - start[name], start[name] - cell[1], Fraction(0))
    return float(away) / question.unit[name] + question.fee * bool(away)


def _with_implication(
    question: Question, start: dict[str, Fraction], box: dict[str, tuple[Fraction, Fraction]]
) -> list:
    """The box in which the cause does not happen, and the one in which the consequence follows."""
    if question.implied is None:
        return [box]
    cause, consequence, by = question.implied
    calm, after = dict(box), dict(box)
    calm[cause] = (box[cause][0], min(box[cause][1], start[cause]))
    after[consequence] = (box[consequence][0], min(box[consequence][1], start[consequence] - Fraction(repr(by))))
    return [calm, after]


def random_question(seed: int) -> tuple[Question, bf.Explainer]:
    """A question whose relation touches thresholds: everything lies on the same grid."""
    from lightgbm import LGBMRegressor
    from sklearn.tree import DecisionTreeRegressor
    from xgboost import XGBRegressor

    rng = np.random.default_rng(seed)
    step = str(rng.choice(["1/4", "1/10", "1/8"]))
    grid = np.array([float(k * Fraction(step)) for k in range(41)])
    unit = dict.fromkeys(NAMES, 1.0)
    data = pd.DataFrame({name: rng.choice(grid, 150) for name in NAMES})
    kind = str(rng.choice(["plain", "plain", "single", "whole", "units", "sentinel"]))
    scale = {"a": "1", "b": "1", "c": "1"}
    whole: tuple[str, ...] = ()
    if kind == "single":
        data = data.astype(np.float32)
    if kind == "whole":
        data["a"], data["b"], whole = rng.integers(0, 8, 150), rng.integers(0, 8, 150), ("a", "b")
    if kind == "units":
        scale = {"a": str(rng.choice(["1e-6", "1e9"])), "b": "1", "c": "1"}
        data["a"] = [float(Fraction(repr(x)) * Fraction(scale["a"])) for x in data["a"]]
        unit["a"] = float(scale["a"])
    label = sum(float(rng.normal()) * data[n].astype(float) / unit[n] for n in NAMES)
    label += rng.normal(0, 0.2, 150)
    if kind == "sentinel":
        data.loc[0, "c"] = 999999999.0
    model = [
        XGBRegressor(n_estimators=2, max_depth=2, n_jobs=1, tree_method="hist"),
        DecisionTreeRegressor(max_depth=3, random_state=0),
        LGBMRegressor(n_estimators=2, max_depth=2, min_child_samples=5, verbose=-1, n_jobs=1),
    ][int(rng.integers(3))].fit(data, label)
    said = np.asarray(model.predict(data))
    at = int(rng.choice(np.flatnonzero(said < said.max())))
    goal = float(rng.choice(said[said > said[at]]))
    weights = {n: str(Fraction(int(rng.choice([-2, -1, -1, 1, 1, 2]))) / Fraction(scale[n])) for n in NAMES}
    for name in rng.permutation(NAMES)[: int(rng.choice([0, 1, 1]))].tolist():
        del weights[name]
    sense = str(rng.choice(["<=", ">=", "<=", ">=", "=="]))
    row = data.iloc[[at]].reset_index(drop=True)
    near = printed(row if rng.random() < 0.5 else data.iloc[[int(rng.integers(150))]])
    bound = sum((Fraction(w) * near[n] for n, w in weights.items()), Fraction(0)) if rng.random() < 0.6 else Fraction(0)
    implied = ("a", "c", float(Fraction(step))) if rng.random() < 0.3 and kind != "units" else None
    question = Question(
        model, data, row, goal, weights, sense, repr(float(bound)), implied, unit,
        float(rng.choice([0.0, 0.125])), whole,
    )  # fmt: skip
    space = {n: bf.Integer() if n in whole else bf.Continuous() for n in NAMES}
    return question, bf.Explainer(model, data, space=space)


@pytest.mark.parametrize("begin", range(0, 240, 40))
def test_answers_are_those_of_enumeration_in_exact_arithmetic(begin: int) -> None:
    wrong, found = [], 0
    for seed in range(begin, begin + 40):
        question, explainer = random_question(seed)
        cost = bf.L1(scale=question.unit) + question.fee * bf.L0() if question.fee else bf.L1(scale=question.unit)
        answer = explainer.explain(
            question.row, target=bf.value(at_least=question.goal), constraints=question.relations(), cost=cost
        ).only
        best, claimed = truth(question, explainer), answer.cost if answer.found else np.inf
        proven = Status.PROVEN_OPTIMAL if np.isfinite(best) else Status.PROVEN_INFEASIBLE
        same = claimed == best or abs(claimed - best) <= 2e-6 * (1 + abs(best))
        kept = not answer.found or question.keeps(printed(question.row), printed(answer.point))
        if not (same and kept and answer.certificate.status is proven):
            wrong.append((seed, claimed, best, kept, answer.certificate.status.name))
        found += answer.found
    assert not wrong
    assert found >= 15
