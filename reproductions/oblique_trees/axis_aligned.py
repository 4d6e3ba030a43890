"""The paper's axis-aligned trees: butfor against search in the rows and a path heuristic, on six data sets.

`python -m reproductions.oblique_trees.axis_aligned` writes a file of JSON lines a data set, and the
table axis_aligned.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.baselines import PathHeuristic, cheapest, distance, keeping
from benchmarks.data import adult_like, pipeline, read, without_copies
from benchmarks.harness import SEED, UNLIMITED, arguments, where, write
from butfor.arrays import FloatArray

HERE = Path(__file__).parent
COSTS = {"L1": (bf.L1(), 1), "L2": (bf.L2(), 2)}
SLACK = 1e-9
"""Differences in cost below this are rounding."""
TEST = 0.2
FOLDS = 3
ALPHAS = 10
CONSTANT = "constant"

Step = int | str | tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """A data set: its table, target and number of rows left out; and what each harder level fixes besides."""

    name: str
    load: Callable[[], tuple[pd.DataFrame, pd.Series[Any], int]]
    steps: tuple[Step, Step]


def _adult() -> tuple[pd.DataFrame, pd.Series[Any], int]:
    X, y, dropped = read("adult.csv.gz")
    return without_copies(X), y, dropped


def _adult_like() -> tuple[pd.DataFrame, pd.Series[Any], int]:
    X, y, _ = adult_like(1000)
    return X, y, 0


def _bundled() -> tuple[pd.DataFrame, pd.Series[Any], int]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y, 0


ADULT: tuple[Step, Step] = (("race", "sex"), ("marital_status",))
SETS = (
    Data("Adult", _adult, ADULT),
    Data("Breast-Cancer", partial(read, "breast_cancer_wisconsin.csv"), (1, 1)),
    Data("Spambase", partial(read, "spambase.csv.gz"), (10, 20)),
    Data("Letter", partial(read, "letter.csv"), (4, 6)),
    Data("German Credit", partial(read, "german_credit.csv"), (("personal_status_sex",), ("credit_history",))),
    Data("MNIST (10k)", partial(read, "mnist_test10k.csv.gz"), (CONSTANT, 200)),
)
SMOKE = (Data("Breast-Cancer (diagnostic)", _bundled, (5, 10)), Data("generated like Adult", _adult_like, ADULT))


@dataclass
class Rows:
    """The records of one data set: a head for each tree, and a line for each question."""

    heads: list[dict[str, Any]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)


def levels(steps: Iterable[Step], X: pd.DataFrame) -> list[list[str]]:
    """The columns fixed at each level, none at the first."""
    rng = np.random.default_rng(SEED)
    out: list[list[str]] = [[]]
    for step in steps:
        free = [name for name in X.columns.astype(str) if name not in out[-1]]
        if step == CONSTANT:
            more = [name for name in free if X[name].nunique() == 1]
        elif isinstance(step, int):
            more = rng.choice([name for name in free if X[name].nunique() > 1], step, replace=False).tolist()
        else:
            more = list(step)
        out.append([*out[-1], *more])
    return out


def full_tree(X: pd.DataFrame, y: pd.Series[Any]) -> Pipeline:
    """CART grown until its leaves are pure."""
    return pipeline(X, DecisionTreeClassifier(random_state=SEED)).fit(X, y)


def pruned_tree(full: Pipeline, X: pd.DataFrame, y: pd.Series[Any]) -> Pipeline:
    """CART with the cost-complexity penalty that cross-validates best; the bare root is no choice."""
    table = full[:-1].transform(X) if len(full) > 1 else X
    alphas = full[-1].cost_complexity_pruning_path(table, y).ccp_alphas[:-1]
    grid = [0.0, *np.geomspace(alphas[alphas > 0].min(), alphas.max(), ALPHAS)]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    search = GridSearchCV(full, {f"{full.steps[-1][0]}__ccp_alpha": grid}, cv=folds)
    return search.fit(X, y).best_estimator_


def sources(model: Pipeline, X: pd.DataFrame, each: int) -> list[tuple[int, Any, Any]]:
    """Up to `each` rows that the tree puts in each class, what it says of them, and another class to aim at."""
    rng = np.random.default_rng(SEED)
    said = model.predict(X)
    out = []
    for label in model.classes_:
        able = np.flatnonzero(said == label)
        others = [other for other in model.classes_ if other != label]
        chosen = sorted(rng.choice(able, min(each, len(able)), replace=False))
        out += [(int(row), label, rng.choice(others)) for row in chosen]
    return out


def questions(
    model: Pipeline, train: pd.DataFrame, test: pd.DataFrame, fixed: Sequence[list[str]], each: int
) -> Iterator[dict[str, Any]]:
    """Every source row at every level and cost: the costs of butfor, row search and path heuristic."""
    both = pd.concat([train, test], ignore_index=True)
    explainer = bf.Explainer(model, data=both)
    space = explainer.space
    heuristic = PathHeuristic(model, space)
    rows, said = space.encode(both), model.predict(both)
    explainer.explain(test.iloc[[0]])
    for row, label, target in sources(model, test, each):
        one = test.iloc[[row]]
        factual = space.encode(one)[0]
        tweaked = heuristic.points(factual, one, target)
        for level, names in enumerate(fixed):
            constraints = [bf.fixed(*names)] if names else []
            kept = [space.index(name) for name in names]
            given = keeping(rows[said == target], factual, kept)
            tweaks = keeping(tweaked, factual, kept)
            for cost, (priced, power) in COSTS.items():
                begin = time.perf_counter()
                answer = explainer.explain(one, target=target, cost=priced, constraints=constraints)
                took = time.perf_counter() - begin
                yield {
                    "level": level, "cost": cost, "row": row, "from": str(label), "to": str(target),
                    "ours": number(checked(answer, space, factual, power)),
                    "rows": number(cheapest(space, factual, given, power)[1]),
                    "path": number(cheapest(space, factual, tweaks, power)[1]),
                    "status": answer.certificate.status.name, "changes": len(answer.changes), "seconds": round(took, 5),
                }  # fmt: skip


def checked(answer: bf.Explanation, space: bf.Space, factual: FloatArray, power: int) -> float:
    """The cost of our answer, which the baselines' own measure must confirm."""
    if not answer.found:
        return float(np.inf)
    again = distance(space, factual, answer.only.point_codes[None], power)[0]
    if abs(again - answer.cost) > SLACK:
        raise AssertionError(f"butfor says {answer.cost!r} where the baselines' distance is {again!r}")
    return answer.cost


