"""Means of several models: calibrated ensembles and votes of unlike members, read and proven."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.model.blended import Blended
from butfor.model.interpolated import ENDS_ARE_MIXED
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import labels, numbers
from tests.shorter import first, one_in

SMALL = {"n_estimators": 4, "max_depth": 2, "random_state": 0}
MEMBERS: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomForestClassifier(**SMALL),
    "boosting": lambda: GradientBoostingClassifier(**SMALL),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=4, max_depth=2, min_samples_leaf=3),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "weak": lambda: LogisticRegression(C=0.01),
    "strong": lambda: LogisticRegression(C=10.0),
    "network": lambda: MLPClassifier(4, max_iter=10, random_state=0),
    "calibrated": lambda: CalibratedClassifierCV(GradientBoostingClassifier(**SMALL), ensemble=False, cv=2),
}


def voting(*names: str, **given: Any) -> VotingClassifier:
    return VotingClassifier([(name, MEMBERS[name]()) for name in names], **{"voting": "soft", **given})


MODELS: dict[str, Callable[[], Any]] = {
    "sigmoid forests": lambda: CalibratedClassifierCV(MEMBERS["forest"](), cv=3),
    "isotonic forests": lambda: CalibratedClassifierCV(MEMBERS["forest"](), method="isotonic", cv=3),
    "isotonic lines": lambda: CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=2),
    "sigmoid lines": lambda: CalibratedClassifierCV(LogisticRegression(), cv=3),
    "isotonic boosting": lambda: CalibratedClassifierCV(MEMBERS["boosting"](), method="isotonic", cv=2),
    "forest and boosting": lambda: voting("forest", "boosting"),
    "weighted": lambda: voting("forest", "boosting", "histogram", weights=[3, 1, 2]),
    "one weight is zero": lambda: voting("forest", "boosting", "histogram", weights=[1, 0, 2]),
    "with a calibrated one": lambda: voting("forest", "calibrated", "tree"),
    "lines": lambda: voting("weak", "strong"),
    "hard": lambda: voting("forest", "boosting", "tree", voting="hard"),
    "hard and tied": lambda: voting("forest", "boosting", voting="hard"),
    "hard and weighted": lambda: voting("forest", "boosting", "tree", voting="hard", weights=[0.3, 0.3, 0.6]),
    "hard lines": lambda: voting("weak", "strong", voting="hard"),
    "forest and line": lambda: voting("forest", "weak"),
    "forest, boosting and line": lambda: voting("forest", "boosting", "strong"),
    "weighted with a line": lambda: voting("strong", "forest", "boosting", weights=[2, 1, 1]),
    "boosting and lines": lambda: voting("weak", "boosting", "strong"),
    "a vote of means": lambda: VotingClassifier(
        [("mean", CalibratedClassifierCV(MEMBERS["boosting"](), cv=2)), ("line", MEMBERS["weak"]())], voting="soft"
    ),
    "a bag of boosting": lambda: BaggingClassifier(MEMBERS["boosting"](), 3, random_state=0),
    "a bag of lines, each over some columns": lambda: BaggingClassifier(
        make_pipeline(StandardScaler(), MEMBERS["strong"]()), 3, max_features=2, random_state=0
    ),
    "a bag of means": lambda: BaggingClassifier(CalibratedClassifierCV(MEMBERS["forest"](), cv=2), 2, random_state=0),
    "a bag of votes": lambda: BaggingClassifier(LinearSVC(), 3, random_state=0),
    "calibrated ones and a line": lambda: voting("calibrated", "weak"),
    "hard with a line": lambda: voting("forest", "strong", "tree", voting="hard"),
    "hard with lines": lambda: voting("weak", "boosting", "strong", voting="hard", weights=[1, 1, 2]),
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_the_estimator(name) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = StandardScaler().fit_transform(numbers(rng))
        assert isinstance(check_importer(MODELS[name]().fit(X, labels(rng, X, 2)), X, rng).readout, Blended)


class TestVotes(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X = numbers(rng)
        return MODELS["forest and boosting"]().fit(X, labels(rng, X, 2)), X


class TestVotesWithLines(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X = StandardScaler().fit_transform(numbers(rng))
        return MODELS["boosting and lines"]().fit(X, labels(rng, X, 2)), X


def small(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Few rows of small whole numbers, all of which can be tried."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 4, size=(60, 3)), columns=list("abc"))
    return X, (X["a"] + X["b"] - X["c"] + rng.normal(size=60) > 1.5).astype(int).to_numpy()


@pytest.mark.parametrize("starts", first(1, [range(1), range(1, 3)]), ids=str)
@pytest.mark.parametrize("name", one_in(2, MODELS))
@pytest.mark.shorter(1)
def test_answers_are_the_cheapest_of_all(name, starts) -> None:
    """Every row is tried with the estimator: for the other class, and for probabilities that some row has."""
    X, y = small(1)
    model = MODELS[name]().fit(X, y)
    every = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))
    explainer = bf.Explainer(model, X)
    said = model.predict(every)
    for start in starts:
        row = X.iloc[[start]]
        cost = (np.abs(every - row.to_numpy()) / 3).sum(axis=1).to_numpy()
        wanted = [(bf.other(), said != model.predict(row)[0])]
        if hasattr(model, "predict_proba"):
            given = model.predict_proba(every)
            some = np.unique(given[given > 0])[:: max(1, len(given) // 4)]
            wanted += [(bf.probability(label, p), given[:, label] >= p) for label, p in product((0, 1), some)]
        for target, met in wanted:
            answer = explainer.explain(row, target=target, cost=bf.L1(scale="range"))
            best = cost[met].min(initial=np.inf)
            assert answer.cost == pytest.approx(best, abs=1e-6), (start, target)
            assert answer.certificate.bound <= best + 1e-6
            assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


@pytest.mark.long
@pytest.mark.parametrize("name", ["forest and line", "forest, boosting and line", "boosting and lines"])
def test_numbers_inside_wide_cells(name) -> None:
    """One column of many whole numbers, and one of real numbers, which are tried close together."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.integers(0, 2000, 80), "b": rng.uniform(0, 3, 80)})
    y = (X["a"] / 1000 + X["b"] + rng.normal(scale=0.5, size=80) > 2.5).astype(int)
    model = make_pipeline(StandardScaler(), MODELS[name]()).fit(X, y)
    a, b = np.meshgrid(np.arange(2000), np.linspace(X["b"].min(), X["b"].max(), 301))
    every = pd.DataFrame({"a": a.ravel(), "b": b.ravel()})
    given, apart = model.predict_proba(every)[:, 1], (X.max() - X.min()).to_numpy()
    explainer = bf.Explainer(model, X)
    for start, p in product(range(2), (0.4, 0.55, 0.7)):
        row = X.iloc[[start]]
        answer = explainer.explain(row, target=bf.probability(1, p), cost=bf.L1(scale="range"), time_limit=60)
        cost = (np.abs(every - row.to_numpy()) / apart).sum(axis=1).to_numpy()
        best = cost[given >= p].min(initial=np.inf)
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert best - 1 / 300 <= answer.cost <= best + 1e-6
        assert answer.certificate.bound <= best + 1e-6


