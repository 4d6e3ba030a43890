"""Proofs about targets: classes that cost something, changes by a share, and functions of one sum that are butfor's word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LogisticRegression, PoissonRegressor, Ridge, TweedieRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier

import butfor as bf
from tests.importers.samples import QUANTILES
from tests.proof.attacks import bounds_accepted, broken_by
from tests.proof.cases import Case, read
from tests.proof.second import agree, both_verify, second
from tests.proof.test_means import CONSTRAINTS, admitted
from tests.proof.test_read_files import SIZES, encoded, least, whole_numbers

__all__ = ["second"]

ROWS = 4

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(8, max_depth=3, random_state=0),
    "weights": LogisticRegression,
    "calibrated": lambda: CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3, random_state=0), cv=2),
}
COSTS: dict[str, dict[int, float]] = {
    "two of three": {0: 0.25, 2: 0.0},
    "all": {0: 0.0, 1: 0.1, 2: 0.75},
    "one": {1: 0.5},
    "one dear": {0: 5.0, 1: 0.125},
}


def three_classes() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = whole_numbers()
    return X, y + (y & (X["years"] > 3)).to_numpy()


def prices(every: pd.DataFrame, row: pd.Series) -> np.ndarray:
    cost = (every["late"] - row["late"]).abs() / 5 + (every["years"] - row["years"]).abs() / 6
    return np.asarray(cost + (every["job"] != row["job"]))


def every_row(X: pd.DataFrame) -> pd.DataFrame:
    at = np.indices(list(SIZES.values())).reshape(len(SIZES), -1)
    every = pd.DataFrame(dict(zip(SIZES, at, strict=True)))
    return every.assign(job=every["job"].map({0: "clerk", 1: "cook", 2: "judge"}))[X.columns]


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("kind", ["tree", "forest", "weights"])
def test_classes_that_cost_something(kind: str, costs: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = three_classes()
    model = encoded(CLASSIFIERS[kind]()).fit(X, y)
    rows = X.iloc[:ROWS]
    answers = bf.Explainer(model, data=X).explain(rows, target=COSTS[costs], constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    every = every_row(X)
    extra = pd.Series(model.predict(every)).map(COSTS[costs]).fillna(np.inf).to_numpy()
    true = []
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        cheapest = (prices(every, row) + extra)[admitted(name, every, row)].min()
        if cheapest == 0:
            assert one.words == "the answer costs nothing"
            continue
        assert one.verified, one.words
        assert one.below == pytest.approx(cheapest, rel=1e-8)
        true.append(read(one.file))
    assert both_verify(second, true, tmp_path)


def test_a_mean_whose_classes_cost_something(second: Path, tmp_path: Path) -> None:
    """A mean has one way to each class, so each is asked by itself."""
    X, y = whole_numbers()
    model = encoded(CLASSIFIERS["calibrated"]()).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:ROWS], target={0: 0.5, 1: 0.25})
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    every = every_row(X)
    extra = np.where(model.predict(every) == 0, 0.5, 0.25)
    for (_, row), one in zip(X.iloc[:ROWS].iterrows(), proofs, strict=True):
        assert one.below == pytest.approx((prices(every, row) + extra).min(), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def costly(folder: Path) -> Case:
    """A row that has the dearest class, and a proof that has steps for each class."""
    X, y = three_classes()
    model = encoded(CLASSIFIERS["forest"]()).fit(X, y)
    row = X[model.predict(X) == 2].iloc[:1]
    (proof,) = bf.prove(bf.Explainer(model, data=X).explain(row, target={0: 0.125, 1: 0.25}), model, folder)
    assert proof.verified, proof.words
    return read(proof.file)


def test_the_words_say_what_classes_cost(tmp_path: Path) -> None:
    words = costly(tmp_path).check()
    assert "What a row gets is added to its cost: class 0 ('0') 0.125, class 1 ('1') 0.25." in words
    assert "gets class 0 ('0') or class 1 ('1')." in words


FAULTS = {
    "forgets what a class costs": (
        "self.claim = None if below is None or self.done else below - extra",
        "self.claim = below",
    ),
    "takes dear classes for done": ("self.done = below is not None and below <= extra", "self.done = extra > 0"),
    "asks one class": ("for question in reversed(questions) if not question.done]", "for question in questions[:1]]"),
    "lets a class without an end": ("left = sum(len(walk.open) for walk in walks)", "left = 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_checker_with_a_fault_is_found_out(fault: str, second: Path, tmp_path: Path) -> None:
    """Each takes a claim that is false, or refuses one that is true."""
    case = costly(tmp_path / "proofs")
    tried = [
        case,
        case.bolder(1.01),
        replace(case, steps=case.steps[:1]),
        replace(case, shared=cheaper_by(case, 1.0)),
        replace(case, shared=cheaper_by(case, 0.0)),
    ]
    true = agree(second, tried, tmp_path / "true")
    assert true[0]
    assert not all(true)
    assert bounds_accepted(broken_by(*FAULTS[fault]), tried) != true


def cheaper_by(case: Case, factor: float) -> dict[str, Any]:
    """The question in which classes cost a multiple."""
    each = case.shared["wanted"]["either"]
    return {**case.shared, "wanted": {"either": [[(factor * float.fromhex(cost)).hex(), told] for cost, told in each]}}


@pytest.mark.parametrize("either", [[], [["-0x1p-3", None]], [[0]], "x", [[0, None]] * 1001])
def test_targets_that_are_none_are_refused(either: Any, tmp_path: Path) -> None:
    case = costly(tmp_path)
    told = case.shared["wanted"]["either"][0][1]
    each = [[one[0], told] if one[1:] == [None] else one for one in either] if isinstance(either, list) else either
    with pytest.raises(Exception, match=r"no target|costs less than nothing|unpack|not enough"):
        replace(case, shared={**case.shared, "wanted": {"either": each}}).check()


@pytest.mark.parametrize("kind", ["tree", "forest", "weights"])
def test_any_class_will_do(kind: str, second: Path, tmp_path: Path) -> None:
    """A row must leave its value, and then it does not matter what it gets."""
    X, y = three_classes()
    model = encoded(CLASSIFIERS[kind]()).fit(X, y)
    rows = X[X["years"] < 4].iloc[:ROWS]
    question: dict[str, Any] = {"target": bf.classes(0, 1, 2), "constraints": [bf.between("years", 5, 6)]}
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, **question), model, tmp_path / "proofs")
    assert [one.below for one in proofs] == pytest.approx(((5 - rows["years"]) / 6).tolist(), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


# ------------------------------------------------------------------------------------------------ values


VALUES: dict[str, Callable[[], Any]] = {
    "forest": lambda: encoded(RandomForestRegressor(5, max_depth=3, random_state=0)),
    "weights": lambda: encoded(Ridge()),
    "Poisson": lambda: encoded(PoissonRegressor(alpha=0.1)),
    "Tweedie": lambda: encoded(TweedieRegressor(power=1.5, alpha=0.1)),
    "Poisson boosting": lambda: encoded(HistGradientBoostingRegressor(loss="poisson", max_iter=5, min_samples_leaf=5)),
    "medians": lambda: encoded(AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=6, random_state=0)),
}
ENDS: dict[str, Any] = {
    "at least": bf.value(at_least=1.25),
    "at most": bf.value(at_most=0.75),
    "up": bf.relative_change(0.25),
    "down": bf.relative_change(-0.25),
    "between": bf.value(at_least=0.75, at_most=1.25),
}


def wanted_of(end: str, before: float, values: np.ndarray) -> np.ndarray:
    if end in ("up", "down"):
        goal = before + (0.25 if end == "up" else -0.25) * abs(before)
        return values >= goal if end == "up" else values <= goal
    low, high = {"at least": (1.25, np.inf), "at most": (-np.inf, 0.75), "between": (0.75, 1.25)}[end]
    return (values >= low) & (values <= high)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", VALUES)
def test_values_of_all_kinds(kind: str, end: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = VALUES[kind]().fit(X, y + 0.5)
    values = model.predict(X)
    rows = X[[not wanted_of(end, x, np.array([x]))[0] for x in values]].iloc[:ROWS]
    answers = bf.Explainer(model, data=X).explain(rows, target=ENDS[end], constraints=CONSTRAINTS[name])
    if kind == "medians" and end in ("between", "up", "down"):
        answers = answers[:1]  # one threshold in a file
        if end == "between":
            with pytest.raises(bf.errors.UnsupportedModelError, match="a AdaBoostRegressor: no proof is made of it"):
                bf.prove(answers, model, tmp_path / "proofs")
            return
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    true = []
    for (_, row), one in zip(rows.iterrows(), proofs, strict=False):
        before = float(model.predict(row.to_frame().T.astype(X.dtypes))[0])

        def met(every: pd.DataFrame, row: pd.Series = row, before: float = before) -> np.ndarray:
            return np.asarray(wanted_of(end, before, model.predict(every)) & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
        true.append(read(one.file))
    assert both_verify(second, true, tmp_path)


def stepped(learner: Any) -> Any:
    return encoded(CalibratedClassifierCV(learner, method="isotonic", ensemble=False, cv=2))


STEPPED: dict[str, Callable[[], Any]] = {
    "weights": lambda: stepped(LogisticRegression()),
    "boosting": lambda: stepped(RandomForestClassifier(5, max_depth=2, random_state=0)),
}


CHANCES = bf.probability(1, at_least=0.7), bf.probability(0, at_least=0.6), bf.probability(1, between=(0.3, 0.6)), 1


@pytest.mark.parametrize("target", CHANCES)
@pytest.mark.parametrize("kind", STEPPED)
def test_probabilities_by_steps_of_a_sum(kind: str, target: Any, second: Path, tmp_path: Path) -> None:
    """What an isotonic calibration makes of a sum is butfor's word, and so is the end; with the rows stands what they get."""
    X, y = whole_numbers()
    model = STEPPED[kind]().fit(X, y)
    every = every_row(X)

    def reached(table: pd.DataFrame) -> np.ndarray:
        if target == 1:
            return np.asarray(model.predict(table) == 1)
        p = model.predict_proba(table)[:, target.label]
        return np.asarray((p >= target.at_least) & (p <= target.at_most))

    rows = X[~reached(X)].iloc[:ROWS]
    answers = bf.Explainer(model, data=X).explain(rows, target=target)
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.verified, one.words
        found = prices(every, row)[reached(every)]
        assert one.below == pytest.approx(found.min() if len(found) else np.inf, rel=1e-8)
        assert "that this is the same is butfor's word" in one.words
    cases = [read(one.file) for one in proofs]
    assert both_verify(second, cases, tmp_path)
    case, recorded = cases[0], cases[0].shared["recorded"]
    turned = [[row, {"met": not said["met"]}] for row, said in recorded]
    assert not all(said["met"] for _, said in recorded)
    forged = [[*recorded[:k], one, *recorded[k + 1 :]] for k, one in enumerate(turned)]
    assert not any(
        agree(second, [replace(case, shared={**case.shared, "recorded": its}) for its in forged], tmp_path / "f")
    )