def number(cost: float) -> float | None:
    return float(cost) if np.isfinite(cost) else None


def compare(data: Data, each: int) -> Rows:
    """All questions on the full and the pruned tree of one data set."""
    X, y, dropped = data.load()
    train, test, y_train, y_test = train_test_split(X, y, test_size=TEST, stratify=y, random_state=SEED)
    fixed = levels(data.steps, X)
    full = full_tree(train, y_train)
    out = Rows()
    for name, model in (("full", full), ("pruned", pruned_tree(full, train, y_train))):
        head = {"data": data.name, "tree": name}
        about = {
            "rows": len(X),
            "rows_left_out": dropped,
            "features": X.shape[1],
            "classes": len(model.classes_),
            "leaves": int(model[-1].get_n_leaves()),
            "test_error": round(1 - model.score(test, y_test), 4),
            "ccp_alpha": model[-1].ccp_alpha,
            "fixed": fixed,
            "seed": SEED,
            "budget": UNLIMITED,
        }
        out.heads.append({**head, **about, **where()})
        out.lines += [{**head, **line} for line in questions(model, train, test, fixed, each)]
    return out


def summary(head: dict[str, Any], lines: list[dict[str, Any]]) -> dict[str, Any]:
    """One line of the table from the questions of one tree, level and cost."""
    table = pd.DataFrame(lines)
    costs = table[["ours", "rows", "path"]].astype(float)
    rivals = costs[["rows", "path"]]
    unmet = table[costs["ours"].isna()]
    common = costs[costs.notna().all(axis=1)]
    return {
        "data": head["data"],
        "tree": head["tree"],
        "leaves": head["leaves"],
        "test error": f"{head['test_error']:.1%}",
        "fixed": len(head["fixed"][lines[0]["level"]]),
        "cost": lines[0]["cost"],
        "questions": len(table),
        **{f"found: {name}": f"{costs[name].notna().mean():.0%}" for name in costs},
        "common": len(common),
        **{f"mean cost: {name}": f"{common[name].mean():.4f}" if len(common) else "" for name in costs},
        **{f"{name} / ours": times(costs, name) for name in rivals},
        "ours dearer": int((costs["ours"].to_numpy()[:, None] > rivals + SLACK).any(axis=1).sum()),
        "only rivals found": int(rivals.loc[unmet.index].notna().any(axis=1).sum()),
        "impossible, proven": f"{(unmet['status'] == 'PROVEN_INFEASIBLE').sum()} of {len(unmet)}" if len(unmet) else "",
        "ms each": f"{1000 * table['seconds'].median():.1f}",
    }


def times(costs: pd.DataFrame, rival: str) -> str:
    """How many times dearer a rival's answers are, over the questions that both answer."""
    both = costs[["ours", rival]].dropna()
    return f"{both[rival].sum() / both['ours'].sum():.2f}" if both["ours"].any() else ""


def summaries(rows: Rows) -> list[dict[str, Any]]:
    """The table's lines of one data set."""
    lines = pd.DataFrame(rows.lines)
    groups = {key: group.to_dict("records") for key, group in lines.groupby(["tree", "level", "cost"], sort=True)}
    return [summary(next(h for h in rows.heads if h["tree"] == key[0]), group) for key, group in groups.items()]


def markdown(lines: Sequence[dict[str, Any]]) -> str:
    """A Markdown table."""
    rows = [list(lines[0]), ["---"] * len(lines[0]), *(list(line.values()) for line in lines)]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def main() -> None:
    """Every data set in turn, a line on the screen each; everything is written as soon as it is known."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    done: list[dict[str, Any]] = []
    for data in SMOKE if asked.smoke else SETS:
        begin = time.perf_counter()
        rows = compare(data, 3 if asked.smoke else 20)
        lines = summaries(rows)
        done += lines
        dearer, missed = (sum(line[word] for line in lines) for word in ("ours dearer", "only rivals found"))
        print(
            f"{data.name}: {len(rows.lines)} questions in {time.perf_counter() - begin:.0f} s; "
            f"ours dearer than a rival: {dearer}; found by a rival only: {missed}",
            flush=True,
        )
        if folder:
            stem = "".join(letter if letter.isalnum() else "_" for letter in data.name.lower()).strip("_")
            write([*rows.heads, *rows.lines], folder / f"{stem}.jsonl")
            (folder / "axis_aligned.md").write_text(markdown(done))
    if not folder:
        print(json.dumps(done[0]))


if __name__ == "__main__":
    main()