REGRESSORS: dict[str, Callable[[], Any]] = {
    "forest and line": lambda: [("a", RandomForestRegressor(**SMALL)), ("b", Ridge())],
    "boosting, lines and a tree": lambda: [
        ("a", GradientBoostingRegressor(**SMALL)),
        ("b", Ridge()),
        ("c", DecisionTreeRegressor(max_depth=2, random_state=0)),
        ("d", make_pipeline(StandardScaler(), Ridge(10.0))),
    ],
    "lines": lambda: [("a", Ridge()), ("b", Ridge(100.0))],
    "a mean in a mean": lambda: [("a", RandomForestRegressor(**SMALL)), ("b", VotingRegressor([("c", Ridge())]))],
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("weights", [None, "given"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_means_of_regressors(name, weights) -> None:
    members = REGRESSORS[name]()
    every_row_is_tried(VotingRegressor(members, weights=[3, 1, 2, 1][: len(members)] if weights else None))


@pytest.mark.parametrize("member", [Ridge(), GradientBoostingRegressor(**SMALL)], ids=lambda one: type(one).__name__)
def test_bags_of_regressors(member) -> None:
    every_row_is_tried(BaggingRegressor(member, 3, max_features=2, random_state=0))


def every_row_is_tried(model: Any) -> None:
    """Answers to questions about values are the cheapest of all rows."""
    X, y = small(4)
    model.fit(X, X["a"] + X["b"] * X["c"] + y)
    rng = np.random.default_rng(0)
    assert check_importer(model, X, rng).readout.link == "identity"
    every = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))
    explainer, given = bf.Explainer(model, X), model.predict(every)
    for start, aim in product(range(3), np.quantile(given, (0.1, 0.6, 0.9), method="nearest")):
        row = X.iloc[[start]]
        cost = (np.abs(every - row.to_numpy()) / 3).sum(axis=1).to_numpy()
        now = float(model.predict(row)[0])
        for target, met in (
            (bf.value(at_least=aim), given >= aim),
            (bf.value(at_most=aim), given <= aim),
            (bf.relative_change(0.1), given >= now + 0.1 * abs(now)),
        ):
            answer = explainer.explain(row, target=target, cost=bf.L1(scale="range"))
            assert answer.cost == pytest.approx(cost[met].min(initial=np.inf), abs=1e-6)
            assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


def test_costs_of_classes_and_further_answers() -> None:
    X, y = small(2)
    explainer = bf.Explainer(MODELS["forest and boosting"]().fit(X, y), X)
    now = explainer.model.predict(X.iloc[[0]])[0]
    plain = explainer.explain(X.iloc[[0]], target=1 - now)
    priced = explainer.explain(X.iloc[[0]], target={1 - now: 0.25})
    assert priced.cost == pytest.approx(plain.cost + 0.25)
    several = explainer.explain(X.iloc[[0]], target=1 - now, k=3)
    assert [answer.cost for answer in several] == sorted(answer.cost for answer in several)
    assert len(list(several)) > 1


@pytest.mark.long
def test_time_is_kept_and_what_is_known_is_told() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X.sum(axis=1) > 0).astype(int)
    model = CalibratedClassifierCV(RandomForestClassifier(30, random_state=0), method="isotonic", cv=3).fit(X, y)
    answer = bf.Explainer(model, X).explain(X[[0]], time_limit=3)
    assert answer.found
    assert 0 <= answer.certificate.bound <= answer.cost


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "unlike kinds": (lambda: voting("forest", "network"), "different kinds (Network, Trees)"),
    "several classes": (lambda: voting("forest", "boosting"), "classifiers of two classes"),
    "a bag of networks": (lambda: BaggingClassifier(MEMBERS["network"](), 2), "different kinds (Network)"),
    "weights below zero": (lambda: voting("forest", "boosting", weights=[-1, 2]), "weights [-1.0, 2.0]"),
    "weights of zero": (lambda: voting("forest", "boosting", weights=[0, 0]), "weights"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_by_name(name) -> None:
    make, reason = REFUSED[name]
    X, y = small(0)
    y = X["a"].to_numpy() if name == "several classes" else y
    model = make()
    if name == "weights of zero":
        model.set_params(weights=[1, 1]).fit(X, y).set_params(weights=[0, 0])
    else:
        model.fit(X, y)
    assert reason in why_unread(model, X)


@pytest.mark.filterwarnings("ignore")
def test_a_vote_of_unlike_kinds_is_searched() -> None:
    X, y = small(0)
    X = X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)  # too many rows to ask about each
    model = make_pipeline(StandardScaler(), voting("forest", "network")).fit(X, y)
    answer = bf.Explainer(model, X).explain(X.iloc[[0]])
    assert answer.certificate.status is bf.Status.VALID
    assert "different kinds" in answer.certificate.solver


