"""Survival: `python -m benchmarks.survival` writes results/survival/*.jsonl, one JSON line a number."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from statistics import median
from typing import Any
from unittest import mock

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis

import butfor as bf
from benchmarks.harness import SEED, Number, main, seconds
from benchmarks.survival.data import cox_weibull, means
from benchmarks.throughput import rates
from butfor.arrays import FloatArray
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.importers.read import read
from butfor.model.questions import evaluate

S = bf.survival
ABOUT = {"scikit-survival": version("scikit-survival")}
LIMIT = 60.0


def forest(rows: int, columns: int, leaf: int, trees: int) -> tuple[RandomSurvivalForest, FloatArray]:
    """A survival forest on Cox-Weibull times."""
    X, y = cox_weibull(rows, columns, SEED)
    return RandomSurvivalForest(trees, min_samples_leaf=leaf, random_state=SEED, n_jobs=1).fit(X, y), X


def evaluator(smoke: bool) -> Iterator[Number]:
    """Mean and S(t0) of 2,000 rows: at least 20 times faster than through predict_survival_function; agreement to 1e-9."""
    for leaf in (3, 15):
        model, X = forest(100 if smoke else 1000, 20, leaf, 10 if smoke else 250)
        reading = read(model, X)
        some = np.random.default_rng(SEED).random((200 if smoke else 2000, 20))
        times = model.unique_times_
        middle = float(np.median(times))
        at = int(np.searchsorted(times, middle, side="right")) - 1
        before = Prediction(reading.source, X[:1])
        curves = model.predict_survival_function(some, return_array=True)
        theirs = seconds(lambda m=model, x=some: m.predict_survival_function(x, return_array=True), 1 if smoke else 5)
        for name, target, said in (
            ("mean", S.mean_gain(1.0), means(times, curves)),
            ("S(t0)", S.survival_at(middle, 0.5), curves[:, at]),
        ):
            focused = target.settled(reading.readout, before).focus(reading, before).model
            found = evaluate(focused, some)[:, 0]
            assert np.abs(found - said).max() <= 1e-9 * (1 + np.abs(said).max())
            ours = seconds(lambda model=focused, x=some: evaluate(model, x), 1 if smoke else 15)
            against = {"wish": median(theirs) / 20, "predict_survival_function": median(theirs)}
            about = {**ABOUT, "rows": len(some), "times": len(times), "trees": len(model.estimators_)}
            yield Number(f"{name}, min_samples_leaf {leaf}", ours, "s", against, about)


def cox(smoke: bool) -> Iterator[Number]:
    """Cox, L2, 100 columns: at least 20,000 explanations a second; one goal for all, and a goal for each row of its own.

    A gain asks the library for the survival functions of every row before and after: that share is measured apart.
    """
    X, y = cox_weibull(300 if smoke else 500, 100, SEED)
    model = make_pipeline(StandardScaler(), CoxPHSurvivalAnalysis(alpha=100.0)).fit(X, y)
    rows = np.clip(cox_weibull(50 if smoke else 5000, 100, SEED + 1)[0], X.min(axis=0), X.max(axis=0))
    explainer = bf.Explainer(model, data=X)
    now = means(model[-1].unique_times_, model.predict_survival_function(X, return_array=True))
    repeats, limit = 1 if smoke else 5, {"limit": 20_000.0}
    about = {**ABOUT, "rows": len(rows), "times": len(model[-1].unique_times_)}
    for name, target in (
        ("one mean for all", S.mean_at_least(float(np.quantile(now, 0.95)))),
        ("a gain for each", S.mean_gain(float(np.std(now)) / 10)),
    ):
        yield from rates(name, explainer, rows, repeats, limit, "generated", target=target, cost=bf.L2())
        whole, own = _processor(lambda target=target: explainer.explain(rows, target=target, cost=bf.L2()), repeats)
        for part, spent in (("whole path", whole), ("all but the library's predictions", own)):
            rate = [len(rows) / s for s in spent]
            yield Number(f"{name}, {part}, by the processor's seconds", rate, "1/s", limit, about)


def _processor(run: Callable[[], object], repeats: int) -> tuple[list[float], list[float]]:
    """The processor's seconds of a run, which other work changes little: all of them, and those not spent in the estimator."""
    ask, inside = Source.ask, [0.0]

    def timed(source: Source, method: str, table: Any) -> Any:
        begin = time.process_time()
        answer = ask(source, method, table)
        inside[0] += time.process_time() - begin
        return answer

    def once() -> tuple[float, float]:
        inside[0], begin = 0.0, time.process_time()
        run()
        whole = time.process_time() - begin
        return whole, whole - inside[0]

    with mock.patch.object(Source, "ask", timed):
        measured = [once() for _ in range(repeats)]
    return [whole for whole, _ in measured], [own for _, own in measured]


def exact(smoke: bool) -> Iterator[Number]:
    """A forest of 250 trees: the proof, or the certified gap after a minute; near and far goals."""
    cases = [(2, 3), (20, 40), (20, 15), (20, 3)]
    for columns, leaf in cases[::2] if smoke else cases:
        model, X = forest(100 if smoke else 1000, columns, leaf, 10 if smoke else 250)
        explainer = bf.Explainer(model, data=X, space={f"x{j}": bf.Continuous() for j in range(columns)})
        now = means(model.unique_times_, model.predict_survival_function(X, return_array=True))
        explainer.explain(X[:1], target=S.mean_gain(1.0), cost=bf.L2(scale="none"))
        for share in (0.1, 0.4):
            for row in range(1 if smoke else 3):
                target = S.mean_gain(share * float(now.max() - now[row]))
                yield _asked(explainer, X[[row]], target, f"d = {columns}, leaf {leaf}, {share:.0%}, row {row}")


def _asked(explainer: bf.Explainer, x: FloatArray, target: Any, name: str, **settings: Any) -> Number:
    begin = time.perf_counter()
    limit = settings.pop("time_limit", LIMIT)
    answer = explainer.explain(x, target=target, cost=bf.L2(scale="none"), time_limit=limit, **settings)
    about = {
        **ABOUT,
        "status": answer.certificate.status.name,
        "distance": float(np.sqrt(answer.cost)),
        "gap_in_distance": 1 - float(np.sqrt(max(answer.certificate.bound, 0.0) / answer.cost)) if answer.cost else 0.0,
    }
    return Number(name, [time.perf_counter() - begin], "s", {}, about, budget=f"{limit:g} s a row")


def swarm(smoke: bool) -> Iterator[Number]:
    """The paper's full budget, 2,000 particles for 1,000 rounds at d = 20: at most 90 s."""
    model, X = forest(100 if smoke else 1000, 20, 15, 10 if smoke else 250)
    explainer = bf.Explainer(model, data=X, space={f"x{j}": bf.Continuous() for j in range(20)})
    now = means(model.unique_times_, model.predict_survival_function(X, return_array=True))
    target = S.mean_gain(0.4 * float(now.max() - now[0]))
    search = bf.Swarm(particles=20 if smoke else 2000, iterations=10 if smoke else 1000)
    number = _asked(explainer, X[:1], target, "2,000 particles, 1,000 rounds", solver=search, time_limit=600.0)
    yield Number(number.name, number.samples, "s", {"limit": 90.0}, number.about, budget=number.budget)


if __name__ == "__main__":
    parts = {"evaluator": evaluator, "cox": cox, "exact": exact, "swarm": swarm}
    main({f"survival/{name}": part for name, part in parts.items()}, __doc__ or "")
