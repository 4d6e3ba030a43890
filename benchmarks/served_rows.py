"""A service's view of `explain`: the latency of single rows from JSON, possible and impossible ones apart, and threads.

Run: python -m benchmarks.served_rows
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import butfor as bf
from benchmarks.harness import SEED, Number, main
from butfor.datasets import loans

MODELS: dict[str, Any] = {
    "tree": None,
    "logistic regression": LogisticRegression(max_iter=2000),
    "forest of 100 trees of depth 5": RandomForestClassifier(100, max_depth=5, random_state=SEED),
    "boosting of 100 trees of depth 3": HistGradientBoostingClassifier(max_iter=100, max_depth=3, random_state=SEED),
}
RULES = {"possible": ["fixed age, sex"], "impossible": ["fixed age, sex, late_payments, savings, housing", "within income:0.01",
         "fixed amount, months, job, education"]}  # fmt: skip
THREADS = (1, 2, 4)


def service(model: Any, X: Any, y: Any) -> bf.Explainer:
    """The explainer of a pipeline that ends with this model."""
    pipeline = loans.pipeline()
    if model is not None:
        pipeline.steps[-1] = ("model", model)
    return bf.Explainer(pipeline.fit(X, y), data=X)


def served(explainer: bf.Explainer, body: dict[str, Any], rules: list[str]) -> bf.Explanation:
    """What a service does for a request."""
    row = explainer.row(body)
    answer = explainer.explain(row, target="approved", constraints=rules, conflicts=False, progress=False).only
    json.dumps(answer.to_dict("brief"))
    return answer


def bodies(explainer: bf.Explainer, X: Any, rows: int) -> list[dict[str, Any]]:
    """The rejected rows that are asked about, as requests hold them."""
    rejected = X.iloc[explainer.unmet(X, "approved")].dropna().iloc[:rows]
    return [json.loads(rejected.iloc[[place]].to_json(orient="records"))[0] for place in range(len(rejected))]


def seconds(explainer: bf.Explainer, asked: Sequence[dict[str, Any]], rules: list[str]) -> dict[str, list[float]]:
    """How long the processor works for each request, by whether its row is possible. Others may use the machine, too."""
    found: dict[str, list[float]] = {"possible": [], "impossible": []}
    for body in asked:
        begin = time.process_time()
        answer = served(explainer, body, rules)
        found["possible" if answer.found else "impossible"].append(time.process_time() - begin)
    return found


def measure(smoke: bool) -> Iterator[Number]:
    """Each model, after one request of its kind; and the requests of several threads in a second."""
    X, y = loans.load()
    about = {"data": "loans"}
    for name, model in MODELS.items():
        explainer = service(model, X, y)
        asked = bodies(explainer, X, 3 if smoke else 100)
        for kind, rules in RULES.items():
            served(explainer, asked[0], rules)
            took = seconds(explainer, asked, rules)[kind]
            if took:
                yield Number(f"{name}, {kind}, {len(took)} rows", took, "s", about=about)
                yield Number(f"{name}, {kind}, 95 % within", [float(np.quantile(took, 0.95))], "s", about=about)
    explainer = service(None, X, y)
    asked = bodies(explainer, X, 3 if smoke else 100)
    for threads in THREADS:
        begin = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda body: served(explainer, body, RULES["possible"]), asked):
                pass
        yield Number(f"tree, {threads} threads", [len(asked) / (time.perf_counter() - begin)], "1/s", about=about)


if __name__ == "__main__":
    main({"served_rows": measure}, __doc__ or "")
