"""Relations over trees are exact: judged by enumerating cells, with a linear program in fractions for each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.formulation.exact_program import Clash, Summand, SumRow, cheapest
from butfor.model.questions import cuts
from butfor.solvers.outcome import Status
from butfor.space.infer import infer
from tests.shorter import first

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
                    numbers[k] = Summand(low, high, start[name], 1 / Fraction(question.unit[name]))
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


@pytest.mark.parametrize("begin", first(1, range(0, 240, 20)))
def test_answers_are_those_of_enumeration_in_exact_arithmetic(begin: int) -> None:
    wrong, found = [], 0
    for seed in range(begin, begin + 20):
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
    assert found >= 7


def test_the_exact_program_agrees_with_highs() -> None:
    """Random small programs: both have a point or none, and it costs the same. Ends that clash do so by themselves."""
    rng, clashes = np.random.default_rng(0), 0
    for _ in range(150):
        numbers = {
            j: Summand(
                *map(Fraction, sorted(rng.integers(-5, 6, 2).tolist())), Fraction(int(rng.integers(-6, 7))), Fraction(1)
            )
            for j in range(int(rng.integers(1, 6)))
        }
        sums = []
        for _ in range(int(rng.integers(1, 4))):
            weights = {j: Fraction(int(rng.integers(-2, 3))) for j in numbers}
            end = Fraction(int(rng.integers(-8, 9)))
            sums.append(SumRow(weights, *[(None, end), (end, None), (end, end)][int(rng.integers(3))]))
        found = cheapest(numbers, sums)
        if isinstance(found, Clash):
            clashes += 1
            far = Fraction(10**6)
            loose = {
                j: Summand(
                    n.low if (j, -1) in found.ends else -far, n.high if (j, 1) in found.ends else far, n.wish, n.price
                )
                for j, n in numbers.items()
            }
            assert _by_highs(loose, sums) is None
            assert _by_highs(numbers, sums) is None
            continue
        cost = sum(abs(found[j] - n.wish) for j, n in numbers.items())
        assert float(cost) == pytest.approx(_by_highs(numbers, sums), abs=1e-9)
        assert all(n.low <= found[j] <= n.high for j, n in numbers.items())
    assert 20 < clashes < 130


def _by_highs(numbers: dict[int, Summand], sums: list[SumRow]) -> float | None:
    from scipy.optimize import linprog

    count, rows, ends = len(numbers), [], []
    for one in sums:
        row = [float(one.weights[j]) for j in numbers]
        if one.high is not None:
            rows.append(row + [0.0] * count)
            ends.append(float(one.high))
        if one.low is not None:
            rows.append([-w for w in row] + [0.0] * count)
            ends.append(-float(one.low))
    for j, number in numbers.items():
        for sign in (1.0, -1.0):
            row = [0.0] * 2 * count
            row[j], row[count + j] = sign, -1.0
            rows.append(row)
            ends.append(sign * float(number.wish))
    bounds = [(float(n.low), float(n.high)) for n in numbers.values()] + [(0, None)] * count
    found = linprog([0.0] * count + [float(n.price) for n in numbers.values()], A_ub=rows, b_ub=ends, bounds=bounds)
    return None if found.status == 2 else float(found.fun)


BELOW, ABOVE = float(np.nextafter(3.25, 0)), float(np.nextafter(3.25, 4))


@pytest.mark.parametrize(
    ("rule", "before", "after", "holds"),
    [
        (bf.linear({"a": 1, "b": 1, "c": -1}, "<=", 0), (1, 1, 0), (0.1, 0.2, 0.3), True),  # floats add up to more
        (bf.linear({"a": 1, "b": 1, "c": -1}, "==", 0), (1, 1, 0), (0.1, 0.2, 0.3), True),
        (bf.linear({"a": 1, "b": 1}, "<=", 0.3), (1, 1, 0), (0.1, 0.2, 0), True),
        (bf.linear({"a": 0.1, "b": 0.2}, "<=", 0.3), (9, 9, 0), (1, 1, 0), True),
        (bf.linear({"a": 0.1, "b": 0.2}, "<=", 0.3), (9, 9, 0), (1, float(np.nextafter(1, 2)), 0), False),
        (bf.linear({"a": 1 / 3, "b": -1}, "==", 0), (9, 9, 0), (3, 1, 0), True),
        (bf.linear({"a": 1, "b": -1}, "<=", 0), (9, 9, 0), (3.25, 3.25, 0), True),
        (bf.linear({"a": 1, "b": -1}, "<=", 0), (9, 0, 0), (3.25, BELOW, 0), False),
        (bf.linear({"a": 1, "b": -1}, "==", 0), (9, 0, 0), (3.25, ABOVE, 0), False),
        (bf.linear({"a": 1, "b": -1}, "<=", 0), (ABOVE, 3.25, 0), (ABOVE, 3.25, 0), False),  # nothing is computed here
        (bf.linear({"a": 1, "b": -1}, "<=", 0), (9, 0, 0), (1e-35, 0, 0), False),
        (bf.linear({"a": 1, "b": 1, "c": -1}, "<=", 0), (9, 0, 0), (1e-20, 5, 5), False),
        (bf.linear({"a": 1, "b": -1}, "<=", 0), (9, 0, 0), (1e9 + 2e-7, 1e9, 0), False),
        (bf.linear({"a": 1, "b": 1, "c": -1}, "<=", 0), (0.1, 0.7, 0.1 + 0.7), (0.1, 0.7, 0.1 + 0.7), True),  # its own total
        (bf.linear({"a": 1, "b": 1, "c": -1}, "<=", 0), (5, 5, 1), (0.1, 0.7, 0.1 + 0.7), False),
        (bf.linear({"a": 1, "b": 1, "c": -1}, "==", 0), (5, 5, 1), (1 / 7, 2 / 7, 1 / 7 + 2 / 7), True),  # as near as floats are
        (bf.linear({"a": 1, "b": 1}, "<=", 1), (0, 0, 0), (np.nan, 0, 0), False),
        (bf.implies(bf.rises("a"), bf.rises("b", by=0.2)), (0, 0.1, 0), (1, 0.3, 0), True),  # 0.3 - 0.1 is less in floats
        (bf.implies(bf.rises("a"), bf.rises("b", by=0.25)), (0, 3.0, 0), (1, BELOW, 0), False),
        (bf.implies(bf.rises("a", by=0.25), bf.rises("b", by=1)), (3.0, 0, 0), (BELOW, 0, 0), True),
    ],
)  # fmt: skip
def test_printed_numbers_decide(rule, before, after, holds) -> None:
    data = pd.DataFrame({name: [0.125, 10.5] for name in NAMES})
    space = infer(data, {name: bf.Continuous() for name in NAMES})
    given = np.array([before], dtype=float), np.array([after], dtype=float)
    assert rule.holds_between(space, *given).tolist() == [holds]


def test_float32_columns_are_read_as_they_are_printed() -> None:
    data = pd.DataFrame({"a": np.float32([0.125, 10.5]), "b": [0.125, 10.5]})
    space = infer(data, {name: bf.Continuous() for name in "ab"})
    tenth = np.array([[float(np.float32(0.1)), 0.1]])
    assert bf.linear({"a": 1, "b": -1}, "==", 0).holds_between(space, tenth, tenth)[0]


def test_a_cell_that_only_a_tolerance_reaches_is_no_answer() -> None:
    """The model wants less income than 3.25, and the rent is 3.25. Where spending less is another way, that is the answer."""
    from xgboost import XGBClassifier

    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.integers(0, 120, 500) / 4 for name in ("income", "rent", "other")})
    row = pd.DataFrame({"income": [10.0], "rent": [3.25], "other": [20.0]})
    rules = [bf.fixed("rent"), "rent <= income"]
    label = (table["income"] < 3.25).astype(int)
    model = XGBClassifier(n_estimators=1, max_depth=1, n_jobs=1).fit(table, label)
    found = bf.Explainer(model, data=table).explain(row, target=1, constraints=rules).only
    assert found.certificate.status is Status.PROVEN_INFEASIBLE
    label = ((table["income"] < 3.25) | (table["other"] < 1.25)).astype(int)
    model = XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1).fit(table, label)
    cost = bf.L1(scale={"income": 1.0, "other": 1.0, "rent": 1.0})
    found = bf.Explainer(model, data=table).explain(row, target=1, constraints=rules, cost=cost).only
    assert found.certificate.status is Status.PROVEN_OPTIMAL
    assert [change.name for change in found.changes] == ["other"]


def test_money_is_split_and_nothing_else_changes() -> None:
    """A total that was computed in floats: no answer pays for its rounding."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.uniform(1, 90, (300, 3)), columns=["rent", "food", "fun"])
    data["total"] = data["rent"] + data["food"] + data["fun"]
    data["age"] = rng.uniform(18, 80, 300)
    label = ((data["food"] > 50) ^ (data["age"] > 60)).astype(int)
    model = HistGradientBoostingClassifier(max_iter=5, max_depth=3).fit(data, label)
    rows = data[model.predict(data) == 0].iloc[:12]
    split = "rent + food + fun == total"
    found = bf.Explainer(model, data=data).explain(rows, target=1, constraints=[split, bf.fixed("total")], cost=bf.L0())
    for answer in found:
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        names = {change.name for change in answer.changes}
        assert names == {"age"} or len(names & {"rent", "food", "fun"}) == 2
        point = answer.point.iloc[0]
        assert abs(point["rent"] + point["food"] + point["fun"] - point["total"]) <= 2 * np.spacing(point["total"])


