"""The paper's table 6: errors of CART, of TAO's oblique tree and of a random forest, on six data sets.

`python -m reproductions.oblique_trees.tao` writes tao.jsonl, a line a fitted model, and the table tao.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import BaseShuffleSplit, GridSearchCV, StratifiedShuffleSplit, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from benchmarks.data import pipeline
from benchmarks.harness import arguments, where, write
from butfor.trees import TAOClassifier
from reproductions.oblique_trees.axis_aligned import HERE, SETS, SMOKE, TEST, Data, full_tree, markdown, pruned_tree

TREES = 100
"""In a forest."""
FAST_GRID = {"max_depth": [1, 3, 5], "alpha": [1, 3, 10], "warm_up": [0, 20]}


@dataclass(frozen=True)
class Plan:
    """How one data set is learnt: what TAO chooses from on how many held-out parts, how many splits are averaged.

    `paper` has its test errors of CART and TAO, where the task names them.
    """

    grid: Mapping[str, Sequence[Any]] = field(default_factory=lambda: FAST_GRID)
    parts: int = 3
    splits: int = 5
    scaler: type = StandardScaler
    paper: tuple[float, float] | None = None


PLANS = {
    "Adult": Plan({"max_depth": [6, 8], "alpha": [1, 3, 10], "warm_up": [0]}, parts=1, splits=1),
    "Breast-Cancer": Plan(),
    "Spambase": Plan(
        {"max_depth": [4, 6], "alpha": [0.3, 1, 3], "warm_up": [0, 20]}, splits=3, paper=(0.076, 0.048)
    ),
    "Letter": Plan(
        {"init": ["random"], "max_depth": [12, 14], "alpha": [0.2, 0.4], "warm_up": [40]},
        parts=1, splits=1, paper=(0.121, 0.077),
    ),
    "German Credit": Plan(),
    "MNIST (10k)": Plan(
        {"init": ["random"], "max_depth": [7, 9], "alpha": [0.5, 1]},
        parts=1, splits=1, scaler=MinMaxScaler, paper=(0.119, 0.052),
    ),
}  # fmt: skip
SMOKE_PLAN = Plan({"max_depth": [2], "alpha": [1, 3]}, parts=1, splits=1)


def oblique_tree(plan: Plan, X: pd.DataFrame, y: pd.Series[Any], seed: int, jobs: int) -> GridSearchCV:
    """TAO on scaled numbers and one-hot categories, with the parameters that do best on held-out training rows."""
    model = unfitted(X, plan.scaler(), random_state=seed)
    held_out: BaseShuffleSplit = StratifiedShuffleSplit(plan.parts, test_size=TEST, random_state=seed)
    grid = {f"model__{name}": values for name, values in plan.grid.items()}
    return GridSearchCV(model, grid, cv=held_out, n_jobs=jobs).fit(X, y)


def unfitted(X: pd.DataFrame, scaler: Any, **settings: Any) -> Pipeline:
    """TAO behind a one-hot encoder for the text columns and a scaler for the numbers."""
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer([("levels", encoder, texts)], remainder=scaler)
    return Pipeline([("columns", columns), ("model", TAOClassifier(**settings))])


def models(data: Data, plan: Plan, jobs: int) -> Iterator[dict[str, Any]]:
    """Each model on each split: its errors and its size."""
    X, y, dropped = data.load()
    about = {"rows": len(X), "rows_left_out": dropped, "features": X.shape[1], **where()}
    for seed in range(plan.splits):
        for line in fitted(plan, X, y, seed, jobs):
            yield {"data": data.name, "split": seed, **line, **about}


def fitted(plan: Plan, X: pd.DataFrame, y: pd.Series[Any], seed: int, jobs: int) -> Iterator[dict[str, Any]]:
    """The three models on one split."""
    train, test, y_train, y_test = train_test_split(X, y, test_size=TEST, stratify=y, random_state=seed)

    def errors(model: Any) -> dict[str, float]:
        return {"train_error": 1 - model.score(train, y_train), "test_error": 1 - model.score(test, y_test)}

    begin = time.perf_counter()
    cart = pruned_tree(full_tree(train, y_train), train, y_train)
    took = time.perf_counter() - begin
    yield {
        "model": "CART", **errors(cart), "seconds": took, "seconds_are": "all, with the choice of the pruning",
        "leaves": int(cart[-1].get_n_leaves()), "depth": int(cart[-1].get_depth()),
        "chosen": {"ccp_alpha": cart[-1].ccp_alpha},
    }  # fmt: skip

    search = oblique_tree(plan, train, y_train, seed, jobs)
    tree = search.best_estimator_[-1]
    used = np.count_nonzero(tree.weights_[tree.left_ >= 0], axis=1)
    yield {
        "model": "TAO oblique", **errors(search), "seconds": search.refit_time_, "seconds_are": "the last fit, one thread",
        "leaves": tree.get_n_leaves(), "depth": tree.get_depth(), "converged": tree.converged_,
        "weights_per_decision": float(used.mean()) if len(used) else 0.0,
        "chosen": {name.removeprefix("model__"): value for name, value in search.best_params_.items()},
    }  # fmt: skip

    begin = time.perf_counter()
    forest = pipeline(train, RandomForestClassifier(TREES, random_state=seed, n_jobs=jobs)).fit(train, y_train)
    took = time.perf_counter() - begin
    yield {"model": "random forest", **errors(forest), "seconds": took, "seconds_are": f"one fit, threads: {jobs}"}


def summary(records: Sequence[Mapping[str, Any]], plan: Plan) -> list[dict[str, Any]]:
    """The table's lines of one data set: means over the splits."""
    table = pd.DataFrame(records)
    paper = dict(zip(("CART", "TAO oblique"), plan.paper or (), strict=False))
    out = []
    for name, group in table.groupby("model", sort=False):
        spread = f" ± {group['test_error'].std():.1%}" if len(group) > 1 else ""
        out.append(
            {
                "data": group["data"].iloc[0],
                "model": name,
                "splits": len(group),
                "train error": f"{group['train_error'].mean():.1%}",
                "test error": f"{group['test_error'].mean():.1%}{spread}",
                "paper's test error": f"{paper[name]:.1%}" if name in paper else "",
                "leaves": "" if group["leaves"].isna().any() else f"{group['leaves'].mean():.0f}",
                "depth": "" if group["depth"].isna().any() else f"{group['depth'].mean():.0f}",
                "weights per decision": _mean(group["weights_per_decision"]),
                "seconds": f"{group['seconds'].median():.1f}",
            }
        )
    return out


def _mean(numbers: pd.Series[Any]) -> str:
    return "" if numbers.isna().any() else f"{numbers.mean():.1f}"


def main() -> None:
    """Every data set in turn; everything is written as soon as it is known."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    records: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for data in SMOKE if asked.smoke else SETS:
        plan = SMOKE_PLAN if asked.smoke else PLANS[data.name]
        begin = time.perf_counter()
        mine = list(models(data, plan, 1 if asked.smoke else 2))
        records += mine
        lines += summary(mine, plan)
        tested = "; ".join(f"{line['model']} {line['test error']}" for line in lines[-3:])
        print(f"{data.name}: test error of {tested} ({time.perf_counter() - begin:.0f} s)", flush=True)
        if folder:
            write(records, folder / "tao.jsonl")
            (folder / "tao.md").write_text(markdown(lines))
    if not folder:
        print(json.dumps(lines[0]))


if __name__ == "__main__":
    main()
