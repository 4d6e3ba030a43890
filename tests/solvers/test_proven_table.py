"""For which model, target, cost and constraint an answer is proven: the tables of docs/limits.md, cell by cell."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from tests.shorter import diagonal, first

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
RNG = np.random.default_rng(0)
WHOLE = pd.DataFrame(RNG.integers(0, 6, (120, 3)), columns=list("abc"))
MIXED = WHOLE.assign(a=RNG.normal(size=120))
"""A real and two whole numbers."""


def wanted(X: pd.DataFrame) -> pd.Series[float]:
    return X.a + X.b * X.c / 3


def two(X: pd.DataFrame) -> np.ndarray:
    return (wanted(X) > wanted(X).median()).astype(int).to_numpy()


def three(X: pd.DataFrame) -> np.ndarray:
    return np.digitize(wanted(X), wanted(X).quantile([0.4, 0.7]))


class Kind(NamedTuple):
    """A row of the tables: how to make a classifier and a regressor (None: there is none), and for which data."""

    classifier: Callable[[], Any]
    regressor: Callable[[], Any] | None
    data: pd.DataFrame = MIXED
    black_box: bool = False
    classes: int = 3


SMALL: dict[str, Any] = {"max_depth": 2, "random_state": 0}
NET: dict[str, Any] = {"hidden_layer_sizes": (3,), "solver": "lbfgs", "max_iter": 5000, "alpha": 0.1, "random_state": 0}

LINES: dict[str, Any] = {
    "n_estimators": 3,
    "num_leaves": 3,
    "min_child_samples": 5,
    "linear_tree": True,
    "verbose": -1,
    "n_jobs": 1,
}
OBLIQUE: dict[str, Any] = {**SMALL, "init": "random", "alpha": 0.3}

KINDS = {
    "a linear model": Kind(LogisticRegression, Ridge),
    "one tree": Kind(lambda: DecisionTreeClassifier(**SMALL), lambda: DecisionTreeRegressor(**SMALL)),
    "a forest": Kind(lambda: RandomForestClassifier(5, **SMALL), lambda: RandomForestRegressor(5, **SMALL)),
    "boosting": Kind(
        lambda: GradientBoostingClassifier(n_estimators=5, **SMALL),
        lambda: GradientBoostingRegressor(n_estimators=5, **SMALL),
    ),
    "an oblique tree": Kind(lambda: bf.trees.TAOClassifier(**SMALL), lambda: bf.trees.TAORegressor(**SMALL)),
    "bagged oblique trees": Kind(
        lambda: BaggingClassifier(bf.trees.TAOClassifier(**OBLIQUE), 3, random_state=0),
        lambda: BaggingRegressor(bf.trees.TAORegressor(**OBLIQUE), 3, random_state=0),
    ),
    "a network": Kind(lambda: MLPClassifier(**NET), lambda: MLPRegressor(**NET)),
    "boosting with linear leaves": Kind(
        lambda: pytest.importorskip("lightgbm").LGBMClassifier(**LINES),
        lambda: pytest.importorskip("lightgbm").LGBMRegressor(**LINES),
    ),
    "a calibrated forest": Kind(
        lambda: CalibratedClassifierCV(RandomForestClassifier(4, **SMALL), cv=2), None, classes=2
    ),
    "a vote of trees and linear models": Kind(
        lambda: VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(**SMALL))], voting="soft"),
        lambda: VotingRegressor([("a", Ridge()), ("b", DecisionTreeRegressor(**SMALL))]),
        classes=2,
    ),
    "a vote of oblique trees and linear models": Kind(
        lambda: VotingClassifier(
            [("a", LogisticRegression()), ("b", bf.trees.TAOClassifier(**OBLIQUE))], voting="soft"
        ),
        lambda: VotingRegressor([("a", Ridge()), ("b", bf.trees.TAORegressor(**OBLIQUE))]),
        classes=2,
    ),
    "a black box with few combinations": Kind(
        lambda: RandomForestClassifier(3, **SMALL), lambda: RandomForestRegressor(3, **SMALL), WHOLE, black_box=True
    ),
    "any other black box": Kind(
        lambda: RandomForestClassifier(3, **SMALL), lambda: RandomForestRegressor(3, **SMALL), black_box=True
    ),
}

TARGETS = {
    "class": (two, 1),
    "probability": (two, bf.probability(1, at_least=0.6)),
    "a probability at most": (two, bf.probability(1, at_most=0.4)),
    "a probability between": (two, bf.probability(1, between=(0.4, 0.6))),
    "one of three classes": (three, 2),
    "a probability of three": (three, bf.probability(2, at_least=0.6)),
    "value": (wanted, bf.value(at_least=3.0)),
}

SQUARES = bf.Quadratic(np.eye(3) + 0.2)
COSTS = {
    "any cost without functions": (
        bf.L1(), bf.L2(), bf.LInf(), bf.L0(), bf.L1() + 0.5 * bf.L0() + bf.L2(), bf.L1() + bf.LInf(), SQUARES,
    ),
    "prices that are functions": (
        bf.Table({"b": lambda before, after: np.abs(after - before) ** 1.5}) + bf.L1(weights={"b": 0.0}),
    ),
}  # fmt: skip
"""What stands above each of the two tables."""

NORMAL = IsolationForest(n_estimators=5, random_state=0)
CONSTRAINTS: dict[str, tuple[list[Any], ...]] = {
    "limits": (
        [],
        [bf.fixed("c"), bf.only_up("a")],
        [bf.at_most_changes(2)],
        [bf.fixed("c"), bf.follows("c", -1, "b")],
        [bf.fixed("b"), bf.follows("b", 2, bf.rises("c"))],
    ),
    "relations": ([bf.linear({"a": 1.0, "b": 1.0}, "<=", 4.0)],),
    "implications": ([bf.implies(bf.rises("b"), bf.rises("c"))], [bf.implies(bf.rises("c"), bf.between("b", 2))]),
    "`margin`": ([bf.margin(0.01)],),
    "`plausible`": ([bf.plausible(NORMAL.fit(MIXED))],),
    "`robust`": ([bf.robust(0.01)], [bf.robust(0.01, norm="l2")], [bf.robust(0.01, norm="l1")]),
}
"""The columns of the tables."""

GAP = "not yet"
"""A cell that tests/project/test_gaps.py states as a test that is expected to fail."""

CURVED = {(kind, "`robust`") for kind in ("a linear model", "boosting", "a network")} | {("a linear model", "`margin`")}
"""What the page says below the tables: with a probability of several classes they refuse these."""


def tables() -> dict[str, dict[str, dict[str, str]]]:
    """The tables of the page: by their words for the cost, by model, by constraint."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in COSTS:
            names, table = cells[1:], found.setdefault(cells[0], {})
        elif cells[0] in KINDS and len(cells) == 1 + len(CONSTRAINTS):
            table[cells[0]] = dict(zip(names, cells[1:], strict=True))
    return found


