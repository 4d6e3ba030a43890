"""Additive models of German Credit: boosted stumps, explainable boosting, pygam, and a scorecard beside optbinning's own search.

Each is asked as it is read, and by the swarm, which gets as long. optbinning's search gets its own question: bins as levels,
prices in weights of evidence, any number of changes. Libraries that are not installed are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import butfor as bf
from benchmarks.harness import SEED, Number, main, seconds
from benchmarks.ratios import table

FASTER = 20.0
"""How many times faster than optbinning's own search we want to be."""


def stumps(X: pd.DataFrame, y: pd.Series[Any], trees: int) -> Any:
    words = list(X.select_dtypes(exclude="number"))
    encoder = make_column_transformer((OrdinalEncoder(), words), remainder="passthrough")
    boosting = GradientBoostingClassifier(n_estimators=trees, max_depth=1, random_state=SEED)
    return make_pipeline(encoder, boosting).fit(X, y)


def machine(X: pd.DataFrame, y: pd.Series[Any], trees: int, pairs: int | str) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(
        max_rounds=10 * trees, interactions=pairs, outer_bags=4, n_jobs=1, random_state=SEED
    ).fit(X, y)


def gam(X: pd.DataFrame, y: pd.Series[Any], _: int) -> Any:
    from pygam import LogisticGAM

    return LogisticGAM().fit(X.to_numpy(float), y)


MODELS: dict[str, tuple[str, Callable[[Any, Any, int], Any]]] = {
    "boosted stumps": ("sklearn", stumps),
    "explainable boosting without pairs": ("interpret", partial(machine, pairs=0)),
    "explainable boosting with pairs": ("interpret", partial(machine, pairs="3x")),
    "pygam, numbers only": ("pygam", gam),
}


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds a row: alone and together, beside the swarm or optbinning's search."""
    X, y, data, wanted = table(smoke)
    good = y == wanted
    trees, count = (5, 2) if smoke else (100, 20)
    for name, (library, fitted) in MODELS.items():
        if find_spec(library) is None:
            print(f"additive: {name} is left out: {library} is not installed", flush=True)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = X.select_dtypes("number").astype(float) if library == "pygam" else X
            yield from _beside_the_swarm(name, fitted(given, good, trees), given, count, {"data": data})
    if find_spec("optbinning") is None:
        print("additive: the scorecard is left out: optbinning is not installed", flush=True)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from _beside_optbinning(X, good.astype(int), count, {"data": data})


def _beside_the_swarm(name: str, model: Any, X: pd.DataFrame, count: int, about: dict[str, Any]) -> Iterator[Number]:
    inputs = X.to_numpy() if name.startswith("pygam") else X
    rows = X[~np.asarray(model.predict(inputs), dtype=bool)].iloc[:count]
    explainer = bf.Explainer(model, X)
    exact: list[Any] = []
    took = [one / len(rows) for one in seconds(lambda: exact.append(explainer.explain(rows, True)), 3)]
    found: list[Any] = []
    ask = partial(explainer.explain, rows, True, solver="swarm", seed=SEED)
    swarm = seconds(lambda: found.append(ask()), 1)[0] / len(rows)
    costs = np.array(
        [(one.cost, other.cost if other.found else np.inf) for one, other in zip(exact[-1], found[-1], strict=True)]
    )
    about = {
        **about, "rows": len(rows), "proven": sum(one.certificate.status.name == "PROVEN_OPTIMAL" for one in exact[-1]),
        "swarm: rows that cost more": int((costs[:, 1] > costs[:, 0] + 1e-6).sum()),
        "swarm: mean cost, of ours": float(costs[:, 1].mean() / costs[:, 0].mean()),
    }  # fmt: skip
    yield Number(f"{name}, a row of {len(rows)}", took, "s", {"the swarm": swarm}, about)


def _beside_optbinning(X: pd.DataFrame, y: pd.Series[Any], count: int, about: dict[str, Any]) -> Iterator[Number]:
    from optbinning import BinningProcess, Scorecard
    from optbinning.scorecard import Counterfactual

    X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), object))
    words = list(X.select_dtypes(exclude="number"))
    process = BinningProcess(list(X), categorical_variables=words, selection_criteria={"iv": {"min": 0.01}})
    card = Scorecard(process, LogisticRegression(max_iter=1000)).fit(X, y)
    rows = X[card.predict(X) == 0].iloc[:count]
    rival = Counterfactual(card).fit(X)
    explainer, question = _same_question(card, X)
    bins = _bins(card, rows)

    def generate(k: int) -> float:
        rival.generate(
            rows.iloc[[k]], y=1, outcome_type="binary", n_cf=1, objectives={"proximity": 1}, max_changes=X.shape[1],
            time_limit=60,
        )  # fmt: skip
        return float(rival._optimizer._objectives["proximity"].solution_value())

    theirs: list[float] = []
    alone: list[Any] = []
    rival_took = seconds(lambda: theirs.extend(generate(k) for k in range(len(rows))), 1)[0] / len(rows)
    took = seconds(lambda: alone.extend(explainer.explain(bins.iloc[[k]], **question) for k in range(len(rows))), 3)
    together: list[Any] = []
    batch = seconds(lambda: together.append(explainer.explain(bins, **question)), 3)
    pairs = np.array([(one.cost, other) for one, other in zip(together[-1], theirs[-len(rows) :], strict=True)])
    about = {
        **about, "rows": len(rows),
        "proven": sum(one.certificate.status.name == "PROVEN_OPTIMAL" for one in together[-1]),
        "cheaper than optbinning": int((pairs[:, 0] < pairs[:, 1] - 1e-6).sum()),
        "dearer than optbinning": int((pairs[:, 0] > pairs[:, 1] + 1e-6).sum()),
    }  # fmt: skip
    against = {"optbinning": rival_took, "goal": rival_took / FASTER}
    yield Number("scorecard, a row alone", [one / len(rows) for one in took], "s", against, about)
    yield Number(f"scorecard, a row of {len(rows)}", [one / len(rows) for one in batch], "s", against, about)


def _bins(card: Any, X: pd.DataFrame) -> pd.DataFrame:
    """The bins of some rows, as text."""
    return card.binning_process_.transform(X, metric="indices").astype(str).astype(object)


def _same_question(card: Any, X: pd.DataFrame) -> tuple[bf.Explainer, dict[str, Any]]:
    """optbinning's question: bins as levels, prices as differences of weights of evidence, in units of the range of points."""
    points, prices = {}, {}
    listed = card.table(style="detailed")
    for name in card.binning_process_.get_support(names=True):
        own = listed[listed["Variable"] == name]
        woe, weight = own["WoE"].to_numpy(float), float(own["Coefficient"].iloc[0])
        reach = np.ptp(woe * weight)
        known = range(len(woe) - 2)  # the last two are special codes and missing values
        points[name] = {str(k): woe[k] * weight for k in known}
        prices[name] = {(str(a), str(b)): abs(woe[a] - woe[b]) / reach for a in known for b in known if a != b}
    own_card = bf.Scorecard(points, base=float(np.ravel(card.estimator_.intercept_)[0]))
    explainer = bf.Explainer(own_card, _bins(card, X))
    return explainer, {"target": bf.value(at_least=1e-6), "cost": bf.Table(prices)}


if __name__ == "__main__":
    main({"additive": measure}, __doc__ or "")
