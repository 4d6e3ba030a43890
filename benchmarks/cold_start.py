"""The first explanation after an installation, when every loop is still to be compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from benchmarks.harness import Number, fresh, main

LIMITS = {"tree": 3.0, "linear": 1.5, "swarm": 3.0, "forest": 12.0}
"""What is made and explained, and how many seconds it may take."""

CODE = """
import os, sys, time
os.environ["NUMBA_CACHE_DIR"] = sys.argv[2]
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "linear": LogisticRegression(max_iter=10_000),
    "swarm": LogisticRegression(max_iter=10_000),
    "forest": RandomForestClassifier(50, max_depth=4, random_state=0),
}[sys.argv[1]].fit(X, y)
begin, used = time.perf_counter(), time.process_time()
import butfor as bf
if sys.argv[1] == "swarm":
    model = bf.black_box(model.predict_proba, classes=[0, 1])
answer = bf.Explainer(model, data=X).explain(X.iloc[[0]])
assert answer.found
print(time.perf_counter() - begin, time.process_time() - used)
"""


def measure(smoke: bool) -> Iterator[Number]:
    """From `import butfor` to the answer, in a process with a fitted model and an empty cache.

    The processor time is that of this process alone, which others on the machine hardly change.
    """
    for kind in ("linear",) if smoke else tuple(LIMITS):
        runs = [_once(kind) for _ in range(1 if smoke else 3)]
        waited, used = zip(*runs, strict=True)
        yield Number(f"{kind}, empty cache", waited, "s", {"limit": LIMITS[kind]}, {"data": "breast cancer"})
        yield Number(f"{kind}, empty cache, processor time", used, "s", {}, {"data": "breast cancer"})


def _once(kind: str) -> list[float]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        return fresh(CODE, kind, place)[1]


if __name__ == "__main__":
    main({"cold_start": measure}, __doc__ or "")