@cache
def explainer(kind: str, target: str) -> bf.Explainer | None:
    """A fitted model of this kind that can be asked for the target."""
    how, (labels, _) = KINDS[kind], TARGETS[target]
    make, X = how.regressor if labels is wanted else how.classifier, how.data
    if make is None or (labels is three and how.classes < 3):
        return None
    model = make().fit(X, labels(X))
    if not how.black_box:
        return bf.Explainer(model, X)
    if labels is wanted:
        return bf.Explainer(bf.black_box(model.predict), X)
    return bf.Explainer(bf.black_box(model.predict_proba, classes=list(model.classes_)), X)


def answered(explainer: bf.Explainer, **question: Any) -> str:
    """What the solvers say of a question."""
    try:
        able = [solver for solver, yes in explainer.solvers(**question) if yes and not solver.only_named]
    except bf.ButforError:
        return "refused"
    return "refused" if not able else "proven" if able[0].exact else "valid"


PARTS = 4
"""The table is asked about in so many parts."""


def test_the_page_has_a_cell_for_everything() -> None:
    found = tables()
    assert list(found) == list(COSTS)
    for table in found.values():
        assert list(table) == list(KINDS)
        assert all(list(cells) == list(CONSTRAINTS) for cells in table.values())


@pytest.mark.shorter(8)
@pytest.mark.parametrize("part", first(1, range(PARTS)))
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_solvers_say_what_the_page_says(kind, target, part) -> None:
    """One in so many questions. Of each target the short run asks different ones."""
    asked = explainer(kind, target)
    if asked is None:
        return
    wrong, turn = [], count(part + list(TARGETS).index(target))
    for words, columns in product(COSTS, CONSTRAINTS):
        said = tables()[words][kind][columns]
        if target == "a probability of three" and (kind, columns) in CURVED:
            said = "refused"
        for cost, constraints in product(COSTS[words], CONSTRAINTS[columns] if said != GAP else ()):
            if next(turn) % PARTS:
                continue
            is_so = answered(asked, target=TARGETS[target][1], cost=cost, constraints=constraints)
            if is_so != said:
                wrong.append(f"{cost}, {constraints}: {is_so}, and the page says {said}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("kind", "words"), diagonal(KINDS, COSTS))
def test_an_answer_is_what_the_page_says(kind, words) -> None:
    """One question for each cell is really asked."""
    asked = explainer(kind, "class")
    assert asked is not None
    row = asked_row(asked, KINDS[kind].data)
    for columns, (constraints, *_) in CONSTRAINTS.items():
        said = tables()[words][kind][columns]
        question = {"target": 1, "cost": COSTS[words][0], "constraints": constraints}
        if said == GAP:
            continue
        if said == "refused":
            with pytest.raises(bf.ButforError):
                asked.explain(row, **question)
            continue
        solver = {"solver": bf.Swarm(particles=20, iterations=20)} if said == "valid" else {}
        answer = asked.explain(row, **question, **solver).only
        if said == "valid":
            assert answer.certificate.status in (bf.Status.VALID, bf.Status.NOT_FOUND), columns
        else:
            assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE), columns


