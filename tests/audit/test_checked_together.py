"""Many answers are checked together: the same results as one by one, and the model is asked a few times for all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import butfor as bf
from butfor import claim
from butfor.audit import again
from butfor.audit.doubt import in_doubt
from butfor.audit.recheck import check, check_all
from butfor.audit.result import AllChecked, Checked
from butfor.cli import app
from butfor.datasets import loans
from butfor.importers.read import read_onto
from butfor.verdict.certificate import reason
from butfor.views import progress
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, STUCK, X, Y
from tests.shorter import first

LINEAR, BOOSTED = loans.pipeline(), loans.pipeline()
LINEAR.steps[-1] = ("last", LogisticRegression())
BOOSTED.steps[-1] = ("last", GradientBoostingClassifier(n_estimators=10, random_state=0))
MODELS = {"tree": MODEL, "linear": LINEAR.fit(X, Y), "boosting": BOOSTED.fit(X, Y)}


@pytest.fixture(scope="module")
def many() -> bf.Explanations:
    asked = EXPLAINER.explain(X.iloc[150:250], target="approved", constraints=POSSIBLE)
    return bf.Explanations.from_jsonl(str(asked.to_jsonl()))


def facts(found: Checked) -> list[tuple[str, bool | None]]:
    return [(one.name, one.passed) for one in found.checks]


def with_certificate(answers: bf.Explanations, at: int, **changed: Any) -> bf.Explanations:
    """The answers with other facts in one certificate, and the sentence that follows from them."""
    certificates = list(answers.certificates)
    other = replace(certificates[at], **changed)
    certificates[at] = replace(other, why=reason(other, "approved"))
    return replace(answers, certificates=certificates)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("end", first(1, [203, 208]))
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("asked", ["possible", "impossible", "several"])
def test_answers_are_found_together_what_they_are_found_alone(kind, asked, end) -> None:
    explainer = bf.Explainer(MODELS[kind], X)
    rules = [*STUCK, bf.fixed("savings")] if asked == "impossible" else POSSIBLE
    answers = explainer.explain(X.iloc[200:end], target="approved", constraints=rules, k=3 if asked == "several" else 1)
    found = check(answers, MODELS[kind])
    assert found.passed
    assert [facts(one) for one in found.results] == [facts(check(one, MODELS[kind])) for one in answers]
    assert all(one.passed is not None for result in found.results for one in result.checks)


def test_the_model_is_read_once_and_predicts_as_often_for_many_as_for_few(many, monkeypatch) -> None:
    calls, read = list[int](), list[Any]()
    predict = DecisionTreeClassifier.predict_proba
    monkeypatch.setattr(
        DecisionTreeClassifier,
        "predict_proba",
        lambda self, X, **more: calls.append(len(X)) or predict(self, X, **more),
    )
    monkeypatch.setattr(claim, "read_onto", lambda *given: read.append(given) or read_onto(*given))
    counts = []
    for some in (many[30:60], many):
        calls.clear()
        assert check(some, MODEL).passed
        counts.append(len(calls))
    assert 0 < counts[1] == counts[0] < 20
    assert len(read) == 2


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (lambda one: {"bound": one.bound + 1, "cost": one.cost + 1}, "FAILED - the cost is"),
        (lambda one: {"fingerprint": "0" * 16}, "its fingerprint is"),
        (lambda one: {"status": bf.Status.VALID}, "FAILED - the status VALID follows"),
    ],
)
def test_one_wrong_answer_among_many_is_named(many, changed, words) -> None:
    at = int(np.flatnonzero(many.costs > 0)[3])
    wrong = with_certificate(many, at, **changed(many.certificates[at]))
    costs = many.costs.copy()
    costs[at] = wrong.certificates[at].cost
    found = check(replace(wrong, costs=costs), MODEL)
    assert [i for i, one in enumerate(found.results) if not one.passed] == [at]
    assert repr(found).startswith(f"Row {many.labels[at]}, answer 1:\n")
    assert words in repr(found)
    assert repr(found).endswith("99 of 100 answers hold")


def test_an_answer_that_the_model_refuses_in_company_is_asked_alone(many, monkeypatch) -> None:
    predict = DecisionTreeClassifier.predict_proba
    few = many[[i for i in range(len(many)) if 0 < many.costs[i] < np.inf][:3]]

    def moody(self: Any, X: Any, **more: Any) -> Any:
        return predict(self, X, **more) if len(X) == 1 else predict(self, X, **more)[:, ::-1]

    before = claim.claim_of(claim.stated(few), MODEL, {})
    monkeypatch.setattr("butfor.audit.recheck.claim_of", lambda stated, *_: replace(before, stated=stated))
    monkeypatch.setattr(DecisionTreeClassifier, "predict_proba", moody)
    found = check(few, MODEL, bounds=False)
    assert found.passed
    assert check(few[:1], MODEL, bounds=False).passed


class Shy(ClassifierMixin, BaseEstimator):
    """A classifier that may say something else of a row when it is alone."""

    shy = False

    def fit(self, X: Any, y: Any) -> Shy:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        high = np.asarray(X)[:, 0] > 0.5
        return self.classes_[(high ^ (Shy.shy and len(high) == 1)).astype(int)]


def test_an_answer_that_the_model_refuses_alone_is_found_in_company(monkeypatch) -> None:
    rows = np.random.default_rng(0).random((40, 2))
    model = Shy().fit(rows, [0, 1] * 20)
    answers = bf.Explainer(model, rows).explain(rows[:6], target=1, solver=bf.Swarm(particles=10, iterations=10))
    assert check(answers, model, bounds=False).passed
    monkeypatch.setattr(Shy, "shy", True)
    found = check(answers, model, bounds=False)
    assert not any(result.passed for result in found.results)
    assert "FAILED - that meets the target: 1" in repr(found)


@pytest.mark.parametrize("doubt", [0.0, 1.0])
def test_where_rounding_decides_the_model_is_asked_alone(doubt, monkeypatch) -> None:
    patients, disease = load_diabetes(return_X_y=True)
    model = Ridge(alpha=0.01).fit(patients, disease)
    answers = bf.Explainer(model, patients).explain(patients[:6], target=bf.value(at_least=250.0))
    together = claim.claim_of(claim.stated(answers), model, {})
    assert not len(in_doubt(together))
    monkeypatch.setattr("butfor.verdict.alone.INNER", 0.75 if not doubt else 10.0)  # as if none were on the safe side
    assert len(in_doubt(claim.claim_of(claim.stated(answers), model, {}))) == (6 if doubt else 0)
    assert check(answers, model).passed


def test_an_answer_that_cannot_be_asked_about_does_not_spoil_the_others(many, monkeypatch) -> None:
    bad = many.factual_codes[many.table_rows[17]]
    holds = bf.fixed("sex").__class__.holds

    def raises(self: Any, changes: Any, referee: Any) -> Any:
        if (changes.start == bad).all(axis=1).any():
            raise ZeroDivisionError("a strange row")
        return holds(self, changes, referee)

    monkeypatch.setattr(bf.fixed("sex").__class__, "holds", raises)
    found = check(many, MODEL)
    failing = [i for i, one in enumerate(found.results) if not one.passed]
    assert failing == [17]
    assert "the question can be asked again: ZeroDivisionError: a strange row" in repr(found)


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("sample", "size"), [(7, 7), (0.1, 10), (1.0, 100), (1000, 100), (0.001, 1)])
def test_a_sample_is_drawn_and_said(many, sample, size) -> None:
    found = check_all(many, MODEL, sample=sample, seed=4)
    again_ = check_all(many, MODEL, sample=sample, seed=4)
    assert len(found.results) == size
    assert found.names == again_.names
    assert ("a sample of 100 (seed 4)" in repr(found)) == (size < 100)
    if size == 7:
        assert found.names != check_all(many, MODEL, sample=sample, seed=5).names


@pytest.mark.shorter(2)
@pytest.mark.parametrize("sample", [0, -1, 0.0, 1.5, True, "some", None.__class__])
def test_a_sample_of_nothing_is_refused(many, sample) -> None:
    with pytest.raises(bf.errors.InputError, match="It must be a share"):
        check(many, MODEL, sample=sample)


@pytest.mark.parametrize("seconds", [0, -1, "a minute", np.nan])
def test_no_time_is_refused(many, seconds, tmp_path) -> None:
    for ask in (check, lambda *given, **limit: bf.prove(*given, tmp_path / "proofs", **limit)):
        with pytest.raises(bf.ButforError, match="must be a positive number of seconds"):
            ask(many, MODEL, time_limit=seconds)
    assert not (tmp_path / "proofs").exists()


def test_bounds_that_are_left_out_are_said_and_not_derived(many, monkeypatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("it was solved again")

    monkeypatch.setattr(claim.Asking, "solved", never)
    found = check(many, MODEL, bounds=False)
    claims = sum(one.bound > 0 for one in many.certificates)
    assert isinstance(found, AllChecked)
    assert found.passed
    assert repr(found) == (
        f"100 of 100 answers hold; {claims} checks were not made; no bound was derived again (bounds=False)"
    )
    one = check(many[int(np.argmax(many.costs > 0))], MODEL, bounds=False)
    assert str(one.checks[-1]).startswith("not checked - no answer costs less than")
    assert str(one.checks[-1]).endswith(again.LEFT_OUT)
    assert repr(one).endswith("the answer holds; 1 was not checked")


def test_a_false_bound_is_found_with_it_and_not_without(many) -> None:
    at = int(np.flatnonzero(many.costs > 0)[0])
    false = with_certificate(many, at, bound=np.inf, status=bf.Status.PROVEN_INFEASIBLE, cost=np.inf, checks=())
    costs, after = many.costs.copy(), list(many.outputs_after)
    costs[at], after[at] = np.inf, None
    scores = list(many.scores)
    scores[at] = None
    false = replace(false, costs=costs, outputs_after=after, scores=scores)
    assert check(false, MODEL, bounds=False).passed
    found = check(false, MODEL)
    assert [i for i, one in enumerate(found.results) if not one.passed] == [at]
    assert "FAILED - there is no answer: there is one at a cost of" in repr(found)


def test_threads_find_the_same() -> None:
    answers = bf.Explainer(BOOSTED, X).explain(X.iloc[200:206], target="approved", constraints=POSSIBLE)
    one, two = (check(answers, BOOSTED, n_jobs=n) for n in (None, 2))
    assert [facts(a) for a in one.results] == [facts(b) for b in two.results]
    assert two.passed


def test_the_bar_is_shown_and_silent_as_asked(many, capsys, monkeypatch) -> None:
    told = list[tuple[int, str]]()

    @contextmanager
    def counted(total: int, words: str, note: Any) -> Iterator[Any]:
        yield lambda done: told.append((done, words))

    monkeypatch.setattr(progress, "_on_terminal", counted)
    check(many, MODEL, progress=False)
    assert not told
    assert capsys.readouterr() == ("", "")
    check(many, MODEL, progress=True)
    assert told[0] == (0, "checking")
    assert told[-1] == (len(many), "checking")


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    ("conflict", "words"),
    [
        (lambda named, rest: (*named, rest), "alone makes it impossible"),
        (lambda named, rest: (rest,), "there is one if only that is asked"),
        (lambda named, rest: (*named, "fixed('nothing')"), "fixed('nothing') is not part of the question"),
        (lambda named, rest: (*named, "the model itself"), "the model itself alone would make it impossible"),
    ],
)
def test_a_conflict_that_is_none_is_found_among_many(conflict, words) -> None:
    answers = EXPLAINER.explain(X.iloc[195:215], target="approved", constraints=STUCK, conflicts="all")
    at = next(i for i, one in enumerate(answers.certificates) if len(one.conflict) > 1)
    named = answers.certificates[at].conflict
    rest = next(text for rule in STUCK for text in map(repr, rule.atoms()) if text not in named and "sex" in text)
    found = check(with_certificate(answers, at, conflict=conflict(named, rest)), MODEL)
    assert [i for i, one in enumerate(found.results) if not one.passed] == [at]
    assert words in repr(found.results[at])


def test_the_command_draws_a_sample_and_leaves_bounds_out(many, tmp_path) -> None:
    joblib.dump(MODEL, tmp_path / "model.joblib")
    many.to_jsonl(tmp_path / "answers.jsonl")
    (tmp_path / "answers.json").write_text(many[:5].to_json(), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("answers.jsonl", "model.joblib")]

    def said(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["check", *words])
        return done.exit_code, done.output

    code, output = said(*files, "--sample", "0.3", "--seed", "1", "--no-bounds", "--quiet", "--n-jobs", "2")
    assert code == 0
    assert "30 of 30 answers hold" in output
    assert "no bound was derived again (bounds=False); these are a sample of 100 (seed 1)" in output
    assert said(*files, "--sample", "12")[1].startswith("Row ")
    assert said(*files, "--sample", "none")[0] == 2
    assert "5 of 5 answers hold" in said(str(tmp_path / "answers.json"), files[1])[1]


def test_records_of_one_call_are_read_together_and_of_several_one_by_one(many, tmp_path, monkeypatch) -> None:
    joblib.dump(MODEL, tmp_path / "model.joblib")
    other = EXPLAINER.explain(X.iloc[[206]], target="approved").only.to_json()
    together, apart = tmp_path / "together.json", tmp_path / "apart.json"
    together.write_text(many[:4].to_json(), encoding="utf-8")
    apart.write_text(f"[{many[0].to_json()}, {other}]", encoding="utf-8")
    read = list[Any]()
    monkeypatch.setattr(claim, "read_onto", lambda *given: read.append(given) or read_onto(*given))
    for path, times in ((together, 1), (apart, 2)):
        read.clear()
        done = CliRunner().invoke(app, ["check", str(path), str(tmp_path / "model.joblib")])
        assert done.exit_code == 0, done.output
        assert len(read) == times