def test_a_model_that_says_one_thing_of_all_rows(second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(Lasso(alpha=100.0)).fit(X, y)
    assert not model[-1].coef_.any()
    proofs = bf.prove(
        bf.Explainer(model, data=X).explain(X.iloc[:2], target=bf.value(at_least=1.0)), model, tmp_path / "proofs"
    )
    assert [one.below for one in proofs] == [np.inf, np.inf]
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


# ------------------------------------------------------------------------------------------------ several classes


SOFTMAX: dict[str, Callable[[], Any]] = {
    "boosting": lambda: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=0),
    "XGBoost": lambda: XGBClassifier(n_estimators=6, max_depth=2, n_jobs=1),
    "weights": LogisticRegression,
    "bins": lambda: LogisticRegression(),
}
LIKELY: dict[str, Any] = {
    "likely": bf.probability(2, at_least=0.6),
    "rather likely": bf.probability(1, at_least=0.4),
    "hardly": bf.probability(0, at_most=0.2),
    "rarely": bf.probability(1, at_most=0.1),
}


def of_three(kind: str) -> Any:
    if kind == "bins":
        bins = KBinsDiscretizer(3, encode="onehot-dense", **QUANTILES)
        steps = (OneHotEncoder(sparse_output=False), ["job"]), (bins, ["late", "years"])
        return make_pipeline(make_column_transformer(*steps), LogisticRegression())
    return encoded(SOFTMAX[kind]())


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("end", LIKELY)
@pytest.mark.parametrize("kind", SOFTMAX)
def test_probabilities_of_several_classes(kind: str, end: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = three_classes()
    model, target, every = of_three(kind).fit(X, y), LIKELY[end], every_row(X)

    def reached(table: pd.DataFrame) -> np.ndarray:
        p = model.predict_proba(table)[:, target.label]
        return np.asarray((p >= target.at_least) & (p <= target.at_most))

    rows = X[~reached(X)].iloc[:ROWS]
    answers = bf.Explainer(model, data=X).explain(rows, target=target, constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        found = prices(every, row)[reached(every) & admitted(name, every, row)]
        assert one.verified, one.words
        assert one.below == pytest.approx(found.min() if len(found) else np.inf, rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


ODD_FAULTS = {
    "turns odds around": ("self.curves = [Power(1 / odds, -sign)]", "self.curves = [Power(1 / odds, sign)]"),
    "takes odds of another end": ("tuple(-sign * x / odds for x in mean)", "tuple(-sign * x / odds / 2 for x in mean)"),
    "takes the other way": ("(one, k)[::sign] for k in range(model.first", "(one, k)[::-sign] for k in range(model.first"),
    "forgets where odds are cut off": ("max(at(low), at(turn), worth * 2 - rate * turn) if turn", "at(high) if turn"),
    "touches too low": ("return at(x) + max(most * (high - x), -least * (x - low), 0)\n\n\n", "return at(low)\n\n\n"),
}  # fmt: skip
ODD_CASES = [
    ("boosting", "likely"),
    ("boosting", "rarely"),
    ("weights", "hardly"),
    ("weights", "likely"),
    ("bins", "rarely"),
]


@pytest.mark.parametrize("fault", ODD_FAULTS)
def test_a_checker_that_reads_odds_wrongly_is_found_out(fault: str, second: Path, tmp_path: Path) -> None:
    """It takes a claim that is false, or refuses one that is true."""
    X, y = three_classes()
    tried = []
    for at, (learner, end) in enumerate(ODD_CASES):
        model, target = of_three(learner).fit(X, y), LIKELY[end]
        p = model.predict_proba(X)[:, target.label]
        rows = X[(p < target.at_least) | (p > target.at_most)].iloc[:ROWS]
        proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, target=target), model, tmp_path / str(at))
        cases = [read(one.file) for one in proofs if one.below < np.inf]
        tried += [*cases, *[case.bolder(factor) for case in cases for factor in (1.001, 1.05, 1.3)]]
    true = agree(second, tried, tmp_path / "true")
    assert any(true)
    assert not all(true)
    assert bounds_accepted(broken_by(*ODD_FAULTS[fault]), tried) != true


def test_odds_without_bounds_are_refused(tmp_path: Path) -> None:
    """A probability next to 1, and a reach beside it."""
    X, y = three_classes()
    model = of_three("boosting").fit(X, y)
    explainer = bf.Explainer(model, data=X)
    (near,) = bf.prove(
        explainer.explain(X.iloc[:1], target=bf.probability(1, at_least=1 - 1e-15)), model, tmp_path / "near"
    )
    assert near.words == "the checker does not take it: a probability so close to 0 or 1 is not proven"
    answers = explainer.explain(X.iloc[:2], target=bf.probability(1, at_least=0.5), cost=bf.L1() + bf.LInf())
    with pytest.raises(bf.errors.UnsupportedProblemError, match="a largest price beside other prices, of a mean"):
        bf.prove(answers, model, tmp_path / "none")
    assert not (tmp_path / "none").exists()