@pytest.mark.shorter(6)
@pytest.mark.parametrize("kind", KINDS)
def test_levels_slip_where_the_page_says(kind) -> None:
    """A column of whole numbers is declared to have levels."""
    how, said = (
        KINDS[kind],
        "refused" if kind == "an oblique tree" else tables()["any cost without functions"][kind]["`robust`"],
    )
    model, levels = how.classifier().fit(how.data, two(how.data)), {"b": bf.Ordinal(range(6))}
    read = bf.black_box(model.predict_proba, classes=[0, 1]) if how.black_box else model
    asked = bf.Explainer(read, how.data, space=levels)
    for slips in ({"b": 1}, {"b": [[0, 3]]}):
        for radius in (0, 0.01) if how.data is MIXED else (0,):
            question = {"target": 1, "constraints": [bf.robust(radius, slips=slips)]}
            assert answered(asked, **question) == said
            if said == "proven":
                row = how.data[model.predict(how.data) == 0].iloc[[0]]
                status = asked.explain(row, **question).only.certificate.status
                assert status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


@pytest.mark.parametrize("kind", KINDS)
def test_consequences_of_what_one_acts_on_are_proven_where_the_page_says(kind) -> None:
    assert "If one does, boosting with linear leaves and prices that are functions are valid" in PAGE
    asked = explainer(kind, "class")
    assert asked is not None
    found = answered(asked, target=1, constraints=[bf.follows("b", 0.5, "a")])
    assert found == ("valid" if kind in ("boosting with linear leaves", "any other black box") else "proven")


def asked_row(explainer: bf.Explainer, X: pd.DataFrame) -> pd.DataFrame:
    """A row of the other class."""
    predicted = explainer.model.predict(X)
    return X[np.asarray(predicted) == 0].iloc[[0]]
