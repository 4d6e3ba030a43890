"""A target's sets of scores are the scores that are read as the target."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.model.readout import Argmax, Sign, Threshold
from butfor.model.scores import Softmax


@pytest.mark.parametrize("count", [2, 3, 5])
def test_argmax_sets_partition_the_scores(count) -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, (400, count)).astype(float)
    readout = Argmax(tuple(range(count)))
    chosen = readout.decide(scores)
    for label in range(count):
        inside = np.any([part.holds(scores) for part in readout.class_sets(label)], axis=0)
        assert (inside == (chosen == label)).all()
        outside = np.any([part.holds(scores) for part in readout.other_sets(label)], axis=0)
        assert (outside == (chosen != label)).all()


def test_sign_and_thresholds() -> None:
    scores = np.array([[-1.0], [0.0], [1e-300], [2.0]])
    sign = Sign(("no", "yes"), "logistic")
    assert sign.decide(scores).tolist() == [0, 0, 1, 1]
    thresholds = [(1, 0.75, "probability"), (0, 0.4, "probability"), (1, 0.5, "score")]
    for readout in (sign, *(Threshold(sign, *said) for said in thresholds)):
        chosen = readout.decide(scores)
        for label in (0, 1):
            inside = np.any([part.holds(scores) for part in readout.class_sets(label)], axis=0)
            assert (inside == (chosen == label)).all()


def test_logistic_probabilities() -> None:
    scores = np.linspace(-4, 4, 101)[:, None]
    p = 1 / (1 + np.exp(-scores[:, 0]))
    sign = Sign(("no", "yes"), "logistic")
    for label, said in ((1, p), (0, 1 - p)):
        for least in (0.2, 0.5, 0.83):
            (part,) = sign.probability_sets(label, least)
            clear = np.abs(said - least) > 1e-9
            assert (part.holds(scores) == (said >= least))[clear].all()
            (part,) = sign.probability_sets(label, least, below=True)
            assert (part.holds(scores) == (said <= least))[clear].all()


def test_softmax_set_and_its_tangents() -> None:
    rng = np.random.default_rng(1)
    curve = Softmax(1, 0.6)
    scores = rng.normal(size=(300, 4)) * 3
    soft = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    inside = np.array([curve.excess(s) <= 0 for s in scores])
    assert (inside == (soft[:, 1] >= 0.6)).all()
    for outside in scores[~inside][:50]:
        a, b = curve.tangent(outside)
        assert a @ outside < b
        assert (scores[inside] @ a >= b - 1e-9).all()


@pytest.mark.parametrize(
    "given", [["a", "c"], np.array(["a", "c"]), pd.Series(["a", "c"])], ids=["list", "array", "series"]
)
def test_a_collection_of_labels_is_a_target(given) -> None:
    X, y = np.arange(60.0)[:, None], np.repeat(["a", "b", "c"], 20)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    answer = bf.Explainer(model, X).explain(X[[30]], target=given).only
    assert model.predict(answer.point)[0] in ("a", "c")
