"""What must travel to another process does: every public object, and what a question is made of on the way."""

from __future__ import annotations

import pickle
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import IsolationForest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.estimator.prediction import Prediction
from butfor.explain.plan import plan
from butfor.model.survival.laws import LogLogistic, LogNormal, Weibull
from butfor.problem.question import ask
from butfor.problem.referee import Referee
from butfor.solvers.choose import SOLVERS
from butfor.solvers.solver import Budget

X, y = load_iris(return_X_y=True)
EXPLAINER = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
ANSWERS = EXPLAINER.explain(X[:3], target=2)


def price(before: float, after: float) -> float:
    return abs(after - before)


LOG = bf.Log(Path(mkdtemp()) / "answers.log", who="Ms Li")

OBJECTS: dict[str, Any] = {
    "Explainer": EXPLAINER,
    "Explanations": ANSWERS,
    "Explanation": ANSWERS[0],
    "Certificate": ANSWERS[0].certificate,
    "Evidence": ANSWERS[0].certificate.evidence,
    "Status": bf.Status.VALID,
    "Stopped": bf.Stopped.TIME,
    "Menu": EXPLAINER.menu(X[:1], 2),
    "Ladder": EXPLAINER.ladder(X[:1], [1, 2]),
    "TradeOff": EXPLAINER.trade_off(X[:1], 2, against="changes"),
    "Best": EXPLAINER.best(ANSWERS[:1]),
    "Change": ANSWERS[0].changes[0],
    "Score": ANSWERS[0].score,
    "QuestionRecord": ANSWERS[0].question,
    "Alternatives": ANSWERS[:1].alternatives(),
    "MenuLine": EXPLAINER.menu(X[:1], 2).lines[0],
    "Standing": bf.Standing.OFFERED,
    "Stretch": EXPLAINER.trade_off(X[:1], 2, against="changes").stretches[0],
    "Region": EXPLAINER.region(ANSWERS[0], 2),
    "Robustness": EXPLAINER.robustness(ANSWERS[0], 2),
    "Contributions": EXPLAINER.contributions(ANSWERS[0]),
    "DecisionMap": EXPLAINER.decision_map(ANSWERS[0], ("x2", "x3"), steps=4),
    "TreePath": EXPLAINER.tree_path(ANSWERS[0]),
    "CrossedSplit": EXPLAINER.tree_path(ANSWERS[0]).splits[0],
    "Suggestions": bf.suggest(np.array([[k, k + k % 3] for k in range(40)])),
    "Supports": EXPLAINER.solvers(),
    "Checked": bf.check(ANSWERS[0], EXPLAINER.model),
    "AllChecked": bf.check(ANSWERS, EXPLAINER.model),
    "Check": bf.check(ANSWERS[0], EXPLAINER.model).checks[0],
    "Space": EXPLAINER.space,
    "Swarm": bf.Swarm(particles=7),
    "L0": bf.L0(), "L1": bf.L1({"x0": 2.0}), "L2": bf.L2(), "LInf": bf.LInf(), "Gower": bf.Gower(), "MAD": bf.MAD(),
    "Table": bf.Table({"x0": price}), "Quadratic": bf.Quadratic(np.eye(4)),
    "fixed": bf.fixed("x0"), "only_up": bf.only_up("x0"), "only_down": bf.only_down("x0"), "between": bf.between("x0", 0, 1),
    "within": bf.within("x0", 0.1), "step": bf.step("x0", 2), "whole": bf.whole("x0"), "allowed": bf.allowed("x0", [1]),
    "moves": bf.moves("x0", {"a": ["b"]}), "may_be_missing": bf.may_be_missing("x0"), "at_most_changes": bf.at_most_changes(2),
    "linear": bf.linear({"x0": 1.0}, "<=", 2.0), "implies": bf.implies(bf.rises("x0"), bf.falls("x1", by=1)),
    "follows": bf.follows("x0", 0.5, bf.rises("x1")),
    "linked": bf.linked("x0", "x1", table=X[:2]), "combinations": bf.combinations("x0", "x1"),
    "one_hot": bf.one_hot("x*"), "thermometer": bf.thermometer("x*", none="few"),
    "computed": bf.computed("x0", "x1 / (x2 + 100)"),
    "rises": bf.rises("x0"), "falls": bf.falls("x0"), "becomes": bf.becomes("x0", 1), "margin": bf.margin(0.1),
    "robust": bf.robust({"x0": 0.1}, norm="l2"), "robust_to": bf.robust_to(models=[EXPLAINER.model]),
    "plausible": bf.plausible(IsolationForest(n_estimators=3, random_state=0).fit(X)), "candidates": bf.candidates(X[:2]),
    "classes": bf.classes(1), "other": bf.other(), "class_costs": bf.class_costs({1: 0.5}), "probability": bf.probability(1, 0.5),
    "value": bf.value(at_least=1), "relative_change": bf.relative_change(0.1),
    "Continuous": bf.Continuous(0, 1), "Integer": bf.Integer(), "Step": bf.Step(2), "Categorical": bf.Categorical(["a", "b"]),
    "Ordinal": bf.Ordinal(["a", "b"]),
    "black_box": bf.black_box(price), "Scorecard": bf.Scorecard({"x0": {"else": 1}}), "confident": bf.confident(0.9),
    "Missing": bf.Missing(lost=1.0),
    "Rules": bf.rules({"target": 1, "constraints": [bf.fixed("x0")]}),
    "Portfolio": EXPLAINER.portfolio(X[:1], Path(mkdtemp()) / "folder", 2, n_jobs=1, progress=False),
    "HowFar": bf.HowFar(3, 1, 1, 0, {"VALID": 1}),
    "Proven": bf.Proven("row 0", None, 0.0, "nothing is proven"),
    "Proofs": bf.Proofs(Path("proofs"), (bf.Proven("row 0", Path("row-0.proof"), 1.0, "VERIFIED"),)),
    "Dossier": bf.dossier(EXPLAINER, X, Path(mkdtemp()) / "dossier", target=2, sample=2, progress=False),
    "ReasonCode": bf.ReasonCode("x0", "R01", 1.0, 2.0, 0.5),
    "Log": LOG, "Entry": LOG.append(ANSWERS)[0], "Verified": LOG.verify(),
    "Column": bf.Column("a", levels={1: "b"}), "describe": bf.describe({"x0": "a"}),
}  # fmt: skip
"""One of each public name that makes an object."""

