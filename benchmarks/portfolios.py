"""Portfolios, from Parquet to Parquet: rows a second end to end, the memory of up to a million rows, and what Dask adds.

Each is measured in a process of its own, which starts two more: what starting them takes is part of the time. A cluster of
Dask stands before the clock runs, as it does where there is one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.data import adult, pipeline
from benchmarks.harness import ROOT, SEED, Number, main, seconds

ROWS_A_SECOND = 10_000.0
"""The limit for a tree of depth 12."""

SHARE_OF_SOLVER = 0.9
"""The limit for a forest: so much of what the solver itself does in a second, times the processes."""

MEGABYTES = 600.0
"""The limit of the memory of a process."""

DASK_LIMIT = 1.1
"""How many times as long as our own processes Dask may take on one machine."""

PROCESSES, ROWS_PER_PART = 2, 1000

SCRIPT = """
import json, resource, sys, time
import butfor as bf
from benchmarks.portfolios import asked, explainer_of

if __name__ == "__main__":
    rows, out, kind, engine, smoke, per_part = sys.argv[1:]
    explainer = explainer_of(kind, smoke == "True")
    more = {"n_jobs": 2}
    if engine == "dask":
        from dask.distributed import Client, LocalCluster
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        more = {"client": Client(cluster)}
    begin = time.perf_counter()
    made = explainer.portfolio(rows, out, **asked(), rows_per_part=int(per_part), progress=False, **more)
    seconds = time.perf_counter() - begin
    if engine == "dask":
        more["client"].close()
        cluster.close()
    reached = made.reached
    who = {"driver": resource.RUSAGE_SELF, "worker": resource.RUSAGE_CHILDREN}
    memory = {name: resource.getrusage(one).ru_maxrss / 1024 for name, one in who.items()}
    print(json.dumps({"seconds": seconds, "rows": reached.done, "proven": reached.proven, **memory}))
"""


def asked() -> dict[str, Any]:
    """The question."""
    return {"target": "other", "constraints": ["fixed sex, race, native_country"], "conflicts": False}


def explainer_of(kind: str, smoke: bool) -> bf.Explainer:
    """The explainer of a kind of model on Adult."""
    X, y, _ = adult(smoke)
    tree = DecisionTreeClassifier(max_depth=12, random_state=SEED)
    model = tree if kind == "tree" else RandomForestClassifier(5 if smoke else 100, max_depth=5, random_state=SEED)
    return bf.Explainer(pipeline(X, model).fit(X, y), X)


def ran(rows: Path, kind: str, engine: str, smoke: bool, per_part: int = ROWS_PER_PART) -> dict[str, Any]:
    """What one portfolio took, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        words = [str(rows), f"{folder}/out", kind, engine, str(smoke), str(per_part)]
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *words], cwd=ROOT, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(smoke: bool) -> Iterator[Number]:
    """The tree on up to a million rows, the forest against its solver, and Dask against our own processes."""
    X, _, data = adult(smoke)
    sizes, repeats = ((200,), 1) if smoke else ((10_000, 100_000, 1_000_000), 3)
    about = {"data": data, "processes": PROCESSES, "rows_per_part": ROWS_PER_PART}
    with tempfile.TemporaryDirectory() as folder:

        def table(size: int) -> Path:
            """A file with so many rows, which is written once."""
            path = Path(folder) / f"{size}.parquet"
            if not path.exists():
                X.iloc[[k % len(X) for k in range(size)]].to_parquet(path, index=False, row_group_size=100_000)
            return path

        for size in sizes:
            runs = [ran(table(size), "tree", "pool", smoke) for _ in range(repeats if size < 1_000_000 else 1)]
            own = {**about, "rows": size, "proven": min(run["proven"] for run in runs)}
            speeds = [run["rows"] / run["seconds"] for run in runs]
            yield Number(f"tree of depth 12, {size:,} rows, end to end", speeds, "1/s", {"limit": ROWS_A_SECOND}, own)
            for who in ("driver", "worker"):
                memory = [run[who] for run in runs]
                yield Number(
                    f"tree of depth 12, {size:,} rows, memory of a {who}", memory, "MB", {"limit": MEGABYTES}, own
                )
        turns = [
            [ran(table(sizes[-1] // 10), "tree", engine, smoke) for engine in ("pool", "dask")] for _ in range(repeats)
        ]
        pool, dask = zip(*turns, strict=True)
        ours = sorted(run["seconds"] for run in pool)[len(pool) // 2]
        limits = {"our own processes": ours, "limit": DASK_LIMIT * ours}
        yield Number(
            "tree of depth 12, by Dask",
            [run["seconds"] for run in dask],
            "s",
            limits,
            {**about, "rows": sizes[-1] // 10},
        )
        yield from _forest(table, about, smoke, repeats)


def _forest(table: Any, about: dict[str, Any], smoke: bool, repeats: int) -> Iterator[Number]:
    """A forest of 100 trees of depth 5, against its solver alone in one process."""
    size, some = (20, 10) if smoke else (20_000, 1000)
    explainer, (X, _, _) = explainer_of("forest", smoke), adult(smoke)
    alone = seconds(lambda: explainer.explain(X[:some], **asked()), repeats)
    solver = some / sorted(alone)[len(alone) // 2]
    runs = [ran(table(size), "forest", "pool", smoke, 200) for _ in range(repeats)]
    speeds = [run["rows"] / run["seconds"] for run in runs]
    against = {
        "its solver alone, times the processes": PROCESSES * solver,
        "limit": SHARE_OF_SOLVER * PROCESSES * solver,
    }
    proven = min(run["proven"] for run in runs)
    yield Number(
        "forest 100 x 5, end to end",
        speeds,
        "1/s",
        against,
        {**about, "rows": size, "rows_per_part": 200, "proven": proven},
    )


if __name__ == "__main__":
    main({"portfolios": measure}, __doc__ or "")
