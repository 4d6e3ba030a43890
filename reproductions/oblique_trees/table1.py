"""The paper's table 1: its person of Adult, and what three ever tighter sets of constraints do to the answer.

`python -m reproductions.oblique_trees.table1` writes table1.md.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

import butfor as bf
from benchmarks.data import adult_like
from benchmarks.harness import arguments, where
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.costs import AbstractCost
from reproductions.oblique_trees.axis_aligned import HERE, SETS, markdown
from reproductions.oblique_trees.oblique import learnt
from reproductions.oblique_trees.tao import TRAINING, Split, depth_of, split_of

LESS, MORE = "<=50K", ">50K"
ADULT = SETS[0]
BIRTH = bf.fixed("race", "native_country", "sex")
LADDER: dict[str, list[AbstractConstraint]] = {
    "none": [],
    "some": [BIRTH],
    "more": [BIRTH, bf.fixed("education", "marital_status", "relationship")],
}
"""The paper's three sets of constraints."""
COSTS: dict[str, AbstractCost] = {"plain L2": bf.L2(scale="none"), "L2": bf.L2(), "L1": bf.L1()}
"""Squares of the numbers as they are, like the paper, and shares of ranges. A changed category counts 1."""
THEIRS = {
    "none": {"race": "Asian-Pac-Islander", "capital_loss": "1", "native_country": "Peru"},
    "some": {"education": "Assoc-voc", "marital_status": "Married-AF-spouse", "hours_per_week": "39"},
    "more": {"workclass": "Federal-gov", "occupation": "Armed-Forces", "capital_gain": "1", "capital_loss": "3"},
}
"""What its answers change."""


def person(split: Split, smoke: bool) -> pd.DataFrame:
    """Row 32,561 of the file, counted from 0: the first of the official test rows."""
    return split.test[split.y_test == LESS].iloc[[0]] if smoke else split.test.iloc[[0]]


def table(explainer: bf.Explainer, one: pd.DataFrame) -> list[dict[str, Any]]:
    """A line a column: its value, and what it becomes in the paper, and by each cost under each set of constraints."""
    answers = {
        f"{cost}, {name}": explainer.explain(one, target=MORE, cost=priced, constraints=constraints)
        for cost, priced in COSTS.items()
        for name, constraints in LADDER.items()
    }
    after = {f"paper, {name}": changed for name, changed in THEIRS.items()}
    after |= {name: {change.name: change.after for change in answer.changes} for name, answer in answers.items()}
    lines = [
        {"column": name, "before": one[name].iloc[0], **{key: changed.get(name, "") for key, changed in after.items()}}
        for name in explainer.space.names
    ]
    blank = {f"paper, {name}": "" for name in THEIRS}
    found = {key: f"{answer.cost:.4g}" if answer.found else "" for key, answer in answers.items()}
    known = {key: answer.certificate.status.name for key, answer in answers.items()}
    return [
        *lines,
        {"column": "*cost*", "before": "", **blank, **found},
        {"column": "*status*", "before": "", **blank, **known},
    ]


def main() -> None:
    """Learn the tree, ask, write."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    X, y = adult_like(1000)[:2] if asked.smoke else ADULT.load()[:2]
    name = "generated" if asked.smoke else ADULT.name
    split = split_of(name, X, y)
    model = learnt(split, depth_of(name))
    one = person(split, asked.smoke)
    explainer = bf.Explainer(model, data=split.both)
    tree, wrong = model[-1], 1 - model.score(split.test, split.y_test)
    page = (
        f"{len(split.train)} rows to learn from ({TRAINING[ADULT.name]} are official); a tree of {tree.get_n_leaves()} "
        f"leaves, {wrong:.1%} of the test rows wrong; the model says {model.predict(one)[0]}.\n\n"
        + "".join(f"- **{name}**: {', '.join(map(repr, some)) or 'no constraint'}\n" for name, some in LADDER.items())
        + f"\n{markdown(table(explainer, one))}\nCommit {where()['commit']}{', dirty' if where()['dirty'] else ''}.\n"
    )
    print(page)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table1.md").write_text(page)


if __name__ == "__main__":
    main()
