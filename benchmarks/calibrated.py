"""Calibrated forests and votes of unlike members: what reading and proving cost beside the plain forest.

A vote of a forest, boosting and logistic regression has a limit of its own: 2 s, with 20 of 20 rows proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from benchmarks.data import pipeline, table
from benchmarks.harness import SEED, Number, main, seconds

ROWS, LIMIT = 20, 60.0
"""How many rows, and seconds for each."""

WITH_A_LINE, MOST_WITH_A_LINE = "vote with boosting and a line", 2.0
"""The vote in which logistic regression takes part, and the seconds that an answer may take."""


def models(smoke: bool) -> dict[str, Any]:
    """A forest of depth 5, calibrated in every way, and votes of it with boosting and with logistic regression."""
    trees = 5 if smoke else 100

    def forest() -> RandomForestClassifier:
        return RandomForestClassifier(trees, max_depth=5, random_state=SEED)

    boosting = GradientBoostingClassifier(n_estimators=trees, max_depth=3, random_state=SEED)
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    return {
        "plain": forest(),
        "sigmoid": CalibratedClassifierCV(forest(), ensemble=False),
        "isotonic": CalibratedClassifierCV(forest(), method="isotonic", ensemble=False),
        "five sigmoids": CalibratedClassifierCV(forest()),
        "five isotonics": CalibratedClassifierCV(forest(), method="isotonic"),
        "vote with boosting": VotingClassifier([("forest", forest()), ("boosting", boosting)], voting="soft"),
        WITH_A_LINE: VotingClassifier([("forest", forest()), ("boosting", boosting), ("line", line)], voting="soft"),
    }


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds to read each model of German Credit (or breast cancer), and to answer rows, each with a limit.

    The plain model comes first. The others should take no more than twice its time.
    """
    found = table("german") or table("breast")
    assert found is not None
    X, y = found.X, found.y
    twice: dict[str, float] = {}
    for name, model in models(smoke).items():
        fitted: Pipeline = pipeline(X, model).fit(X, y)
        about = {"data": found.about}
        read = seconds(lambda fitted=fitted: bf.Explainer(fitted, data=X), 1)[0]
        bar = {"limit": twice["read"]} if twice else {}
        yield Number(f"{name}: read", [read], "s", bar, about)
        explainer = bf.Explainer(fitted, data=X)
        refused = X[fitted.predict(X) == 0].iloc[: 2 if smoke else ROWS]
        taken, proven = [], 0
        for i in range(len(refused)):
            begin = perf_counter()
            (answer,) = explainer.explain(refused.iloc[[i]], time_limit=5.0 if smoke else LIMIT)
            taken.append(perf_counter() - begin)
            proven += answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        bar = {"limit": MOST_WITH_A_LINE if name == WITH_A_LINE else twice["answers"]} if twice else {}
        twice = twice or {"read": 2 * read, "answers": 2 * median(taken)}
        yield Number(f"{name}: answers", taken, "s", bar, {**about, "proven": f"{proven} of {len(refused)}"})


if __name__ == "__main__":
    main({"calibrated": measure}, __doc__ or "")
