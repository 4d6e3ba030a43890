"""Groups: the bias check of 1,000 rows, the levers, common actions, and the tables of a batch of 10,000 answers."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import Pipeline

import butfor as bf
from benchmarks.harness import Number, main, seconds
from butfor.datasets import loans

TABLE_SECONDS = 1.0
"""The wished-for seconds for a table of 10,000 answers."""


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds for each of them, on 100 boosted trees of depth 3 over the loan table."""
    X, y = loans.load()
    trees = GradientBoostingClassifier(n_estimators=10 if smoke else 100, random_state=0)
    model = Pipeline([loans.pipeline().steps[0], ("trees", trees)]).fit(X, y)
    explainer = bf.Explainer(model, data=X)
    repeats = 1 if smoke else 3
    rejected = X[model.predict(X) == "rejected"].iloc[: 5 if smoke else 100]
    rules = [bf.fixed("sex", "age"), bf.at_most_changes(3)]
    about = {"table": "loans, 10 columns", "model": f"boosting, {trees.n_estimators} x 3"}

    checked = X.iloc[: 20 if smoke else 1000]
    for column in ("sex", "age"):
        taken = seconds(lambda name=column: bf.groups.flips(explainer, checked, name), repeats)
        yield Number(f"flips by {column}", taken, "s", about={**about, "rows": len(checked)})

    def levers() -> None:
        bf.groups.levers(explainer, rejected, target="approved", constraints=rules)

    def actions() -> None:
        tried = bf.groups.Actions(explainer, rejected, target="approved", constraints=rules)
        tried.most(3, cost_at_most=0.3)
        tried.shared(0.5)

    yield Number("levers", seconds(levers, repeats), "s", about={**about, "rows": len(rejected)})
    yield Number("common actions", seconds(actions, repeats), "s", about={**about, "rows": len(rejected)})

    tree = bf.Explainer(loans.pipeline().fit(X, y), data=X)
    many = X.iloc[[i % len(X) for i in range(50 if smoke else 10_000)]]
    answers = tree.explain(many, target="approved")
    tables = {
        "statuses": lambda: bf.groups.statuses(answers, by="sex"),
        "changes": lambda: bf.groups.changes(answers, by="sex"),
        "costs": lambda: bf.groups.costs(answers, by="sex"),
        "differences": lambda: bf.groups.differences(answers, by="sex"),
    }
    for name, run in tables.items():
        about = {"table": "loans, 10 columns", "answers": len(answers)}
        yield Number(name, seconds(run, repeats), "s", {"limit": TABLE_SECONDS}, about)


if __name__ == "__main__":
    main({"groups": measure}, __doc__ or "")
