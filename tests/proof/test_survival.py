"""Proofs about models of survival: every row is tried, with quantities that are worked out here from the estimator's curves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.errors import UnsupportedModelError
from tests.proof.test_read_files import encoded, least, whole_numbers

pytest.importorskip("sksurv")

from sksurv.ensemble import (
    ComponentwiseGradientBoostingSurvivalAnalysis,
    ExtraSurvivalTrees,
    GradientBoostingSurvivalAnalysis,
    RandomSurvivalForest,
)
from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis, IPCRidge
from sksurv.tree import SurvivalTree

MODELS: dict[str, Callable[[], Any]] = {
    "tree": lambda: SurvivalTree(max_depth=4, min_samples_leaf=4, random_state=0),
    "forest": lambda: RandomSurvivalForest(6, max_depth=4, min_samples_leaf=3, random_state=0),
    "lean forest": lambda: RandomSurvivalForest(4, max_depth=4, low_memory=True, random_state=0),
    "extra trees": lambda: ExtraSurvivalTrees(4, max_depth=4, min_samples_leaf=3, random_state=0),
    "boosting": lambda: GradientBoostingSurvivalAnalysis(n_estimators=12, max_depth=2, random_state=0),
    "Cox": lambda: CoxPHSurvivalAnalysis(alpha=0.1),
    "penalised Cox": lambda: CoxnetSurvivalAnalysis(fit_baseline_model=True, l1_ratio=0.5),
}
TREES = ("tree", "forest", "extra trees", "boosting")


def mean(curve: Any) -> float:
    return float(curve.x[0] + (curve.y[:-1] * np.diff(curve.x)).sum())


def quantile(curve: Any, share: float) -> float:
    fallen = np.flatnonzero(curve.y <= 1 - share)
    return float(curve.x[fallen[0]]) if len(fallen) else np.inf


def of_curves(model: Any, of: Callable[[Any], float]) -> Callable[[pd.DataFrame], np.ndarray]:
    return lambda table: np.array([of(curve) for curve in model.predict_survival_function(table)])


Quantity = Callable[[pd.DataFrame], np.ndarray]
Met = Callable[[np.ndarray, np.ndarray], np.ndarray]
TARGETS: dict[str, tuple[Any, Callable[[Any], Quantity], Met]] = {
    "mean up": (bf.survival.mean_gain(1.3), lambda m: of_curves(m, mean), lambda now, then: then >= now + 1.3),
    "mean down": (bf.survival.mean_loss(1.3), lambda m: of_curves(m, mean), lambda now, then: then <= now - 1.3),
    "chance": (
        bf.survival.survival_at(5.5, 0.7),
        lambda m: of_curves(m, lambda curve: float(curve(5.5))),
        lambda now, then: then >= 0.7,
    ),
    "quantile": (
        bf.survival.quantile_at_least(0.5, 7.0),
        lambda m: of_curves(m, lambda curve: quantile(curve, 0.5)),
        lambda now, then: then >= 7.0,
    ),
    "risk": (bf.survival.risk_change(-0.7), lambda m: m.predict, lambda now, then: then <= now - 0.7),
    "ratio": (bf.survival.hazard_ratio(0.6), lambda m: m.predict, lambda now, then: then <= now + np.log(0.6)),
}


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """A table so small that every row can be tried, with times to an event; some are only known to be later."""
    X, good = whole_numbers()
    rng = np.random.default_rng(1)
    time = np.round(2 + 4 * good + X["years"] / 2 + rng.exponential(3, len(X)), 1)
    return X, np.array(list(zip(rng.random(len(X)) < 0.8, time, strict=True)), dtype=[("event", bool), ("time", float)])


def fitted(name: str) -> tuple[Any, pd.DataFrame]:
    X, y = table()
    return encoded(MODELS[name]()).fit(X, y), X


def possible() -> list[tuple[str, str]]:
    """The models with the targets that they have curves for, or hazards."""
    risks = [(name, "risk") for name in MODELS]
    ratios = [(name, "ratio") for name in ("boosting", "Cox", "penalised Cox")]
    return [*((name, of) for name in MODELS if name != "lean forest" for of in list(TARGETS)[:4]), *risks, *ratios]


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("name", "wanted"), possible())
def test_every_row_is_tried(name: str, wanted: str, tmp_path: Path) -> None:
    model, X = fitted(name)
    target, quantity, met = TARGETS[wanted]
    of, rows = quantity(model), X.iloc[:12]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, target=target), model, tmp_path)
    for k, one in enumerate(proofs):
        row = rows.iloc[[k]]
        cheapest = least(X, rows.iloc[k], lambda every, row=row: met(of(row), of(every)))
        assert one.verified == (cheapest > 0), one.words
        if one.verified:
            assert one.below == pytest.approx(cheapest, rel=1e-8)


def test_a_rate_that_is_still_too_low_is_no_cheaper_row(tmp_path: Path) -> None:
    """The trees agree with the columns on the row as it is, which misses the goal: no bound was raised enough there."""
    model, X = fitted("forest")
    answers = bf.Explainer(model, data=X).explain(X.iloc[[6]], target=bf.survival.mean_loss(1.3))
    assert bf.prove(answers, model, tmp_path).verified == 1


@pytest.mark.shorter(2)
@pytest.mark.parametrize("time", [4.0, 5.0, 6.0, 7.0, 8.0])
def test_a_chance_of_one_half_is_no_late_median(time: float, tmp_path: Path) -> None:
    """A quantile is late if the chance is more than that, and leaves of four rows have a chance of one half here and there."""
    model, X = fitted("tree")
    of, rows = of_curves(model, lambda curve: quantile(curve, 0.5)), X.iloc[:8]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.survival.quantile_at_least(0.5, time))
    for k, one in enumerate(bf.prove(answers, model, tmp_path)):
        cheapest = least(X, rows.iloc[k], lambda every: of(every) >= time)
        assert one.below == pytest.approx(cheapest, rel=1e-8)


@pytest.mark.long
def test_words_say_what_was_asked_and_what_is_taken_on_trust(tmp_path: Path) -> None:
    for name, told in (
        ("forest", "up by at least 1.3')"),
        ("Cox", "up by at least 1.3; that this is the same is butfor's word"),
    ):
        model, X = fitted(name)
        answers = bf.Explainer(model, data=X).explain(X.iloc[:3], target=bf.survival.mean_gain(1.3))
        proofs = bf.prove(answers, model, tmp_path / name)
        assert "mean time to event" in proofs[0].words
        assert told in proofs[0].words
        assert bf.check(answers, model, proof=tmp_path / name).passed
        assert bf.check(answers[1], model, proof=proofs[1].file).passed
        assert not bf.check(answers[1], model, proof=proofs[2].file).passed


def test_another_target_is_told_apart(tmp_path: Path) -> None:
    model, X = fitted("forest")
    explainer, row = bf.Explainer(model, data=X), X.iloc[[0]]
    easy, hard = (explainer.explain(row, target=bf.survival.mean_gain(by)) for by in (1.0, 1.3))
    bf.prove(easy, model, tmp_path)
    checked = bf.check(hard, model, proof=tmp_path)
    assert "about another model" in str(checked) or "about another target" in str(checked)
    assert not checked.passed


@pytest.mark.long
def test_quantiles_at_several_times_are_proven_one_by_one(tmp_path: Path) -> None:
    """What must be high enough is a chance at the time that the row has now and by which it is to be later."""
    model, X = fitted("forest")
    rows = X.iloc[:12]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.survival.median_gain(1.0))
    with pytest.raises(UnsupportedModelError, match="one answer at a time"):
        bf.prove(answers, model, tmp_path)
    assert not list(tmp_path.iterdir())
    each = [bf.prove(one, model, tmp_path / str(k))[0].verified for k, one in enumerate(answers)]
    assert each == [one.certificate.bound > 0 for one in answers]
    assert sum(each) > 3


@pytest.mark.parametrize("learner", [IPCRidge(), ComponentwiseGradientBoostingSurvivalAnalysis(n_estimators=30)])
def test_weights_that_were_read_are_proven(learner: Any, tmp_path: Path) -> None:
    """The logarithm of a time, and a risk score without a file of its own."""
    X, y = table()
    model = encoded(learner).fit(X, y)
    rows, ridge = X.iloc[:6], isinstance(learner, IPCRidge)
    of = model.predict if ridge else of_curves(model, mean)
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, target=bf.survival.mean_gain(1.0)), model, tmp_path)
    for k, one in enumerate(proofs):
        least_cost = least(X, rows.iloc[k], lambda every, k=k: of(every) >= of(rows.iloc[[k]]) + 1.0)
        assert one.below == pytest.approx(least_cost, rel=1e-8)
        assert one.verified
