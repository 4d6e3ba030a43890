"""The closest row to an impossible question: an admissible one, as far as the estimator itself says that it gets."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.audit.recheck import check
from butfor.datasets import loans
from butfor.problem.constraints.relations import AtMost
from butfor.records.schema import sealed
from butfor.trees import TAOClassifier
from butfor.verdict.certificate import reason
from tests.shorter import first, one_in

X, Y = loans.load()
STUCK = [
    bf.fixed("sex", "age", "late_payments", "amount", "months", "job", "savings"),
    bf.only_up("education"),
    bf.within("income", 0.05),
]


def pipeline(last):
    steps = loans.pipeline().steps
    return type(loans.pipeline())([*steps[:-1], (steps[-1][0], last)]).fit(X, Y)


BOOSTED = pipeline(GradientBoostingClassifier(n_estimators=20, random_state=0))
EXPLAINER = bf.Explainer(BOOSTED, X)


def stuck(row: int = 206) -> bf.Explanation:
    return EXPLAINER.explain(X.iloc[[row]], target="approved", constraints=STUCK).only


def test_the_words_of_the_certificate_tell_how_far_the_closest_row_gets() -> None:
    answer = stuck()
    farthest = answer.certificate.evidence.farthest
    again = BOOSTED.predict_proba(answer.closest)[0, list(BOOSTED.classes_).index("approved")]
    assert farthest.closest == again
    assert answer.score.before <= farthest.closest <= farthest.reached + 1e-12 < farthest.needed
    assert f"the closest that was found has {again:.4g}" in answer.certificate.why
    assert f"{again:.4g}" in answer.to_html()
    assert "The closest row changes" in answer.to_html()
    assert str(answer).replace("\n", " ").count("the closest that was found") == 1
    assert answer.point is None
    assert answer.changes == ()


def test_a_row_with_an_answer_has_no_closest_one() -> None:
    answer = EXPLAINER.explain(X.iloc[[206]], target="approved").only
    assert answer.found
    assert answer.closest is None
    assert answer.certificate.evidence.farthest is None


def test_it_is_kept_in_every_kind_of_file() -> None:
    rows = X[BOOSTED.predict(X) == "rejected"].iloc[:6]
    answers = EXPLAINER.explain(rows, target="approved", constraints=STUCK)
    assert sum(one.closest is not None for one in answers) > 3
    for again in (bf.Explanations.from_json(answers.to_json()), bf.Explanations.from_jsonl(answers.to_jsonl())):
        assert again == answers
        for one, other in zip(again, answers, strict=True):
            assert (one.closest is None) == (other.closest is None)
            assert one.closest is None or one.closest.equals(other.closest)
        assert check(again, BOOSTED).passed


def changed(answer: bf.Explanation, **farthest: float) -> bf.Explanation:
    """The answer with another farthest, and words that agree with them: as somebody writes it who knows of all checks."""
    record = json.loads(answer.to_json())
    record["evidence"]["farthest"].update(farthest)
    record = sealed(record)
    lied = bf.Explanation.from_json(json.dumps(record))
    record["why"] = reason(lied.certificate, lied.question.target)
    return bf.Explanation.from_json(json.dumps(sealed(record)))


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    ("number", "by"), [("closest", 0.001), ("closest", -0.001), ("needed", 0.1), ("reached", -0.05)]
)
def test_no_number_can_be_changed_even_with_all_words(number, by) -> None:
    answer = stuck()
    assert check(changed(answer), BOOSTED).passed
    assert not check(
        changed(answer, **{number: getattr(answer.certificate.evidence.farthest, number) + by}), BOOSTED
    ).passed


def test_another_row_or_none_is_refused() -> None:
    record = json.loads(stuck().to_json())
    without = {name: value for name, value in record.items() if name != "closest"}
    with pytest.raises(bf.errors.InputError, match="closest row"):
        bf.Explanation.from_json(json.dumps(sealed(without)))
    record["closest"]["age"] = X["age"].iloc[206] + 1.0
    result = check(bf.Explanation.from_json(json.dumps(sealed(record))), BOOSTED)
    assert any("it breaks fixed(" in made.words for made in result.checks)


NUMBERS = np.random.default_rng(0).integers(0, 4, (300, 4)).astype(float)
VALUES = NUMBERS @ [1.0, -2.0, 0.5, 1.0] + (NUMBERS[:, 0] > 1) * (NUMBERS[:, 3] > 1)
SORTS = np.digitize(VALUES, np.quantile(VALUES, [0.4, 0.7]))
HIGH = (SORTS == 2).astype(int)
MODELS = {
    "boosting": (GradientBoostingClassifier(n_estimators=12, max_depth=3, random_state=0), HIGH, [1, "other"]),
    "histogram": (HistGradientBoostingClassifier(max_iter=12, random_state=0), HIGH, [bf.probability(1, at_least=0.9)]),
    "forest": (RandomForestClassifier(12, max_depth=4, random_state=0), HIGH, [1, bf.probability(1, at_least=0.9)]),
    "three": (ExtraTreesClassifier(12, max_depth=4, random_state=0), SORTS, [2, bf.probability(2, at_least=0.8)]),
    "number": (
        GradientBoostingRegressor(n_estimators=12, random_state=0),
        VALUES,
        [bf.value(at_least=4.0), bf.value(at_most=-5.0), bf.relative_change(3.0)],
    ),
    "line": (LogisticRegression(C=0.1), HIGH, [1, bf.probability(1, at_least=0.9)]),
    "sum": (Ridge(), VALUES, [bf.value(at_least=4.0), bf.value(at_most=-5.0)]),
    "tree": (DecisionTreeClassifier(max_depth=4, random_state=0), HIGH, [1, bf.probability(1, at_least=0.9)]),
    "steps": (
        DecisionTreeRegressor(max_depth=4, random_state=0),
        VALUES,
        [bf.value(at_least=4.0), bf.value(at_most=-5.0)],
    ),
    "network": (
        MLPClassifier((4,), solver="lbfgs", max_iter=50, random_state=0),
        HIGH,
        [1, bf.probability(1, at_least=0.9)],
    ),
    "values of a network": (
        MLPRegressor(hidden_layer_sizes=(3, 3), solver="lbfgs", max_iter=2000, random_state=0),
        VALUES,
        [bf.value(at_least=4.0)],
    ),
    "oblique tree": (TAOClassifier(max_depth=3, random_state=0), HIGH, [1, bf.probability(1, at_least=0.9)]),
    "mean": (RandomForestRegressor(12, random_state=0), VALUES, [bf.value(at_least=4.0), bf.value(at_most=-5.0)]),
}

EXACT = {"line", "sum", "tree", "steps", "network", "values of a network", "oblique tree"}
"""Models whose farthest row is found, and not only one near it."""


@pytest.mark.shorter(1)
@pytest.mark.parametrize("rows", first(1, [12, 40]))
@pytest.mark.parametrize(
    ("name", "target"), one_in(4, [(name, target) for name, (_, _, all_) in MODELS.items() for target in all_])
)
def test_no_row_gets_farther_than_said_and_the_closest_is_one_of_them(name, target, rows) -> None:
    model, wanted, _ = MODELS[name]
    model = model.fit(NUMBERS, wanted)
    explainer = bf.Explainer(model, NUMBERS)
    told = near = 0
    for row in NUMBERS[:rows]:
        for rules in ([bf.at_most_changes(1)], [bf.fixed("x1"), bf.at_most_changes(2)], [bf.fixed("x0", "x2")]):
            answer = explainer.explain(row[None], target=target, constraints=rules).only
            if not answer.certificate.evidence.has_closest_row:
                continue
            farthest = answer.certificate.evidence.farthest
            told += 1
            best = best_of_all(explainer, answer, row, target, rules)
            way = farthest.way
            assert way * farthest.closest <= way * best + 1e-9
            assert way * best <= way * farthest.reached + 1e-6
            near += abs(best - farthest.closest) < 1e-9
            assert check(answer, model).passed
    assert told == 0 if name == "three" and target == 2 else told >= 5
    assert near >= (told if name in EXACT else 0.5 * told)


def best_of_all(explainer, answer, row, target, rules) -> float:
    """What the estimator says about every admissible row, at its best."""
    names = explainer.space.names
    fixed = {name for rule in rules for name in getattr(rule, "names", ())}
    grids = [[row[j]] if name in fixed else sorted({row[j], 0.0, 1.0, 2.0, 3.0}) for j, name in enumerate(names)]
    every = np.array(np.meshgrid(*grids)).reshape(len(names), -1).T
    most = min([rule.count for rule in rules if isinstance(rule, AtMost)], default=len(names))
    every = every[(every != row).sum(axis=1) <= most]
    if answer.score is None or answer.score.of == "predicted value":
        found = explainer.model.predict(every)
    else:
        label = int(answer.score.of.rpartition(" ")[2])
        found = explainer.model.predict_proba(every)[:, list(explainer.model.classes_).index(label)]
    return float(found.max() if answer.score.up else found.min())


def test_a_row_that_no_box_was_looked_at_for_still_has_a_closest_one() -> None:
    """No box of rows may reach the goal, so the closest row is looked for from the cheapest one only."""
    X = pd.DataFrame(
        {
            "income": np.array([2003.33, 2003.33, 2001.2, 2001.2, 2001.2], dtype="float32"),
            "home": [0, 0, 1, 0, 1],
            "rate": [4.54, 4.54, 4.54, 7.51, 7.51],
        }
    )
    members = [
        ("tree", DecisionTreeClassifier(max_depth=1, random_state=0)),
        ("forest", RandomForestClassifier(n_estimators=1, max_depth=2, random_state=0)),
    ]
    model = VotingClassifier(members, voting="soft").fit(X, ["yes", "yes", "no", "no", "no"])
    row, wanted = X.iloc[[4]], bf.probability("yes", at_least=1.0)
    answer = bf.Explainer(model, X).explain(row, target=wanted, constraints=[bf.at_most_changes(1)]).only
    assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE
    assert answer.closest is not None
    reached = model.predict_proba(answer.closest)[0, 1]
    assert reached == pytest.approx(answer.certificate.evidence.farthest.closest)
    singles = [row.assign(**{name: value}) for name in X for value in X[name]]
    assert reached == max(model.predict_proba(single)[0, 1] for single in singles)


@pytest.mark.parametrize("model", [LogisticRegression(C=0.1), DecisionTreeClassifier(max_depth=4, random_state=0)])
def test_many_rows_of_real_numbers_are_told_how_far_they_get(model) -> None:
    """The closest row of each attains what is proven, and no random row of its box gets farther."""
    rng = np.random.default_rng(1)
    data = rng.normal(size=(400, 3))
    model = model.fit(data, data @ [1.0, -2.0, 0.5] + (data[:, 0] > 0) > 1.0)
    rows = data[~model.predict(data)]
    inside = [bf.within(name, 0.05) for name in ("x0", "x1", "x2")]
    answers = bf.Explainer(model, data).explain(rows, target=True, constraints=inside)
    lost = [answer for answer in answers if answer.closest is not None]
    assert 50 < len(lost) < len(rows)
    tried = rng.uniform(0.95, 1.05, (500, 3))
    for answer in lost:
        farthest = answer.certificate.evidence.farthest
        assert farthest.closest == pytest.approx(farthest.reached)
        assert (
            model.predict_proba(answer.factual * tried)[:, 1].max() <= farthest.reached + 1e-9 < farthest.needed + 1e-9
        )


def test_relations_do_not_keep_a_line_from_telling_how_far_it_gets() -> None:
    model = LogisticRegression(C=0.1).fit(NUMBERS, HIGH)
    explainer, row = bf.Explainer(model, NUMBERS), NUMBERS[4]
    every = np.array(np.meshgrid(*[range(4)] * 4)).reshape(4, -1).T
    kept = every[(every[:, 1] == row[1]) & (every[:, 0] + every[:, 3] <= 2)]
    best = model.predict_proba(kept)[:, 1].max()
    rules = [bf.fixed("x1"), "x0 + x3 <= 2"]
    answer = explainer.explain(row[None], target=bf.probability(1, at_least=0.99), constraints=rules).only
    farthest = answer.certificate.evidence.farthest
    assert best == pytest.approx(farthest.closest, abs=1e-12)
    assert best <= farthest.reached <= best + 1e-5
    assert f"no admissible row gets above {best:.4f}"[:-1] in answer.certificate.why