def test_the_threshold_of_lightgbm_at_zero() -> None:
    """A fee is paid for a change from 0 to just above 1e-35 only where the model asks for it, and then it is proven."""
    import lightgbm

    tiny = 0
    for seed in (3, 4):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"a": rng.normal(0.01, 0.01, 600)})
        X["b"] = np.floor(rng.exponential(3, 600) * rng.integers(0, 2, 600))
        X["c"] = rng.normal(1, 1, 600)
        y = (X["a"] * 60 - X["b"] / 2 + X["c"] + rng.normal(0, 0.5, 600) > 0.8).astype(int)
        model = lightgbm.LGBMClassifier(n_estimators=10, max_depth=3, verbose=-1, n_jobs=1).fit(X, y)
        explainer = bf.Explainer(model, data=X, space={name: bf.Continuous() for name in X})
        rows = X[(model.predict(X) == 0) & (X["b"] == 0)].iloc[:4]
        unit = {name: float(X[name].std(ddof=0)) for name in X}
        cost = bf.L1(scale=unit) + 0.1 * bf.L0()
        found = explainer.explain(rows, target=1, cost=cost, constraints=["b <= a"])
        for answer in found:
            row = rows.iloc[[int(answer.row)]].reset_index(drop=True)
            question = Question(model, X, row, 1, {"b": "1", "a": "-1"}, "<=", "0", None, unit, 0.1, ())
            assert answer.certificate.status is Status.PROVEN_OPTIMAL
            assert answer.cost == pytest.approx(truth(question, explainer), rel=2e-6)
            assert question.keeps(printed(row), printed(answer.point))
            for change in answer.changes:
                if abs(change.change) < 1e-30:
                    tiny += 1
                    back = answer.point.assign(**{change.name: change.before})
                    assert model.predict(back)[0] == 0
    assert tiny


