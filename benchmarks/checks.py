"""Checks of many answers: in at most the time it took to explain them, bounds included; without bounds in much less."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline

import butfor as bf
from benchmarks.data import adult, adult_linear, adult_tree
from benchmarks.harness import SEED, Number, main, seconds

RULES = [bf.fixed("race", "sex"), bf.only_up("age")]


def models(X: pd.DataFrame, y: pd.Series[int], smoke: bool) -> Iterator[tuple[str, Pipeline, int]]:
    """A tree, a linear model, and sums of trees behind the same encoder, with the number of rows to ask about."""
    most = 20 if smoke else 5000
    yield "tree", adult_tree(X, y), most
    linear = adult_linear(X, y)
    yield "linear", linear, most
    trees = 5 if smoke else 100
    for name, last, rows in (
        ("forest 100 x 5", RandomForestClassifier(trees, max_depth=5, random_state=SEED, n_jobs=1), most // 50),
        ("boosting 100 x 3", GradientBoostingClassifier(n_estimators=trees, random_state=SEED), most // 5),
    ):
        yield name, Pipeline([*linear.steps[:-1], ("trees", last)]).fit(X, y), max(rows, 2)


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds of a check with bounds, without them, and of a sample of a tenth, against those of the explanation."""
    X, y, data = adult(smoke)
    for name, model, rows in models(X, y, smoke):
        explainer, asked = bf.Explainer(model, data=X), X.head(rows)
        repeats = 1 if smoke or "x" in name else 3

        def explain(explainer: bf.Explainer = explainer, asked: pd.DataFrame = asked) -> bf.Explanations:
            return explainer.explain(asked, constraints=RULES, progress=False)

        explaining, answers = seconds(explain, repeats), explain()
        about = {"data": data, "answers": rows}
        yield Number(f"{name}, explain", explaining, "s", {"limit": 0.2 * rows}, about)
        limit = median(explaining)
        ways: dict[str, dict[str, float | bool]] = {
            "check": {},
            "check without bounds": {"bounds": False},
            "check of a sample": {"sample": 0.1},
        }
        for way, more in ways.items():
            taken = seconds(
                lambda answers=answers, model=model, more=more: bf.check(answers, model, progress=False, **more),  # type: ignore[misc]
                repeats,
            )
            told = {**about, "check_by_explain": median(taken) / limit}
            yield Number(f"{name}, {way}", taken, "s", {"limit": limit}, told)


if __name__ == "__main__":
    main({"checks": measure}, __doc__ or "")
