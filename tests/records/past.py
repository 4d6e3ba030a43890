"""Questions whose answers were saved by earlier versions, in `saved/`, with the facts that they told then.

The models are trees over whole numbers, so each processor fits the same.
`python -m tests.records.past FOLDER` saves the answers of the butfor that is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf

DRAWN = np.random.default_rng(7)
TABLE = pd.DataFrame(
    {
        "income": DRAWN.integers(10, 60, 200),
        "debt": DRAWN.integers(0, 30, 200),
        "savings": np.where(DRAWN.random(200) < 0.2, np.nan, DRAWN.integers(0, 20, 200)),
        "job": pd.Categorical(np.array(["none", "clerk", "pilot"])[DRAWN.integers(0, 3, 200)]),
    }
)
GRANTED = np.where(TABLE["income"] - TABLE["debt"] + 8 * (TABLE["job"] == "pilot") > 25, "yes", "no")
NUMBERS = TABLE[["income", "debt"]]
WAITED = (TABLE["income"] + DRAWN.integers(1, 9, 200)).to_numpy(dtype=float)
HAPPENED = DRAWN.random(200) < 0.8


def tree() -> Any:
    """A tree over numbers, of which some are missing, and a category."""
    encoder = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    return make_pipeline(encoder, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(TABLE, GRANTED)


def boosted() -> Any:
    """A sum of small trees."""
    return GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0).fit(NUMBERS, GRANTED)


def waiting() -> Any:
    """A survival tree."""
    from sksurv.tree import SurvivalTree
    from sksurv.util import Surv

    times = Surv.from_arrays(HAPPENED, WAITED)
    return SurvivalTree(max_depth=3, random_state=0).fit(NUMBERS.to_numpy(dtype=float), times)


def refused(model: Any, table: Any) -> Any:
    """The rows that the model refuses."""
    return table[model.predict(table) == "no"]


def of_tree(**question: Any) -> bf.Explanations:
    model = tree()
    rows = refused(model, TABLE)
    return bf.Explainer(model, TABLE).explain(rows.iloc[[0, 3, 7]], target="yes", **question)


def with_a_gap() -> bf.Explanations:
    model = tree()
    rows = refused(model, TABLE)
    missing = rows[rows["savings"].isna()].iloc[:2]
    return bf.Explainer(model, TABLE).explain(missing, target="yes", constraints=[bf.fixed("income")])


def of_boosted(*constraints: Any) -> bf.Explanations:
    model = boosted()
    return bf.Explainer(model, NUMBERS).explain(
        refused(model, NUMBERS).iloc[[2]], target="yes", constraints=list(constraints)
    )


def of_array() -> bf.Explanations:
    rows = NUMBERS.to_numpy(dtype=float)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, GRANTED)
    return bf.Explainer(model, rows).explain(refused(model, rows)[:1], cost=bf.L2())


def of_survival() -> bf.Explanations:
    rows = NUMBERS.to_numpy(dtype=float)
    return bf.Explainer(waiting(), rows).explain(rows[[int(rows[:, 0].argmin())]], target=bf.survival.mean_gain(5.0))


QUESTIONS: dict[str, tuple[Callable[[], Any], Callable[[], bf.Explanations]]] = {
    "categories": (tree, lambda: of_tree()[1:2]),
    "several": (tree, lambda: of_tree(k=2)),
    "missing": (tree, with_a_gap),
    "impossible": (tree, lambda: of_tree(constraints=[bf.fixed("job"), bf.within("income", 0.01), bf.fixed("debt")])[:2]),
    "closest": (boosted, lambda: of_boosted(bf.fixed("income"), bf.within("debt", 0.05))),
    "array": (lambda: DecisionTreeClassifier(max_depth=3, random_state=0).fit(NUMBERS.to_numpy(dtype=float), GRANTED), of_array),
    "robust": (boosted, lambda: of_boosted(bf.robust({"income": 1.0, "debt": 1.0}))),
    "survival": (waiting, of_survival),
}  # fmt: skip


def _numbers(certificate: Any) -> Iterator[tuple[str, float]]:
    """What else was known, under the names that it had as notes."""
    farthest, around = certificate.evidence.farthest, certificate.evidence.around
    if farthest is not None:
        yield "reached at most", farthest.reached
        yield "needed", farthest.needed
        yield "reached by the closest row", farthest.closest
    if around is not None:
        yield "neighbours that the model predicted", around.predicted
        yield "score of the worst neighbour", around.score
        yield from ((f"{name} of the worst neighbour", value) for name, value in around.worst.items())


def told(answers: Any) -> str:
    """What answers say, as earlier versions printed it."""
    lines = []
    for one in getattr(answers, "__iter__", [answers].__iter__)():
        lines.append(f"row {one.row}, answer {one.rank}: {one.before} -> {one.after}, cost {one.cost:.6g}")
        lines += [f"  {c.name}: {c.text[0]} -> {c.text[1]}" for c in one.changes]
        lines.append(f"  {one.certificate.status.name}, bound {one.certificate.bound:.6g}: {one.certificate.why}")
        lines += [f"  {'passed' if fine else 'FAILED'}: {name}" for name, fine in one.certificate.checks]
        lines += [f"  {name}: {value:.6g}" for name, value in _numbers(one.certificate)]
        lines += [f"  {one.question.target}, {one.question.cost}, {', '.join(one.question.constraints)}"]
        if getattr(one, "score", None) is not None:
            lines.append(f"  score: {one.score}")
        if getattr(one, "region", None) is not None:
            lines.append(f"  around it: {one.region.low.tolist()} to {one.region.high.tolist()}")
        if getattr(one, "closest_codes", None) is not None:
            lines.append(f"  closest: {one.closest_codes.tolist()}")
    return "\n".join(lines) + "\n"


def save(folder: Path) -> None:
    """Save the answers that the butfor that is imported gives. What it does not know is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (_, answers) in QUESTIONS.items():
        try:
            found = answers()
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}")
            continue
        (folder / f"{name}.json").write_text(found.to_json(indent=None) + "\n", encoding="utf-8")
        (folder / f"{name}.txt").write_text(told(found), encoding="utf-8")
        if name in ("several", "closest") and hasattr(found, "to_jsonl"):
            found.to_jsonl(folder / f"{name}.jsonl")


if __name__ == "__main__":
    save(Path(sys.argv[1]))
