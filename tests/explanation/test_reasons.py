"""Reason codes: the columns that an answer changes, in the lender's own words, the dearest first."""

from __future__ import annotations

from dataclasses import replace

import pytest

import butfor as bf
from tests.applicant import EXPLAINER, MODEL, ROW, X

CODES = {name: f"R{k:02d}" for k, name in enumerate(X.columns)}


def test_each_changed_column_has_its_code_and_the_dearest_comes_first() -> None:
    answer = EXPLAINER.explain(ROW, target="approved").only
    found = bf.reasons(answer, CODES)
    assert {one.column: (one.code, one.before, one.after) for one in found} == {
        change.name: (CODES[change.name], change.before, change.after) for change in answer.changes
    }
    shares = [one.share for one in found]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    wanted = sorted(answer.changes, key=lambda change: -abs(change.share))
    assert [one.column for one in found] == [change.name for change in wanted]
    assert bf.reasons(answer, CODES, most=1) == found[:1]
    again = bf.Explanation.from_json(answer.to_json())
    assert bf.reasons(again, CODES) == found


@pytest.mark.long
def test_of_an_impossible_row_the_closest_row_gives_the_reasons() -> None:
    kept = [name for name in X.columns if name not in ("savings", "amount")]
    answers = EXPLAINER.explain(X, target="approved", constraints=[bf.fixed(*kept)], conflicts=False)
    stuck = [one for one in answers if not one.found and one.closest_codes is not None]
    assert stuck
    for one in stuck[:5]:
        assert {reason.column for reason in bf.reasons(one, CODES)} <= {"savings", "amount"}
    nothing = EXPLAINER.explain(ROW, target="approved", constraints=[bf.fixed(*X.columns)]).only
    assert bf.reasons(nothing, CODES) == ()


def test_what_follows_by_itself_is_no_reason_and_has_no_share() -> None:
    led = [bf.follows("savings", 0.1, "income"), bf.fixed("savings", "amount", "months")]
    answers = EXPLAINER.explain(X[MODEL.predict(X) == "rejected"][:40], target="approved", constraints=led)
    one = next(one for one in answers if one.found and one.consequences)
    found = bf.reasons(one, CODES)
    assert {reason.column for reason in found} == {change.name for change in one.actions}
    assert sum(reason.share for reason in found) == pytest.approx(1)
    nearly = replace(one, point=None, point_codes=None, closest_codes=one.point_codes)
    assert bf.reasons(nearly, CODES) == found


def test_a_column_without_a_code_is_an_error_and_not_a_reason_fewer() -> None:
    answer = EXPLAINER.explain(ROW, target="approved").only
    name = answer.changes[0].name
    few = {other: code for other, code in CODES.items() if other != name}
    with pytest.raises(bf.errors.InputError, match=f"changes '{name}', for which no code was given"):
        bf.reasons(answer, few)
    with pytest.raises(bf.errors.InputError, match=r"does not read.*Did you mean 'income'"):
        bf.reasons(answer, {**CODES, "incom": "R99"})
    for bad in (0, 5, True, 1.5):
        with pytest.raises(bf.errors.InputError, match="At most 4 reasons"):
            bf.reasons(answer, CODES, most=bad)
    with pytest.raises(TypeError, match="A dict is needed"):
        bf.reasons(answer, ["income"])
    with pytest.raises(TypeError, match="answer of an explainer"):
        bf.reasons("income", CODES)
