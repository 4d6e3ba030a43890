"""The rivals at work; runs in their own environment, and imports neither butfor nor the rest of the benchmarks.

`python rival_worker.py JOB` reads a job (joblib) and prints a JSON line an answer, and one with the versions first.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import joblib
import numpy as np
import pandas as pd


class OutOfTimeError(Exception):
    """The alarm rang."""


def main(job: dict[str, Any]) -> None:
    """Every rival that is asked for, on every row."""
    warnings.simplefilter("ignore")
    packages = ("scikit-learn", "oceanpy", "ortools", "dice-ml", "numpy", "pandas")
    say({"versions": {"python": sys.version.split()[0], **{name: version(name) for name in packages}}})
    for rival in job["rivals"]:
        try:
            with contextlib.redirect_stdout(sys.stderr):
                answer = RIVALS[rival](job)
        except Exception:
            say({"rival": rival, "status": "ERROR", "why": traceback.format_exc(limit=-1)})
            continue
        begin = time.perf_counter()
        for row in range(len(job["rows"])):
            say({"rival": rival, "row": row, **timed(answer, row, job["limit"])})
            if time.perf_counter() - begin > job["patience"]:
                break


def say(line: dict[str, Any]) -> None:
    """A line to who asked."""
    print(json.dumps(line), file=sys.__stdout__, flush=True)


def timed(answer: Callable[[int], dict[str, Any]], row: int, limit: float) -> dict[str, Any]:
    """One answer and its seconds; the alarm ends what does not end by itself a little after the limit."""
    signal.alarm(int(limit) + 5)
    begin, used = time.perf_counter(), time.process_time()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found = answer(row)
    except OutOfTimeError:
        found = {"status": "OUT_OF_TIME"}
    except Exception:
        found = {"status": "ERROR", "why": traceback.format_exc(limit=-1)}
    finally:
        signal.alarm(0)
    return {"seconds": time.perf_counter() - begin, "processor_seconds": time.process_time() - used, **found}


def ring(*_: Any) -> None:
    """The alarm."""
    raise OutOfTimeError


def ocean(job: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    """OCEAN's constraint programme (CP-SAT, two threads), over the same forest with its numbers scaled by range.

    OCEAN prices a number by its plain difference, so it is given columns of range 1 and thresholds to match: then its L1
    is the default cost. The point it answers with is not looked at, as it is rounded; its objective is.
    """
    from ocean import ConstraintProgrammingExplainer
    from ocean.abc import Mapper
    from ocean.feature import Feature

    columns = job["columns"]
    features = dict.fromkeys(name for name, _, _, _ in columns)
    for name, kind, _, _ in columns:
        if kind == "level":
            codes = [code for other, _, code, _ in columns if other == name]
            features[name] = Feature(Feature.Type.ONE_HOT_ENCODED, codes=codes)
        elif kind == "binary":
            features[name] = Feature(Feature.Type.BINARY)
        else:
            features[name] = Feature(Feature.Type.CONTINUOUS, levels=(-1.0, 1.0))
    low = np.array([low if kind == "number" else 0.0 for _, kind, low, _ in columns])
    width = np.array([width if kind == "number" else 1.0 for _, kind, _, width in columns])
    shift = np.array([0.5 if kind == "number" else 0.0 for _, kind, _, _ in columns])
    if any(kind == "level" for _, kind, _, _ in columns):
        index = pd.MultiIndex.from_tuples([(name, code if kind == "level" else "") for name, kind, code, _ in columns])
    else:
        index = pd.Index([name for name, _, _, _ in columns])
    forest = copy.deepcopy(job["model"][-1])
    for tree in forest.estimators_:
        nodes = tree.tree_
        j = nodes.feature
        inner = j >= 0
        nodes.threshold[inner] = (nodes.threshold[inner] - low[j[inner]]) / width[j[inner]] - shift[j[inner]]
    explainer = ConstraintProgrammingExplainer(forest, mapper=Mapper(features, columns=index))
    points = (job["encoded"] - low) / width - shift

    def answer(row: int) -> dict[str, Any]:
        found = explainer.explain(points[row], y=1, norm=1, max_time=int(job["limit"]), num_workers=2)
        status = explainer.get_solving_status()
        bound = explainer.solver.BestObjectiveBound() / explainer._obj_scale
        cost = explainer.get_objective_value() if found is not None else None
        return {"status": status, "cost": cost, "bound": bound}

    return answer


def dice(method: str) -> Callable[[dict[str, Any]], Callable[[int], dict[str, Any]]]:
    """DiCE with one of its methods: as many answers a row as are wanted, as raw rows, after its own sparsifying."""

    def prepare(job: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
        import dice_ml

        X = job["X"]
        numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]
        data = dice_ml.Data(dataframe=X.assign(target_=job["y"]), continuous_features=numbers, outcome_name="target_")
        explainer = dice_ml.Dice(data, dice_ml.Model(model=job["model"], backend="sklearn"), method=method)

        def answer(row: int) -> dict[str, Any]:
            more = {"random_seed": job["seed"]} if method == "random" else {}
            found = explainer.generate_counterfactuals(
                job["rows"].iloc[[row]], total_CFs=job["answers"], desired_class=1, verbose=False, **more
            ).cf_examples_list[0]
            points = found.final_cfs_df if found.final_cfs_df_sparse is None else found.final_cfs_df_sparse
            points = [] if points is None else points[list(X)].astype(object).to_numpy().tolist()
            return {"status": "FOUND" if points else "NOT_FOUND", "points": list(plain(points))}

        return answer

    return prepare


def plain(points: list[list[Any]]) -> Iterator[list[Any]]:
    """The points in what JSON knows."""
    for point in points:
        yield [value if isinstance(value, str) else float(value) for value in point]


RIVALS = {"ocean": ocean} | {f"dice_{method}": dice(method) for method in ("random", "genetic", "kdtree")}

if __name__ == "__main__":
    signal.signal(signal.SIGALRM, ring)
    asked = joblib.load(sys.argv[1])
    random.seed(asked["seed"])  # DiCE draws from both global generators
    np.random.seed(asked["seed"])  # noqa: NPY002
    main(asked)
