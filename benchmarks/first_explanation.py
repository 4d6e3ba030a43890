"""The first explanation in a fresh process, the kernels' cache being filled: at most 2 s."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import joblib

from benchmarks.data import adult, adult_tree
from benchmarks.harness import Number, fresh, main

CODE = """
import sys, time
import joblib
model, X, row = joblib.load(sys.argv[1])
begin = time.perf_counter()
import butfor as bf
explainer = bf.Explainer(model, data=X)
answer = explainer.explain(row)
assert answer.found and repr(answer)
print(time.perf_counter() - begin)
"""


def measure(smoke: bool) -> Iterator[Number]:
    """From `import butfor` to the printed answer in a process that has a model and a table; and the whole process."""
    X, y, data = adult(smoke)
    with tempfile.TemporaryDirectory() as place:
        path = str(Path(place) / "model.joblib")
        joblib.dump((adult_tree(X, y), X, X.iloc[[3]]), path)
        fresh(CODE, path)
        runs = [fresh(CODE, path) for _ in range(1 if smoke else 7)]
    inside, life = [times[0] for _, times in runs], [life for life, _ in runs]
    for name, times in (
        ("import, explainer, first explanation", inside),
        ("the same with starting Python and loading the model", life),
    ):
        yield Number(name, times, "s", {"limit": 2.0}, {"data": data})


if __name__ == "__main__":
    main({"first_explanation": measure}, __doc__ or "")