class TestMembersThatDoNotFit:
    """Members that were exchanged after the fit, or frozen before it."""

    @staticmethod
    def vote(**given: Any) -> tuple[Any, pd.DataFrame, np.ndarray]:
        X, y = small(5)
        return voting("weak", "boosting", **given).fit(X, y), X, y

    @pytest.mark.parametrize("member", ["weak", "forest", "boosting"])
    @pytest.mark.parametrize("named", [["a", "b"], ["c", "b", "a"], ["a", "b", "c", "d"]])
    def test_other_columns(self, member, named) -> None:
        model, X, y = self.vote()
        model.estimators_[1] = MEMBERS[member]().fit(X.assign(d=1)[named], y)
        with pytest.raises(
            bf.errors.InputError, match=r"VotingClassifier refuses these rows|was fitted on \d columns, and gets 3"
        ):
            bf.Explainer(model, X).explain(X.iloc[[0]])

    def test_fewer_columns_of_an_array(self) -> None:
        X, y = small(5)
        model = voting("boosting", "weak").fit(X.to_numpy(), y)
        model.estimators_[1] = MEMBERS["weak"]().fit(X[["a", "b"]].to_numpy(), y)
        with pytest.raises(bf.errors.InputError, match="fitted on 2 columns, and gets 3"):
            bf.Explainer(model, X.to_numpy())

    @pytest.mark.parametrize("weights", [[1, -1], [0, 0], [-1, 3]])
    @pytest.mark.parametrize("how", ["soft", "hard"])
    def test_weights_that_are_none(self, weights, how) -> None:
        model, X, _ = self.vote(voting=how)
        model.weights = weights
        assert f"has the weights {[float(w) for w in weights]}" in why_unread(model, X)

    def test_frozen_members_with_other_names_of_the_classes(self) -> None:
        """A soft vote adds up probabilities by their position, whatever they are called."""
        frozen = pytest.importorskip("sklearn.frozen")
        X, y = small(5)
        other = frozen.FrozenEstimator(MEMBERS["boosting"]().fit(X, np.array(["x", "w"])[y]))
        model = VotingClassifier([("a", MEMBERS["weak"]()), ("b", other)], voting="soft").fit(X, y)
        assert isinstance(check_importer(model, X).readout, Blended)

    def test_a_vote_by_label_of_a_member_with_the_classes_in_another_order(self) -> None:
        frozen = pytest.importorskip("sklearn.frozen")
        X, y = small(5)
        other = frozen.FrozenEstimator(MEMBERS["boosting"]().fit(X, y))
        model = VotingClassifier([("a", MEMBERS["weak"]()), ("b", other)], voting="hard").fit(X, y)
        other.estimator.classes_ = np.array([1, 0])
        assert "knows the classes [1, 0]" in why_unread(model, X)


