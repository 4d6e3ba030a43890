"""An answer as plain data: the whole record, or the little that a service sends."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import butfor as bf
from tests.applicant import EXPLAINER, POSSIBLE, ROW, STUCK, X

FOUND = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE).only
NAMES = [
    "row", "rank", "status", "found", "before", "after", "cost", "bound", "score", "changes", "conflict", "why",
]  # fmt: skip


def test_the_brief_form_says_what_changes_and_what_is_proven() -> None:
    brief = FOUND.to_dict("brief")
    assert [*brief] == NAMES
    assert (brief["status"], brief["before"], brief["after"]) == ("PROVEN_OPTIMAL", "rejected", "approved")
    assert (brief["cost"], brief["bound"]) == (FOUND.cost, FOUND.certificate.bound)
    assert {one["column"]: (one["before"], one["after"]) for one in brief["changes"]} == {
        one.name: (one.before, one.after) for one in FOUND.changes
    }
    assert brief["score"] == {"before": FOUND.score.before, "after": FOUND.score.after, "threshold": 0.5}
    assert len(json.dumps(brief)) < len(FOUND.to_json(indent=None)) / 5


def test_the_full_form_is_the_record() -> None:
    assert FOUND.to_dict() == json.loads(FOUND.to_json())
    assert bf.Explanation.from_json(json.dumps(FOUND.to_dict())) == FOUND


def test_every_outcome_is_plain_json() -> None:
    impossible = EXPLAINER.explain(ROW, target="approved", constraints=[*STUCK, bf.fixed("savings", "housing")]).only
    already = EXPLAINER.explain(X[EXPLAINER.model.predict(X) == "approved"].iloc[:1], target="approved").only
    patients, disease = load_diabetes(return_X_y=True)
    number = bf.Explainer(Ridge().fit(patients, disease), patients).explain(patients[:1], bf.value(at_least=180)).only
    late = EXPLAINER.explain(ROW, target="approved", time_limit=1e-9).only
    for one in (impossible, already, number, late):
        brief = one.to_dict("brief")
        assert json.loads(json.dumps(brief, allow_nan=False)) == brief
        assert brief["found"] == one.found
        assert brief["status"] == one.certificate.status.name
    assert impossible.to_dict("brief")["cost"] is None
    assert impossible.to_dict("brief")["bound"] is None
    assert impossible.to_dict("brief")["conflict"] == [*impossible.certificate.conflict]
    assert already.to_dict("brief")["changes"] == []
    assert isinstance(number.to_dict("brief")["before"], float)


def test_answers_to_one_row_have_it_too_and_several_say_what_to_do() -> None:
    answers = EXPLAINER.explain(X.iloc[:2], target="approved")
    assert answers[:1].to_dict("brief") == answers[0].to_dict("brief")
    with pytest.raises(bf.errors.InputError, match="these are 2 answers"):
        answers.to_dict("brief")
    assert np.array_equal([one.to_dict("brief")["row"] for one in answers], answers.rows)


def test_another_form_is_refused() -> None:
    with pytest.raises(bf.errors.InputError, match=r"form='short' was given\. The forms are full, brief"):
        FOUND.to_dict("short")  # type: ignore[arg-type]
