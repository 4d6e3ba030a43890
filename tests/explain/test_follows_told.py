"""Consequences as they are written, refused, told and kept."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.explain.test_follows import SPACE, fitted

MODEL, DATA = fitted("tree", 0)
EXPLAINER = bf.Explainer(MODEL, DATA, space=SPACE)
ROWS = DATA[MODEL.predict(DATA) == 0].iloc[:8]
LED = [bf.follows("savings", 0.5, "income"), bf.follows("age", 2, bf.rises("school")), bf.fixed("savings", "age")]
ANSWERS = EXPLAINER.explain(ROWS, 1, constraints=LED, cost="L1")


def with_consequence() -> bf.Explanation:
    return next(one for one in ANSWERS if any(change.name == "savings" for change in one.consequences))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("follows savings:0.5:income", bf.follows("savings", 0.5, "income")),
        ("follows savings:10%:income", bf.follows("savings", 0.1, "income")),
        ("age >= age_before + 2 if school rises", bf.follows("age", 2, bf.rises("school"))),
        ("age == age_before - 2 if income falls by 3", bf.follows("age", -2, bf.falls("income", by=3))),
        ("age <= age_before - 0.5 if school becomes degree", bf.follows("age", -0.5, bf.becomes("school", "degree"))),
        ("age rises by 2 if school rises", bf.follows("age", 2, bf.rises("school"))),
        ("savings falls by 1.5 if school becomes degree", bf.follows("savings", -1.5, bf.becomes("school", "degree"))),
    ],
)
def test_a_text_means_a_consequence(text: str, meant: object) -> None:
    answer = EXPLAINER.explain(ROWS[:1], 1, constraints=text, cost="L1", time_limit=5).only
    assert answer.question.constraints == (repr(meant),)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (bf.follows("savings", 0.5, "incme"), "Did you mean 'income'"),
        (bf.follows("savngs", 0.5, "income"), "Did you mean 'savings'"),
        (bf.follows("school", 1, "income"), "Only a number can follow"),
        (bf.follows("income", 1, "school"), r"of=bf\.rises\('school'\)"),
        (bf.follows("income", "much", "age"), "by must be a number"),
        (bf.follows("income", 0, "age"), "must be finite, and not 0"),
        (bf.follows("income", np.inf, "age"), "must be finite, and not 0"),
        (bf.follows("income", 1, bf.becomes("school", "degre")), "degre"),
        (bf.follows("income", 1, bf.between("age", 20)), "of must be a column, or an event"),
        (bf.follows("income", 1, "income"), "income from income"),
        ([bf.follows("income", 1, "age"), bf.follows("age", 1, "income")], "income from age from income"),
        ([bf.follows("income", 1, "age"), bf.robust({"income": 1})], "Leave one of them out"),
        ([bf.follows("income", 1, "age"), bf.candidates(DATA)], "Leave one of them out"),
        ("age >= age_before + 2 if schol rises", "Did you mean 'school'"),
        ("age <= age_before + 2 if school rises", "What follows is written as"),
        ("age >= income_before + 2 if school rises", "What follows is written as"),
        ("age rises if school rises", "What follows is written as"),
    ],
)
def test_bad_input_says_what_to_do(given: object, said: str) -> None:
    with pytest.raises(bf.ButforError, match=said):
        EXPLAINER.explain(ROWS[:1], 1, constraints=given)


def test_actions_and_consequences_are_told_apart() -> None:
    answer = with_consequence()
    savings = answer["savings"]
    assert savings.by_itself
    assert (savings.action, savings.consequence) == (0, savings.change)
    assert savings.consequence == 0.5 * answer["income"].change
    assert "savings" not in [change.name for change in answer.actions]
    assert "by itself" in repr(answer)
    assert "more follow" in repr(answer)
    assert "From that follows" in answer.to_text()
    assert "By itself" in answer.to_html()
    assert "Von selbst" in answer.to_html(language="de")
    wide = ANSWERS.to_frame()
    assert wide["changed"].dropna().tolist() == [len(one.actions) for one in ANSWERS if one.found]
    long = ANSWERS.to_frame("long")
    assert (long.loc[(long["column"] == "savings"), "cost"] == 0).all()
    assert long["cost"].sum() == pytest.approx(ANSWERS.costs[ANSWERS.found].sum())


def test_a_record_is_checked_again() -> None:
    answer = with_consequence()
    again = bf.Explanation.from_json(answer.to_json())
    assert again == answer
    assert again.consequences == answer.consequences
    assert bf.check(again, MODEL).passed
    assert {one["column"]: one.get("follows") for one in json.loads(answer.to_json())["changes"]}["savings"]
    dearer = json.loads(answer.to_json())
    dearer["question"]["spec"]["constraints"][0]["by"] = 0.25
    del dearer["hash"]
    try:
        checked = bf.check(bf.Explanation.from_json(json.dumps(dearer)), MODEL).passed
    except bf.ButforError:
        return
    assert not checked


def test_a_black_box_is_enumerated() -> None:
    boxed = bf.Explainer(bf.black_box(MODEL.predict_proba, classes=[0, 1, 2]), DATA, space=SPACE)
    found = boxed.explain(ROWS[:2], 1, constraints=LED, cost="L1")
    assert found.costs.tolist() == pytest.approx(ANSWERS.costs[:2].tolist())
    assert all(one.certificate.solver.startswith("enumeration") for one in found)


def test_several_answers_change_other_columns() -> None:
    found = EXPLAINER.explain(ROWS[:1], 1, constraints=LED[:2], cost="L1", k=3)
    sets = [frozenset(change.name for change in one.actions) for one in found]
    assert len(set(sets)) == len(sets) > 1
    assert found.costs.tolist() == sorted(found.costs.tolist())


def test_a_plausible_answer_is_plausible_as_it_ends() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data, data.a + data.b > 0.5)
    usual = bf.plausible(IsolationForest(n_estimators=10, random_state=0).fit(data))
    led = [bf.follows("b", 0.5, "a"), bf.fixed("b"), usual]
    row = data[~model.predict(data)].iloc[:1]
    answer = bf.Explainer(model, data).explain(row, True, constraints=led).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert all(fine for _, fine in answer.certificate.checks)
    assert answer["b"].consequence == pytest.approx(0.5 * answer["a"].change)