def test_a_row_on_the_side_of_a_box_tells_nothing_of_other_rows() -> None:
    """The given row lies on the side of a box of sums, and is refused for its class. The box was then taken for empty."""
    X = pd.DataFrame({"a": [0, 3, 2]})
    members = [("line", LogisticRegression(C=10.0)), ("forest", RandomForestClassifier(n_estimators=1, random_state=0))]
    model = VotingClassifier(members, voting="hard", weights=[1, 0]).fit(X, [1, 0, 0])
    answer = bf.Explainer(model, X).explain(X.iloc[[2]], target={1: 0.2}, cost=bf.L1()).only
    assert model.predict(X).tolist() == [1, 0, 0]
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx(0.2 + 2 / 3)


def test_a_box_in_which_a_vote_asks_for_no_sum() -> None:
    """Two voters that may tie reach the mean in a whole box, as far as sums tell: the fuzzer found an error there."""
    X = pd.DataFrame({"a": [1, 2, 1, 4, 3, 4, 1], "b": [3.0, 3.0, 1.0, 5.0, 6.0, 8.0, 4.0]})
    y = ["yes", "yes", "yes", "no", "no", "no", "yes"]
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    model = VotingClassifier([("line", LogisticRegression()), ("forest", forest)], voting="hard").fit(X, y)
    explainer = bf.Explainer(model, data=X, space={"a": bf.Integer(1.0, 6.0)})
    answer = explainer.explain(X.iloc[[5]], target={"no": 1.0, "yes": 0.0}, cost=bf.L1()).only
    every = pd.DataFrame(list(product(range(1, 7), np.arange(1, 8.5, 0.25))), columns=["a", "b"])
    yes = every[model.predict(every) == "yes"]
    least = ((yes["a"] - 4).abs() / 5 + (yes["b"] - 8).abs() / 7).min()
    assert answer.certificate.bound <= answer.cost <= least + 1e-9


def test_a_tie_on_level_ground_is_decided_once() -> None:
    """Two isotonic calibrators say 1/2 each of many rows. The estimator refuses one of them, and so all that have no more.

    From SciPy 1.18 on, level ground is rounded, too. So a refused tie may be an answer beside other rows, and is told.
    """
    ties = 0
    for seed in (10, 31):
        rng = np.random.default_rng(seed)
        fitted = pd.DataFrame(rng.uniform(0.0, 8.0, size=(24, 2)), columns=["a", "b"])  # no whole numbers lie on a knot
        y = (fitted["a"] + fitted["b"] + rng.normal(scale=4.0, size=24) > 8).astype(int)
        model = CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=2).fit(fitted, y)
        every = pd.DataFrame(list(product(range(9), repeat=2)), columns=["a", "b"])
        said, yes = model.predict_proba(every)[:, 1], every[model.predict(every) == 1]
        rows = every[model.predict(every) == 0].iloc[::9]
        explainer = bf.Explainer(model, data=every)
        for answer, row in zip(explainer.explain(rows, target=1, cost=bf.L1()), rows.to_numpy(), strict=True):
            cost = np.abs(every - row).sum(axis=1) / 8
            best = cost[yes.index].min()
            tied = (said == 0.5) & (cost < best - 1e-9)
            ties += bool(tied.any())
            proven = cost[tied].min() if ENDS_ARE_MIXED and tied.any() else best
            assert (answer.certificate.status is bf.Status.PROVEN_OPTIMAL) is bool(proven == best)
            assert answer.cost == pytest.approx(best, abs=1e-6)
            assert answer.certificate.bound == pytest.approx(proven, abs=1e-6)
    assert ties > 4
