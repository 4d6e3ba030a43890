"""What an impossible question is blamed on: the same every time, however slow the machine is."""

from __future__ import annotations

import time
from itertools import combinations, count

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.explain import arguments, blame
from butfor.solvers.conflict import OpenQuestionError, smallest_conflict, smallest_hitting
from butfor.solvers.outcome import Stopped
from butfor.solvers.solver import Budget
from butfor.verdict.certificate import reason

X, Y = loans.load()
STUCK = [
    bf.fixed("sex", "age", "late_payments", "amount", "months", "job"),
    bf.only_up("education"),
    bf.within("income", 0.05),
    bf.linear({"amount": 1.0, "income": -0.5}, "<=", 0.0),
]
LAST = {
    "tree": None,
    "linear": LogisticRegression(),
    "boosting": GradientBoostingClassifier(n_estimators=20, random_state=0),
}


def explained(kind: str, **more: object) -> bf.Explanations:
    pipeline = loans.pipeline()
    if LAST[kind] is not None:
        pipeline.steps[-1] = (pipeline.steps[-1][0], LAST[kind])
    model = pipeline.fit(X, Y)
    rows = X[model.predict(X) == "rejected"].iloc[:6]
    return bf.Explainer(model, X).explain(rows, target="approved", constraints=STUCK, **more)


@pytest.mark.long
@pytest.mark.parametrize("kind", LAST)
def test_the_same_question_has_the_same_conflict_on_any_clock(kind, monkeypatch) -> None:
    monkeypatch.setattr("butfor.explain.solve.FARTHEST_SECONDS", np.inf)  # how far a row gets is told if there is time
    first, second = explained(kind), explained(kind)
    assert bf.Status.PROVEN_INFEASIBLE in first.statuses
    assert first == second
    leaps = count(step=1000.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(leaps))
    assert explained(kind) == first


@pytest.mark.long
def test_one_row_is_blamed_as_among_others() -> None:
    many = explained("tree")
    explainer = bf.Explainer(loans.pipeline().fit(X, Y), X)
    for one in many:
        again = explainer.explain(one.factual, target="approved", constraints=STUCK)
        assert again.certificate.conflict == one.certificate.conflict


def test_a_call_whose_time_is_up_says_so_and_blames_nothing(monkeypatch) -> None:
    class Spent(blame.Blame):
        def smallest(self):
            self.call = Budget(0.0)
            return super().smallest()

    monkeypatch.setattr(blame, "Blame", Spent)
    certificate = next(one for one in explained("tree").certificates if one.status is bf.Status.PROVEN_INFEASIBLE)
    assert certificate.conflict == ()
    assert certificate.stopped is Stopped.TIME
    assert "was not searched: the time was up" in certificate.why


@pytest.mark.shorter(1)
@pytest.mark.parametrize("work", [0.0, 3.0, 30.0])
def test_with_less_effort_a_conflict_may_hold_too_much_and_says_so(monkeypatch, work) -> None:
    monkeypatch.setattr(arguments, "WORK", work)
    found = explained("tree", conflicts=6).certificates
    assert any(one.stopped is Stopped.EFFORT for one in found) == (work < 30)
    for one in found:
        if one.status is bf.Status.PROVEN_INFEASIBLE and one.stopped is Stopped.EFFORT:
            words = "was left open" if one.conflict else "was not found with the effort"
            assert words in one.why
        assert one.why == reason(one, "approved")


@pytest.mark.parametrize("last", [DecisionTreeClassifier(max_depth=2), GradientBoostingClassifier(n_estimators=5)])
def test_prices_that_forbid_a_move_are_blamed_for_it_and_not_the_model(last) -> None:
    job = np.random.default_rng(0).choice(["clerk", "nurse", "manager"], 300)
    jobs = pd.DataFrame({"job": job, "age": np.arange(300) % 50})
    encoder = make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoder, last).fit(jobs, job == "manager")
    explainer, row = bf.Explainer(model, jobs), jobs[jobs["job"] == "clerk"].iloc[:1]
    stuck = bf.Table({"job": {("clerk", "nurse"): 1.0, ("nurse", "manager"): 1.0}}) + bf.L1(weights={"age": 1.0})
    for constraints in ([], [bf.fixed("age")]):
        answers = explainer.explain(row, target=True, cost=stuck, constraints=constraints)
        (certificate,) = answers.certificates
        assert certificate.conflict == ("moves('job', {'clerk': ['nurse']})",)
        assert "without it there is an answer" in certificate.why
        assert bf.check(answers, model)
        told = answers.described(bf.describe({"job": bf.Column("Profession", levels={"clerk": "a clerk"})}))
        assert "This stands in the way: Profession changes only from a clerk to nurse" in told.to_text()
    priced = bf.Table({"job": {("clerk", "nurse"): 1.0, ("clerk", "manager"): 3.0}})
    (certificate,) = explainer.explain(row, target=True, cost=priced, constraints=bf.fixed("job")).certificates
    assert certificate.conflict == ("fixed('job')",)


MINIMAL = ({0, 1, 2}, {2, 5}, {3, 4, 6, 7})


def made(kind: str, asked: list[object]) -> object:
    def kept_by_answer(chosen, widen):
        asked.append(chosen)
        if kind == "open" and len(asked) > 7:
            raise OpenQuestionError(Stopped.EFFORT)
        if kind == "late" and len(asked) > 7:
            raise OpenQuestionError(Stopped.TIME)
        return None if any(one <= set(chosen) for one in MINIMAL) else frozenset()

    return kept_by_answer


def test_the_smallest_of_several_conflicts_is_found_with_few_questions() -> None:
    asked: list[object] = []
    assert smallest_conflict(list(range(30)), made("", asked)) == (("2", "5"), True)
    assert len(asked) < 120


def test_an_open_question_leaves_a_conflict_open_and_a_late_one_ends_it() -> None:
    words, sure = smallest_conflict(list(range(30)), made("open", []))
    assert not sure
    assert any(one <= set(map(int, words)) for one in MINIMAL)
    with pytest.raises(OpenQuestionError):
        smallest_conflict(list(range(30)), made("late", []))


@pytest.mark.parametrize(
    ("wide", "words"), [(True, ("the model itself",)), (False, ("the ranges of the data",)), (None, ())]
)
def test_without_constraints_the_model_or_the_ranges_are_to_blame(wide, words) -> None:
    def kept_by_answer(chosen, widen):
        if not widen or wide is None:
            raise OpenQuestionError(Stopped.EFFORT)
        return None if wide else frozenset()

    assert smallest_conflict([], kept_by_answer) == (words, wide is not None)


def test_hitting_sets_are_smallest() -> None:
    sets = [frozenset(one) for one in ({1, 2}, {2, 3}, {4, 5}, {1, 5})]
    found = smallest_hitting(sets, 5)
    assert found is not None
    assert all(found & one for one in sets)
    assert not any(all(set(two) & one for one in sets) for two in combinations(range(6), len(found) - 1))
    assert smallest_hitting(sets, len(found) - 1) is None