FUNCTIONS = (
    "calibrated", "check", "concat", "dossier", "keras_model", "load", "onnx_model", "prove", "reasons", "rules", "suggest",
    "torch_model", "warm", "widget",
)  # fmt: skip


def again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def test_every_public_name_is_here() -> None:
    assert sorted([*OBJECTS, *FUNCTIONS, "ButforError"]) == sorted(bf.__all__)


@pytest.mark.parametrize("name", OBJECTS)
def test_it_travels(name: str) -> None:
    found = again(OBJECTS[name])
    assert type(found) is type(OBJECTS[name])
    assert name in ("Explainer", "black_box") or repr(found) == repr(OBJECTS[name])


def test_a_readout_travels() -> None:
    assert repr(again(bf.teach.Sign(("no", "yes")))) == "Sign(('no', 'yes'))"


@pytest.mark.parametrize("kind", [bf.ButforError, *(getattr(bf.errors, name) for name in bf.errors.__all__)])
def test_an_error_travels_with_its_words(kind: type[bf.ButforError]) -> None:
    error = kind("this was given.", "That is needed.", "Do so.")
    assert str(again(error)) == str(error) == "this was given. That is needed. Do so."


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_a_solver_travels(solver: Any) -> None:
    assert again(solver).name == solver.name


@pytest.mark.parametrize("law", [Weibull(2.0), LogNormal(0.5), LogLogistic(3.0)], ids=repr)
def test_a_law_travels(law: Any) -> None:
    assert again(law) == law
    assert again(law).quantile(0.5) == law.quantile(0.5)


def test_a_budget_goes_on_with_what_is_left() -> None:
    there = again(Budget(5.0, threads=3))
    assert 4.0 < there.left() <= 5.0
    assert there.threads == 3
    assert not there.spent()
    stopped = Budget()
    stopped.interrupt()
    assert again(stopped).spent()
    assert again(stopped).stopped is bf.Stopped.INTERRUPTED


def test_an_explainer_that_travelled_answers_the_same() -> None:
    assert again(EXPLAINER).explain(X[:3], target=2) == ANSWERS


def test_a_part_of_a_question_travels_and_is_solved_there() -> None:
    _, question = ask(EXPLAINER.reading, 2, None, [bf.candidates(X[100:])])
    before = Prediction(EXPLAINER.reading.source, X[:3])
    part = next(plan(question, Referee(EXPLAINER.reading, question.target), EXPLAINER.space.encode(X[:3]), before))
    solver = SOLVERS[0]
    assert np.array_equal(solver.solve(again(part).problem, Budget()).cost, solver.solve(part.problem, Budget()).cost)
