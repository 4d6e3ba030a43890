"""Scores: what the model says before and after, what is needed, and how far beyond it an answer stands."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.targets.score import Score
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, STUCK, X

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(200, 3))
LABELS = np.where(POINTS @ [1.0, -1.0, 0.5] > 0.2, "yes", "no")
FLOWERS, KINDS = load_iris(return_X_y=True)
PATIENTS, PROGRESS = load_diabetes(return_X_y=True)


def column(model, label: str) -> int:
    return list(model.classes_).index(label)


MODELS = {
    "logistic": LogisticRegression(),
    "forest": RandomForestClassifier(10, random_state=0),
    "calibrated": CalibratedClassifierCV(RandomForestClassifier(5, random_state=0), cv=2),
    "threshold": FixedThresholdClassifier(LogisticRegression(), threshold=0.7, response_method="predict_proba"),
    "threshold of the first": FixedThresholdClassifier(
        LogisticRegression(), threshold=0.7, response_method="predict_proba", pos_label="no"
    ),
}
NEEDED = {"threshold": 0.7, "threshold of the first": 0.3}


@pytest.mark.parametrize("kind", MODELS)
def test_the_score_is_the_estimators_own_probability(kind) -> None:
    model = MODELS[kind].fit(POINTS, LABELS)
    rows = POINTS[:20]
    answers = bf.Explainer(model, POINTS).explain(rows, target="yes")
    before = model.predict_proba(rows)[:, column(model, "yes")]
    after = model.predict_proba(answers.points)[:, column(model, "yes")]
    for score, was, now in zip(answers.scores, before, after, strict=True):
        assert score.of == "probability of yes"
        assert (score.before, score.after) == (was, now)
        assert score.threshold == pytest.approx(NEEDED.get(kind, 0.5))
        assert score.beyond == pytest.approx(now - NEEDED.get(kind, 0.5))
        assert score.beyond >= -1e-12


def test_the_score_of_an_impossible_answer_has_no_after() -> None:
    answer = EXPLAINER.explain(ROW, target="approved", constraints=STUCK)
    assert answer.score.before == MODEL.predict_proba(ROW)[0, column(MODEL, "approved")]
    assert answer.score.after is None
    assert answer.score.beyond is None
    assert str(answer.score) == "probability of approved 0.0357 (at least 0.5 needed)"


def test_of_several_classes_the_best_unwanted_one_is_needed() -> None:
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FLOWERS, KINDS)
    answers = bf.Explainer(model, FLOWERS).explain(FLOWERS[::10])
    labels = model.predict(answers.points)
    chances, before = model.predict_proba(answers.points), model.predict(FLOWERS[::10])
    for i, score in enumerate(answers.scores):
        assert score.of == f"probability of {labels[i]}"
        assert score.after == chances[i, labels[i]]
        assert score.threshold == chances[i, before[i]]


@pytest.mark.parametrize(
    ("target", "threshold", "up"),
    [
        (bf.value(at_least=250.0), 250.0, True),
        (bf.value(at_most=100.0), 100.0, False),
        (bf.value(160, 170), 170, False),
    ],
)
def test_values(target, threshold, up) -> None:
    model = LinearRegression().fit(PATIENTS, PROGRESS)
    score = bf.Explainer(model, PATIENTS).explain(PATIENTS[:1], target=target).score
    assert score.of == "predicted value"
    assert score.before == pytest.approx(model.predict(PATIENTS[:1])[0])
    assert (score.threshold, score.up) == (threshold, up)
    assert score.beyond == pytest.approx(0.0, abs=1e-6)


def test_a_relative_change_needs_a_value_of_its_own_per_row() -> None:
    model = LinearRegression().fit(PATIENTS, PROGRESS)
    answers = bf.Explainer(model, PATIENTS).explain(PATIENTS[:5], target=bf.relative_change(-0.1))
    assert [score.threshold for score in answers.scores] == pytest.approx(0.9 * model.predict(PATIENTS[:5]))


def test_a_decision_function_is_the_score_of_a_model_without_probabilities() -> None:
    model = RidgeClassifier().fit(POINTS, LABELS)
    explainer = bf.Explainer(model, POINTS)
    for label, sign in (("yes", 1.0), ("no", -1.0)):
        rows = POINTS[model.predict(POINTS) != label][:1]
        score = explainer.explain(rows, target=label).score
        assert score.of == f"decision function for {label}"
        assert score.before == sign * model.decision_function(rows)[0] < 0
        assert score.threshold == 0.0


def test_nothing_is_said_where_there_is_no_number() -> None:
    votes = VotingClassifier([("a", DecisionTreeClassifier(max_depth=2)), ("b", LogisticRegression())])
    answer = bf.Explainer(votes.fit(POINTS, LABELS), POINTS).explain(POINTS[:1])
    assert answer.score is None
    assert "score" not in json.loads(answer.to_json())
    assert "needed" not in repr(answer)


def test_no_threshold_is_said_where_labels_do_not_follow_probabilities() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = SVC(kernel="linear", probability=True, random_state=0).fit(POINTS, LABELS)
    score = bf.Explainer(model, POINTS).explain(POINTS[:1]).score
    assert score.of.startswith("probability of")
    assert score.threshold is None


def test_the_model_is_called_for_all_rows_at_once() -> None:
    calls = []

    def chances(rows):
        calls.append(len(rows))
        return 1 / (1 + np.exp(-rows[:, 0]))

    rows = POINTS[:40]
    model = bf.black_box(chances, classes=["no", "yes"])
    explainer = bf.Explainer(model, POINTS)
    answers = explainer.explain(rows, solver=bf.Swarm(particles=5, iterations=2))
    counted = len(calls)
    target, source = bf.other(), explainer._reading.source
    from butfor.estimator.prediction import Prediction

    target.scores(Prediction(source, rows), Prediction(source, rows))
    assert len(calls) - counted <= 4
    assert len(answers.scores) == 40


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", ["before", "after", "threshold", "of", "up"])
def test_a_changed_score_is_noticed(name) -> None:
    answer = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE).only
    changed = {"of": "probability of rejected", "up": False}.get(name, 0.123)
    from dataclasses import replace

    bent = replace(answer, score=replace(answer.score, **{name: changed}))
    result = bf.check(bent, MODEL)
    assert [check.name for check in result.checks if check.passed is False] == [f"its score: {bent.score}"]
    assert bf.check(bf.Explanation.from_json(answer.to_json()), MODEL).passed


def test_records_and_batches_keep_the_score() -> None:
    answers = EXPLAINER.explain(X.iloc[200:210], target="approved", constraints=POSSIBLE)
    assert list(bf.Explanations.from_jsonl(answers.to_jsonl()).scores) == list(answers.scores)
    assert list(bf.Explanations.from_json(answers.to_json()).scores) == list(answers.scores)
    assert [one.score for one in answers[:3]] == list(answers.scores)[:3]


def test_numbers_have_as_few_digits_as_tell_them_apart() -> None:
    assert str(Score("p", 0.1234567, 0.50004, 0.5)) == "p 0.123 → 0.50004 (at least 0.5 needed)"
    assert str(Score("p", 0.1, 0.5 + 1e-12, 0.5)) == "p 0.1 → 0.5 (at least 0.5 needed)"
    assert str(Score("days", 31_012.3, 40_000.0, 39_999.0)) == "days 31012 → 40000 (at least 39999 needed)"