@pytest.mark.parametrize("high", [1e6, 1e9])
def test_a_sentinel_in_the_data_changes_no_answer(high: float) -> None:
    from xgboost import XGBRegressor

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"ratio": rng.normal(0.01, 0.005, 600), "debt": rng.normal(50, 40, 600)})
    for name in ("owner", "insured"):
        table[name] = rng.integers(0, 2, 600).astype(float)
    label = table["debt"] / 40 + 100 * table["ratio"] + table["owner"] + table["insured"] + rng.normal(0, 0.5, 600)
    model = XGBRegressor(n_estimators=10, max_depth=3, n_jobs=1).fit(table, label)
    goal = float(np.quantile(model.predict(table), 0.7))
    rows = table[(model.predict(table) < goal) & (table["owner"] == 1)].iloc[:5]
    asked = {
        "target": bf.value(at_least=goal),
        "constraints": ["owner <= insured", "ratio <= debt"],
        "cost": bf.L1(scale={"ratio": 0.005, "debt": 40}),
    }
    usual = bf.Explainer(model, data=table).explain(rows, **asked)
    wide = table.copy()
    wide.loc[600] = [high, high, 1.0, 1.0]
    found = bf.Explainer(model, data=wide).explain(rows, **asked)
    assert {answer.certificate.status for answer in found} == {Status.PROVEN_OPTIMAL}
    assert [answer.cost for answer in found] == pytest.approx([answer.cost for answer in usual], rel=2e-6)


@pytest.mark.long
def test_robust_answers_keep_an_equation() -> None:
    from sklearn.ensemble import GradientBoostingClassifier

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 10, (300, 3)).round(2), columns=list(NAMES))
    model = GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0)
    model.fit(X, ((X["a"] + X["b"] > 10) ^ (X["c"] > 8)).astype(int))
    rows = X[model.predict(X) == 0].iloc[:2]
    asked = ["a + b + c == 15", bf.robust({"a": 0.1, "b": 0.1})]
    for answer in bf.Explainer(model, data=X).explain(rows, target=1, constraints=asked):
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        assert abs(sum(printed(answer.point).values()) - 15) <= Fraction(1, 10**14)
