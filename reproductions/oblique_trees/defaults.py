"""TAO as it comes against CART of the same depth, on the paper's six data sets, whatever the units of their columns.

`python -m reproductions.oblique_trees.defaults` writes defaults.jsonl, a line a scaling and a split, and the table
defaults.md. No parameter is chosen: both models have their defaults, and CART gets TAO's depth.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness import arguments, where, write
from butfor.trees import TAOClassifier
from reproductions.oblique_trees.axis_aligned import HERE, SETS, SMOKE, TEST, Data, markdown

SCALERS = {"raw": FunctionTransformer, "0 to 1": MinMaxScaler, "standardised": StandardScaler}
SPLITS = {"Breast-Cancer": 10, "Spambase": 5, "German Credit": 10, "Letter": 3}
"""How many splits are averaged: 2, or more where the data are small."""
DEPTH = TAOClassifier().max_depth


def pipeline(X: pd.DataFrame, scaler: Any, model: Any) -> Pipeline:
    """A model behind a one-hot encoder for the text columns. The scaler takes all columns that result."""
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer([("levels", encoder, texts)], remainder="passthrough")
    return Pipeline([("columns", columns), ("scaler", scaler), ("model", model)])


def runs(data: Data, splits: int) -> Iterator[dict[str, Any]]:
    """Both models on each split and each scaling: their errors and seconds."""
    X, y, _ = data.load()
    for seed in range(splits):
        train, test, y_train, y_test = train_test_split(X, y, test_size=TEST, stratify=y, random_state=seed)
        for scaling, scaler in SCALERS.items():
            line: dict[str, Any] = {"data": data.name, "scaling": scaling, "seed": seed, "depth": DEPTH}
            for name, model in {
                "CART": DecisionTreeClassifier(max_depth=DEPTH, random_state=seed),
                "TAO": TAOClassifier(random_state=seed),
            }.items():
                begin = time.perf_counter()
                fitted = pipeline(X, scaler(), model).fit(train, y_train)
                took = time.perf_counter() - begin
                line[name] = {
                    "train_error": 1 - fitted.score(train, y_train), "test_error": 1 - fitted.score(test, y_test),
                    "leaves": int(model.get_n_leaves()), "seconds": took,
                }  # fmt: skip
            yield {**line, "start": model.init_, **where()}


def summary(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The table's lines of one data set: means over the splits, a line a scaling."""
    out = []
    for scaling in SCALERS:
        mine = [record for record in records if record["scaling"] == scaling]
        line = {"data": mine[0]["data"], "scaling": scaling, "splits": str(len(mine))}
        for name in ("CART", "TAO"):
            mean = pd.DataFrame([record[name] for record in mine]).mean()
            line[f"{name}: test error"] = f"{mean['test_error']:.1%}"
            line[f"{name}: leaves"] = f"{mean['leaves']:.0f}"
            line[f"{name}: seconds"] = f"{mean['seconds']:.1f}"
        out.append(line)
    return out


def main() -> None:
    """Every data set in turn; everything is written as soon as it is known."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    warnings.simplefilter("ignore", ConvergenceWarning)
    records: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for data in SMOKE if asked.smoke else SETS:
        mine = []
        for record in runs(data, 1 if asked.smoke else SPLITS.get(data.name, 2)):
            mine.append(record)
            if folder:
                write([*records, *mine], folder / "defaults.jsonl")
        records += mine
        lines += summary(mine)
        for line in lines[-len(SCALERS) :]:
            print(
                f"{line['data']}, {line['scaling']}: CART {line['CART: test error']}, TAO {line['TAO: test error']}",
                flush=True,
            )
        if folder:
            (folder / "defaults.md").write_text(markdown(lines))
    if not folder:
        print(json.dumps(lines[0]))


if __name__ == "__main__":
    main()
