"""Proofs of answers of sums of trees: how large they are, how long they take to make, and to check in plain Python.

python -m benchmarks.proofs [--rows 20] [--tables pima german]
"""

from __future__ import annotations

import argparse
import lzma
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import butfor as bf
from benchmarks.data import read

TABLES = {
    "pima": "pima.csv",
    "german": "german_credit.csv",
    "spambase": "spambase.csv.gz",
    "adult": "adult.csv.gz",
    "magic": "magic.csv.gz",
}


def learners() -> dict[str, Any]:
    import lightgbm
    import xgboost

    return {
        "xgboost 100 x 3": xgboost.XGBClassifier(n_estimators=100, max_depth=3, n_jobs=1),
        "xgboost 100 x 6": xgboost.XGBClassifier(n_estimators=100, max_depth=6, n_jobs=1),
        "lightgbm 100 x 15": lightgbm.LGBMClassifier(n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1),
        "histogram 100 x 31": HistGradientBoostingClassifier(max_iter=100),
        "forest 100 x 5": RandomForestClassifier(100, max_depth=5, random_state=0),
        "forest 100, full": RandomForestClassifier(100, random_state=0),
    }


def measured(table: str, rows: int, wanted: list[str]) -> Iterator[list[Any]]:
    """A line for each model of a table."""
    X, target, _ = read(TABLES[table])
    y = (target == target.value_counts().index[-1]).astype(int).to_numpy()
    texts = [name for name in X if X[name].dtype.kind not in "if"]
    for name, learner in learners().items():
        if wanted and not any(one in name for one in wanted):
            continue
        encoder = make_column_transformer((OneHotEncoder(sparse_output=False), texts), remainder="passthrough")
        model = make_pipeline(encoder, learner).fit(X, y)
        explainer = bf.Explainer(model, data=X)
        some = X[model.predict(X) == 0].sample(rows, random_state=0)
        explainer.explain(some.iloc[:1], target=1)
        begin = time.perf_counter()
        answers = explainer.explain(some, target=1, time_limit_per_row=60.0)
        searched = (time.perf_counter() - begin) / rows
        with TemporaryDirectory() as place:
            bf.prove(answers[:1], model, place, progress=False)
            each = []
            for i in range(rows):
                begin = time.perf_counter()
                (proof,) = bf.prove(answers[i : i + 1], model, place, progress=False)
                made = time.perf_counter() - begin
                if proof.file is None:
                    print("   ", table, name, proof, flush=True)
                    continue
                begin = time.perf_counter()
                subprocess.run(
                    [sys.executable, str(Path(place) / "butfor_check.py"), str(proof.file)],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                content = proof.file.read_bytes()
                each.append([made, time.perf_counter() - begin, len(content) / 1e3, len(lzma.compress(content)) / 1e3])
        yield [table, name, f"{len(each)} of {rows}", searched, *np.median(each, axis=0), *np.max(each, axis=0)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--models", nargs="+", default=[])
    args = parser.parse_args()
    print("table, model, proven, search s, median: made s, checked s, kB, compressed kB; worst: the same")
    for table in args.tables:
        for line in measured(table, args.rows, args.models):
            print(*(f"{x:.3g}" if isinstance(x, float) else x for x in line), sep=", ", flush=True)


if __name__ == "__main__":
    main()
