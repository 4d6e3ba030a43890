"""An answer is checked again with nothing but its file and the model; whatever is not so is found and named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor import claim
from butfor.audit.recheck import Checked, check
from butfor.datasets import loans
from butfor.explanation.one_answer import as_batch
from butfor.importers.read import read_onto
from butfor.problem.spec import to_spec
from butfor.verdict.certificate import reason
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, STUCK, X, Y

FLOWERS, KINDS = load_iris(return_X_y=True)
PATIENTS, DISEASE = load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def answer() -> bf.Explanation:
    return EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE).only


@pytest.fixture(scope="module")
def impossible() -> bf.Explanation:
    return EXPLAINER.explain(ROW, target="approved", constraints=STUCK).only


def filed(answer: bf.Explanation) -> bf.Explanation:
    return bf.Explanation.from_json(answer.to_json())


def failed(found: Checked) -> list[str]:
    return [f"{one.name}: {one.words}" for one in found.checks if one.passed is False]


def unchecked(found: Checked) -> list[str]:
    return [one.name for one in found.checks if one.passed is None]


def moved(answer: bf.Explanation, **values: float) -> bf.Explanation:
    """The answer with another point, its cost and bound claimed to be as they should be. Its score is not claimed."""
    codes = answer.point_codes.copy()
    for name, value in values.items():
        codes[answer.space.index(name)] = value
    return replace(answer, point_codes=codes, point=answer.space.decode(codes[None], answer.factual), score=None)


def claiming(answer: bf.Explanation, cost: float, bound: float | None = None) -> bf.Explanation:
    certificate = replace(answer.certificate, cost=cost, bound=cost if bound is None else bound)
    return replace(answer, cost=cost, certificate=reworded(certificate))


def reworded(certificate: Any, **facts: Any) -> Any:
    """The certificate with other facts, and the sentence that follows from them."""
    changed = replace(certificate, **facts)
    return replace(changed, why=reason(changed, "approved"))


def asking(answer: bf.Explanation, *constraints: Any) -> bf.Explanation:
    spec = {**answer.question.spec, "constraints": [to_spec(one) for one in constraints]}
    return replace(answer, question=replace(answer.question, constraints=tuple(map(repr, constraints)), spec=spec))


def test_a_good_answer_passes_every_check(answer) -> None:
    found = check(filed(answer), MODEL)
    assert found.passed
    assert all(one.passed for one in found.checks)
    assert len(found.checks) == 12
    assert repr(found).endswith("the answer holds")


def test_an_impossibility_is_confirmed_and_so_is_its_reason(impossible) -> None:
    found = check(filed(impossible), MODEL)
    assert all(one.passed for one in found.checks)
    assert "there is no answer" in [one.name for one in found.checks]
    assert any("within('income', 0.05) alone make it impossible" in one.name for one in found.checks)


CASES: dict[str, Any] = {
    "any other class": lambda: (MODEL, EXPLAINER.explain(ROW)),
    "already so": lambda: (MODEL, EXPLAINER.explain(ROW, target="rejected")),
    "polars": lambda: (
        MODEL,
        bf.Explainer(MODEL, pl.from_pandas(X)).explain(pl.from_pandas(X)[206], target="approved"),
    ),
    "class costs": lambda: (MODEL, EXPLAINER.explain(ROW, target={"approved": 0.5})),
    "probability": lambda: (MODEL, EXPLAINER.explain(ROW, target=bf.probability("approved", at_least=0.8))),
    "mixed cost": lambda: (MODEL, EXPLAINER.explain(ROW, cost=bf.L1({"income": 3.0}) + 0.1 * bf.L0())),
    "table of prices": lambda: (
        MODEL,
        EXPLAINER.explain(ROW, cost=bf.L1() + bf.Table({"job": {"permanent": 2.0, "temporary": 1.0}})),
    ),
    "margin": lambda: (MODEL, EXPLAINER.explain(ROW, target="approved", constraints=[*POSSIBLE, bf.margin(0.02)])),
    "relation": lambda: (
        MODEL,
        EXPLAINER.explain(ROW, target="approved", constraints=[bf.linear({"amount": 1.0, "income": -0.5}, "<=", 0.0)]),
    ),
    "array": lambda: explained(DecisionTreeClassifier(max_depth=4, random_state=0), FLOWERS, KINDS, target=2),
    "multinomial": lambda: explained(LogisticRegression(max_iter=1000), FLOWERS, KINDS, target=2, cost=bf.L2()),
    "multinomial margin": lambda: explained(
        LogisticRegression(max_iter=1000), FLOWERS, KINDS, constraints=[bf.margin(0.05)]
    ),
    "value": lambda: explained(
        DecisionTreeRegressor(max_depth=4), PATIENTS, DISEASE, target=bf.value(at_least=180.0, at_most=260.0)
    ),
    "relative change": lambda: explained(Ridge(), PATIENTS, DISEASE, target=bf.relative_change(-0.1)),
}


def explained(model: Any, data: Any, y: Any, **question: Any) -> tuple[Any, bf.Explanation]:
    model.fit(data, y)
    return model, bf.Explainer(model, data).explain(data[60:61], **question)


@pytest.mark.shorter(6)
@pytest.mark.parametrize("case", CASES)
def test_whatever_was_asked_is_checked_again(case) -> None:
    model, one = CASES[case]()
    assert one.found
    found = check(filed(one), model)
    assert all(part.passed for part in found.checks), found


def test_each_of_several_answers_is_checked() -> None:
    several = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE, k=3)
    assert [one.rank for one in several] == [1, 2, 3]
    for one in several:
        found = check(filed(one), MODEL)
        assert all(part.passed for part in found.checks), found


def test_a_further_answer_is_the_cheapest_of_those_that_differ() -> None:
    first, second = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE, k=2)
    assert first.cost < second.cost
    assert first.certificate.why.startswith("no admissible change costs less than")
    assert second.certificate.why.startswith(
        "no admissible change that differs from the answers before it costs less than"
    )


def test_the_words_of_version_0_1_for_a_further_answer_pass() -> None:
    second = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE, k=2)[1]
    why = second.certificate.why.replace(" that differs from the answers before it", "")
    found = check(replace(second, certificate=replace(second.certificate, why=why)), MODEL)
    assert found.passed, found


def test_another_model_is_noticed(answer) -> None:
    found = check(answer, loans.pipeline().set_params(tree__max_depth=6).fit(X, Y))
    assert any(one.startswith("the model is the one that was explained") for one in failed(found))
    assert not found.passed


def test_a_model_that_says_otherwise_is_noticed(answer) -> None:
    found = check(answer, loans.pipeline().fit(X, np.where(Y == "approved", "rejected", "approved")))
    assert "the model predicts rejected before the change: it predicts approved" in failed(found)
    assert "the model predicts approved after the change: it predicts rejected" in failed(found)
    assert any(one.startswith("that meets the target: approved") for one in failed(found))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (DecisionTreeClassifier().fit(FLOWERS, KINDS), "the model was fitted on 4"),
        (LogisticRegression(), "not fitted"),
        ("a text", "A fitted estimator"),
        (loans.pipeline().fit(X, np.where(Y == "approved", "yes", "no")), "'approved' is not a class of the model"),
    ],
)
def test_a_model_that_cannot_be_asked_fails_the_check(answer, model, words) -> None:
    found = check(answer, model)
    assert not found.passed
    assert words.lower() in repr(found).lower()


def test_a_point_that_does_not_reach_the_target_is_noticed(answer) -> None:
    found = check(moved(answer, income=19_800), MODEL)
    assert "the model predicts approved after the change: it predicts rejected" in failed(found)


def test_a_wrong_cost_is_noticed(answer) -> None:
    found = check(claiming(answer, answer.cost / 2), MODEL)
    assert failed(found) == [f"the cost is {answer.cost / 2:.6g}: computed again, it is {answer.cost:.6g}"]


def test_a_dearer_point_is_not_optimal(answer) -> None:
    dearer = moved(answer, income=32_150)
    cost = answer.cost + 10_000 / answer.space["income"].range
    found = check(claiming(dearer, cost), MODEL)
    assert failed(found) == [f"no answer costs less than {cost:.6g}: there is one at a cost of {answer.cost:.6g}"]


def test_a_broken_constraint_is_named(answer) -> None:
    found = check(asking(answer, *POSSIBLE, bf.fixed("income"), bf.between("amount", 0, 40_000)), MODEL)
    assert any(one.endswith("broken: fixed('income')") for one in failed(found))


def test_a_margin_that_is_not_kept_is_noticed(answer) -> None:
    found = check(asking(answer, *POSSIBLE, bf.margin(0.02)), MODEL)
    assert any(one.endswith("broken: margin(0.02)") for one in failed(found))


def test_a_value_outside_its_range_is_noticed(answer) -> None:
    space = answer.space
    low = replace(space["income"], high=20_000.0)
    narrow = bf.Space(tuple(low if one.name == "income" else one for one in space))
    found = check(replace(answer, space=narrow), MODEL)
    assert any(one.endswith("a value lies outside its range") for one in failed(found))


def test_words_that_differ_from_the_data_are_noticed(answer) -> None:
    said = replace(answer.question, constraints=("fixed('age')", answer.question.constraints[1]))
    assert failed(check(replace(answer, question=said), MODEL)) == [
        "the question in words agrees with the question as data: fixed('age')"
    ]
    fewer = replace(answer.question, constraints=())
    assert "0 constraints in words, 2 as data" in failed(check(replace(answer, question=fewer), MODEL))[0]


@pytest.mark.parametrize(
    "spec", [{"kind": "Nonsense"}, {"kind": "Fixed"}, {"kind": "Fixed", "names": ["a"], "more": 1}]
)
def test_a_question_that_cannot_be_read_fails(answer, spec) -> None:
    broken = replace(answer.question, spec={**answer.question.spec, "constraints": [spec, spec]})
    found = check(replace(answer, question=broken), MODEL)
    assert not found.passed
    assert "cannot be read" in repr(found)


def test_a_status_must_follow_from_cost_and_bound(answer, impossible) -> None:
    modest = replace(answer, certificate=reworded(answer.certificate, bound=0.01))
    assert "the status PROVEN_OPTIMAL follows from cost and bound: cost and bound amount to WITHIN_GAP" in failed(
        check(modest, MODEL)
    )
    honest = replace(modest, certificate=reworded(modest.certificate, status=bf.Status.WITHIN_GAP))
    assert check(honest, MODEL).passed
    unsure = reworded(impossible.certificate, status=bf.Status.NOT_FOUND, bound=0.0, conflict=())
    assert check(replace(impossible, certificate=unsure), MODEL).passed


def test_a_false_impossibility_is_noticed(impossible) -> None:
    found = check(asking(impossible, *POSSIBLE), MODEL)
    assert any(one.startswith("there is no answer: there is one at a cost of") for one in failed(found))


def test_a_false_reason_is_noticed(impossible) -> None:
    blamed = reworded(impossible.certificate, conflict=("fixed('job')",))
    found = check(replace(impossible, certificate=blamed), MODEL)
    assert len(failed(found)) == 1
    assert failed(found)[0].startswith("fixed('job') alone makes it impossible: there is one")


def test_what_an_answer_does_not_hold_as_data_is_said() -> None:
    price = bf.L1() + bf.Table({"income": lambda before, after: 1e-5 * abs(after - before)})
    found = check(filed(EXPLAINER.explain(ROW, target="approved", cost=price)), MODEL)
    assert found.passed
    assert [name.split(" ")[1] for name in unchecked(found)] == ["cost", "answer"]
    assert repr(found).endswith("the answer holds; 2 were not checked")


def test_candidate_rows_are_not_held_as_data() -> None:
    model = MLPClassifier((4,), activation="tanh", solver="lbfgs", max_iter=2000, random_state=0).fit(FLOWERS, KINDS)
    one = bf.Explainer(model, FLOWERS).explain(FLOWERS[:1], target=2, constraints=[bf.candidates(FLOWERS)])
    found = check(filed(one), model)
    assert found.passed
    assert len(unchecked(found)) == 3
    assert "a black box has no fingerprint" in repr(found)


def test_a_proof_that_takes_too_long_is_left_open(answer, monkeypatch) -> None:
    class Slow(claim.Asking):
        def solved(self, *args: Any) -> Any:
            return as_batch(claiming(replace(answer, row=0), np.inf, 0.0))

    monkeypatch.setattr(claim, "Asking", Slow)
    found = check(answer, MODEL, time_limit=1.5)
    assert found.passed
    assert str(found.checks[-1]).endswith("not proven again in 1.5 seconds")


@pytest.mark.parametrize("size", [1e3, 1e6, 1e39])
def test_predictions_of_any_size_are_checked(size) -> None:
    model = DecisionTreeRegressor(random_state=0).fit(PATIENTS, np.round(DISEASE) * size)
    found = bf.Explainer(model, PATIENTS).explain(PATIENTS[:2], target=bf.relative_change(0.02), progress=False)
    assert bf.check(found, model).passed


def test_rows_with_more_columns_than_the_model_reads_are_checked() -> None:
    wide = X.assign(note="x")[["note", *X.columns]]
    with pytest.warns(UserWarning, match="does not read these columns of the data: note"):
        explainer = bf.Explainer(MODEL, wide)
    assert check(explainer.explain(wide.iloc[[206]], target="approved"), MODEL).passed


def test_missing_values_are_checked() -> None:
    row = X[X["savings"].isna() & (MODEL.predict(X) == "rejected")].iloc[[0]]
    one = EXPLAINER.explain(row, target="approved")
    assert one.found
    assert pd.isna(filed(one).factual["savings"].iloc[0])
    assert check(filed(one), MODEL).passed


def test_an_answer_saved_by_an_earlier_version_is_read_and_checked() -> None:
    """The file was written before classes and modules were renamed; the words of the schema are what they were."""
    text = (Path(__file__).resolve().parents[1] / "records" / "saved" / "before-rooms.json").read_text(encoding="utf-8")
    again = bf.Explanation.from_json(text)
    assert json.loads(again.to_json())["question"] == json.loads(text)["question"]
    found = check(again, MODEL)
    fingerprint = "the model is the one that was explained"  # on another processor the last digits of a scaler differ
    assert [one.name for one in found.checks if one.passed is not True and one.name != fingerprint] == [
        "the hash of the record"
    ]
    assert "no hash: only what can be recomputed was checked" in repr(found)


@pytest.fixture(scope="module")
def many() -> bf.Explanations:
    asked = EXPLAINER.explain(X.iloc[200:230], target="approved", constraints=POSSIBLE)
    return bf.Explanations.from_jsonl(str(asked.to_jsonl()))


def test_each_of_many_answers_is_checked(many) -> None:
    found = check(many, MODEL)
    assert found.passed
    assert repr(found) == "30 of 30 answers hold"
    assert [result.passed for result in found.results] == [True] * 30
    assert found.results[0].checks[0].name == "the hash of the record"


def test_few_answers_are_listed_in_full(many) -> None:
    found = check(many[:2], MODEL)
    assert repr(found).startswith("Row 200, answer 1:\npassed - the hash of the record")
    assert repr(found).endswith("the answer holds\n2 of 2 answers hold")
    assert check(many[:1], MODEL) == check(many[0], MODEL)


def test_of_many_answers_those_that_fail_are_named(many) -> None:
    costs = many.costs.copy()
    wrong = int(np.flatnonzero(many.found & (costs > 0))[0])
    costs[wrong] /= 2
    certificates = list(many.certificates)
    certificates[wrong] = reworded(certificates[wrong], cost=costs[wrong], bound=costs[wrong])
    found = check(replace(many, costs=costs, certificates=certificates), MODEL)
    assert not found.passed
    assert repr(found).startswith(f"Row {many.labels[wrong]}, answer 1:\n")
    assert "FAILED - the cost is" in repr(found)
    assert repr(found).endswith("29 of 30 answers hold")


def test_many_answers_are_refused_by_another_model_one_by_one(many) -> None:
    found = check(many, DecisionTreeClassifier().fit(FLOWERS, KINDS))
    assert not any(result.passed for result in found.results)
    assert repr(found).endswith("0 of 30 answers hold")


def test_the_model_is_read_once_for_many_answers(many, monkeypatch) -> None:
    read = []
    monkeypatch.setattr(claim, "read_onto", lambda *given: read.append(given) or read_onto(*given))
    assert check(many[:5], MODEL).passed
    assert len(read) == 1
    assert len(read[0][2]) == 5


def test_no_answers_cannot_be_checked(many) -> None:
    with pytest.raises(bf.errors.InputError, match="no answer"):
        check(many[:0], MODEL)
