"""Wrong input to the measures: each is a clear error (given, needed, what to do)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import butfor as bf
from butfor.errors import InputError, InputTypeError, NotFittedError, UnknownColumnError
from butfor.measure import Judge

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.integers(18, 80, 60), "job": RNG.choice(["clerk", "nurse", "pilot"], 60)})
Y = np.where(X["age"] + 9 * (X["job"] == "nurse") > 45, "yes", "no")
MODEL = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), LogisticRegression(max_iter=1000)
).fit(X, Y)
JUDGE = Judge(MODEL, X, target="yes")
ROW, TWO = X.iloc[[0]], X.iloc[:2]
SET = X[MODEL.predict(X) == "yes"].iloc[:3]


def of(answers: Any, factuals: Any = ROW, **given: Any) -> Callable[[], Any]:
    return lambda: JUDGE.frame({"dice": answers}, factuals, **given)


ERRORS: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    # the judge
    ("not fitted", lambda: Judge(LogisticRegression(), X), NotFittedError, "not fitted.*Call fit"),
    ("no class", lambda: Judge(MODEL, X, target="maybe"), InputError, "'maybe'.*'no', 'yes'"),
    ("no data", lambda: Judge(MODEL, X.iloc[:0]), InputError, "no rows"),
    ("a rule in words", lambda: Judge(MODEL, X, constraints=["be nice"]), InputError, "cannot be read"),
    ("a rule that is a number", lambda: Judge(MODEL, X, constraints=3), InputTypeError, "list"),  # type: ignore[arg-type]
    ("a rule on no column", lambda: Judge(MODEL, X, constraints=[bf.fixed("agee")]), UnknownColumnError, "'agee'.*age"),
    ("no neighbour", lambda: Judge(MODEL, X, neighbours=0), InputError, "neighbours=0.*at least 1"),
    # the answers
    ("wrong columns", of(SET.drop(columns="job")), UnknownColumnError, "answers of 'dice'.*missing.*job"),
    ("a missing value", of(SET.assign(age=[30, np.nan, 40])), InputError, "answers of 'dice'.*'age' is missing in row 1"),
    ("an unseen category", of(SET.assign(job="judge")), InputError, "answers of 'dice'.*'judge'.*clerk, nurse, pilot"),
    ("text for a number", of(SET.assign(age="forty")), InputError, "'forty'.*Convert"),
    ("an infinite value", of(SET.assign(age=np.inf)), InputError, "infinite"),
    ("an array", of(SET.to_numpy()), InputError, "answers of 'dice'.*array was given"),
    ("a word", of("answers.csv"), InputTypeError, "str was given"),
    ("a series", of(SET["age"]), InputTypeError, "double brackets"),
    ("too many for one table", of(SET, TWO), InputError, "3 answers was given for 2 factuals.*list with one table"),
    ("too short a list", of([SET], TWO), InputError, "list of 1 was given for 2 factuals"),
    ("a list of rows", of([[40, "nurse"]]), InputError, "answers of 'dice'.*two dimensions"),
    ("other factuals", lambda: JUDGE.measures(bf.Explainer(MODEL, X).explain(TWO, target="yes"), X.iloc[[0, 5]]),
     InputError, "the rows that were explained"),
    ("other number of factuals", lambda: JUDGE.measures(bf.Explainer(MODEL, X).explain(TWO, target="yes"), ROW),
     InputError, "answers to 2 other rows"),
    # the rest of the call
    ("no method", lambda: JUDGE.frame({}, ROW), InputTypeError, "by method"),
    ("a table for methods", lambda: JUDGE.frame(SET, ROW), InputTypeError, "by method"),  # type: ignore[arg-type]
    ("no factual", of([], X.iloc[:0]), InputError, "no factual"),
    ("a factual that is unseen", of(SET, ROW.assign(job="judge")), InputError, "'judge'"),
    ("k below the answers", of([SET, None], TWO, k=2), InputError, "'dice' gives 3 answers to the factual in row 0.*k=2"),
    ("k of zero", of(SET, k=0), InputError, "at least 1"),
    ("k of a half", of(SET, k=1.5), InputError, "whole number"),
    ("seconds of nobody", of(SET, seconds={"face": 1.0}), InputError, "'face'.*dice"),
    ("negative seconds", of(SET, seconds={"dice": -1.0}), InputError, "at least 0"),
    ("seconds that are NaN", of(SET, seconds={"dice": np.nan}), InputError, "at least 0"),
    ("seconds in words", of(SET, seconds={"dice": "long"}), InputTypeError, "at least 0"),
    ("too few seconds", of([SET, None], TWO, seconds={"dice": [1.0]}), InputError, "at least 0 is needed, or 2"),
    ("by a word", of(SET, by="row"), InputError, "'method' or 'factual'"),
    # the functions
    ("two factuals", lambda: bf.measure.proximity(TWO, SET, JUDGE.space), InputError, "2 rows.*Judge"),
    ("unseen, alone", lambda: bf.measure.diversity(SET.assign(job="judge"), JUDGE.space), InputError, "'judge'"),
    ("a strange word", lambda: bf.measure.standardised_diversity(SET, JUDGE.space, "kept"), InputError, "'left out'"),  # type: ignore[arg-type]
    ("a picture of another table", lambda: bf.measure.plot(X), InputError, "Judge.frame"),
    ("a picture of an unknown measure", lambda: bf.measure.plot(JUDGE.frame({"a": SET}, ROW), ["speed"]), InputError,
     "speed.*Choose from validity"),
    ("a picture of nothing", lambda: bf.measure.plot(JUDGE.frame({"a": SET}, ROW), []), InputError, "Choose from"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), [pytest.param(*case[1:], id=case[0]) for case in ERRORS])
def test_a_clear_error(call, error, words) -> None:
    with pytest.raises(error, match=f"(?s){words}") as caught:
        call()
    assert isinstance(caught.value, bf.ButforError)
    assert caught.value.given
    assert caught.value.needed or caught.value.remedy


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="speed"):
        bf.measure.speed  # noqa: B018
