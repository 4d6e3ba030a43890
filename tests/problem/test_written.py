"""Costs and constraints that are written as text mean what they say, and a text that cannot be read says how to write it."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.written.constraints import as_constraints, read_constraint
from butfor.problem.written.costs import read_cost
from butfor.problem.written.writing import written_constraint, written_cost
from butfor.space.feature import Feature
from butfor.space.space import Space

SPACE = Space(
    (
        Feature("age", low=18.0, high=80.0, step=1.0),
        Feature("income", low=0.0, high=9e4),
        Feature("dpd_30", low=0.0, high=9.0),
        Feature("dpd_90", low=0.0, high=9.0),
        Feature("petal length (cm)", low=0.0, high=9.0),
        Feature("a-b", low=0.0, high=9.0),
        Feature("a", low=0.0, high=9.0),
        Feature("2", low=0.0, high=9.0, missing=True),
        Feature("job", levels=("clerk", "nurse", "rents a flat", "<18")),
        Feature("school", levels=("none", "college", "master"), ordered=True),
        Feature("owns", levels=(False, True), ordered=True),
        Feature("zone", levels=(0, 1), ordered=True),
        Feature("step", low=0.0, high=9.0),
        Feature("share", low=0.0, high=1.0),
        Feature("first, last", low=0.0, high=9.0),
        Feature("9: to 5", low=0.0, high=9.0),
        Feature("men's age", low=0.0, high=9.0),
    )
)

WRITTEN = {
    "income <= 90000": bf.between("income", high=90000),
    "income<=9e4": bf.between("income", high=90000.0),
    "income ≤ 90_000": bf.between("income", high=90000),
    "90000 >= income": bf.between("income", high=90000),
    "age >= 18": bf.between("age", 18),
    "age >= -2": bf.between("age", -2),
    "-1.5 <= age": bf.between("age", -1.5),
    "age == 40": bf.between("age", 40, 40),
    "age = 40": bf.between("age", 40, 40),
    "18 <= age <= 65": bf.between("age", 18, 65),
    "65 >= age >= 18": bf.between("age", 18, 65),
    "income <= 1000 * 12 + 5": bf.between("income", high=12005),
    "petal length (cm) <= 3": bf.between("petal length (cm)", high=3),
    "'petal length (cm)' <= 3": bf.between("petal length (cm)", high=3),
    "a-b <= 3": bf.between("a-b", high=3),
    "step <= 3": bf.between("step", high=3),
    "'2' <= 3": bf.between("2", high=3),
    "dpd_30 <= dpd_90": bf.linear({"dpd_30": 1, "dpd_90": -1}, "<=", 0),
    "dpd_30 >= dpd_90 + 1": bf.linear({"dpd_30": 1, "dpd_90": -1}, ">=", 1),
    "age + 2*a <= 10": bf.linear({"age": 1, "a": 2}, "<=", 10),
    "age + a * 2 - income / 4 >= 10": bf.linear({"age": 1, "a": 2, "income": -0.25}, ">=", 10),
    "a - 1 == -dpd_30": bf.linear({"a": 1, "dpd_30": 1}, "==", 1),
    "2*age <= 10": bf.linear({"age": 2}, "<=", 10),
    "-age <= -18": bf.linear({"age": -1}, "<=", -18),
    "income <= 0.6 * age": bf.linear({"income": 1, "age": -0.6}, "<=", 0),
    "job == clerk": bf.allowed("job", ["clerk"]),
    "job = 'rents a flat'": bf.allowed("job", ["rents a flat"]),
    "job == rents a flat": bf.allowed("job", ["rents a flat"]),
    "job != clerk": bf.allowed("job", ["nurse", "rents a flat", "<18"]),
    "school >= college": bf.between("school", "college"),
    "college >= school": bf.between("school", high="college"),
    "owns == True": bf.allowed("owns", [True]),
    "zone == 1": bf.allowed("zone", [1]),
    "zone + age <= 9": bf.linear({"zone": 1, "age": 1}, "<=", 9),
    "fixed age": bf.fixed("age"),
    "fixed age income, job": bf.fixed("age", "income", "job"),
    "fixed petal length (cm) age": bf.fixed("petal length (cm)", "age"),
    "FIXED: age": bf.fixed("age"),
    "fixed 'first, last', age": bf.fixed("first, last", "age"),
    'fixed "first, last" `9: to 5` age': bf.fixed("first, last", "9: to 5", "age"),
    "fixed '2', men's age": bf.fixed("2", "men's age"),
    "within '9: to 5':0.1": bf.within("9: to 5", 0.1),
    "within '9: to 5' 10%": bf.within("9: to 5", 0.1),
    "step 'first, last':2": bf.step("first, last", 2.0),
    "whole 'first, last'": bf.whole("first, last"),
    "between 'first, last':1:2": bf.between("first, last", 1.0, 2.0),
    "between 'school':'none':college": bf.between("school", "none", "college"),
    "allowed 'job':'rents a flat',clerk": bf.allowed("job", ["rents a flat", "clerk"]),
    "allowed job: 'rents a flat', 'clerk'": bf.allowed("job", ["rents a flat", "clerk"]),
    "robust 'first, last':1,age:2": bf.robust({"first, last": 1.0, "age": 2.0}),
    "linked 'first, last', age": bf.linked("first, last", "age"),
    "follows 'first, last':0.1:'9: to 5'": bf.follows("first, last", 0.1, "9: to 5"),
    "only_up age, school": bf.only_up("age", "school"),
    "only-down income": bf.only_down("income"),
    "may_be_missing 2": bf.may_be_missing("2"),
    "between age 20 30": bf.between("age", 20.0, 30.0),
    "between age:20:30": bf.between("age", 20.0, 30.0),
    "between school:none:college": bf.between("school", "none", "college"),
    "within income 0.1": bf.within("income", 0.1),
    "within petal length (cm):0.1": bf.within("petal length (cm)", 0.1),
    "step income:500": bf.step("income", 500.0),
    "whole petal length (cm)": bf.whole("petal length (cm)"),
    "allowed job:clerk,nurse": bf.allowed("job", ["clerk", "nurse"]),
    "allowed job clerk, rents a flat": bf.allowed("job", ["clerk", "rents a flat"]),
    "allowed job: <18": bf.allowed("job", ["<18"]),
    "at_most_changes 3": bf.at_most_changes(3),
    "margin 0.01": bf.margin(0.01),
    "margin 1%": bf.margin(0.01),
    "confident 0.95": bf.confident(0.95),
    "confident 95 %": bf.confident(0.95),
    "within income 10 %": bf.within("income", 0.1),
    "between income:0:90,000": bf.between("income", 0.0, 90000.0),
    "income =< 90,000": bf.between("income", high=90000),
    "income => 90,000.50": bf.between("income", 90000.5),
    "income <= 90 000": bf.between("income", high=90000),
    "income <= 90\u202f000,5": bf.between("income", high=90000.5),
    "income <= 90.000,5": bf.between("income", high=90000.5),
    "income <= 1.090.000": bf.between("income", high=1090000),
    "income <= 90'000": bf.between("income", high=90000),
    "income <= 0.125": bf.between("income", high=0.125),
    "age <= 18.125": bf.between("age", high=18.125),
    "a <= 50% * income": bf.linear({"a": 1, "income": -0.5}, "<=", 0),
    "share <= 5%": bf.between("share", high=0.05),
    "a / age <= 0.5": bf.linear({"a": 1, "age": -0.5}, "<=", 0),
    "a/age <= 50 %": bf.linear({"a": 1, "age": -0.5}, "<=", 0),
    "0.5 >= 12*a/age/2": bf.linear({"age": 0.5, "a": -6.0}, ">=", 0),
    "12 / age + a/age >= 1": bf.linear({"a": 1, "age": -1}, ">=", -12),
    "job = Clerk": bf.allowed("job", ["clerk"]),
    "job = CLERK": bf.allowed("job", ["clerk"]),
    "if job == 'clerk' then income >= 20000": bf.implies(bf.allowed("job", ["clerk"]), bf.between("income", 20000)),
    "If job = clerk, then income >= 20,000": bf.implies(bf.allowed("job", ["clerk"]), bf.between("income", 20000)),
    "if school >= college then age <= 60": bf.implies(bf.between("school", "college"), bf.between("age", high=60)),
    "if petal length (cm) <= 3 then zone == 1": bf.implies(
        bf.between("petal length (cm)", high=3), bf.allowed("zone", [1])
    ),
    "if school rises then age rises by at least 2": bf.implies(bf.rises("school"), bf.rises("age", by=2)),
    "if job becomes rents a flat, then a falls by 0.5": bf.implies(
        bf.becomes("job", "rents a flat"), bf.falls("a", by=0.5)
    ),
    "robust 0.05": bf.robust(0.05),
    "robust income:500, age: 2": bf.robust({"income": 500.0, "age": 2.0}),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_a_text_means_its_constraint(text) -> None:
    (found,) = read_constraint(text, SPACE)
    found.validate(SPACE)
    assert found == WRITTEN[text]


PIECES = [
    *SPACE.names, "fixed", "only_up", "allowed", "between", "3", "0", "-2.5", "1e400", "1_0", ".", "'", '"', "`x`",
    "+", "-", "*", "/", "<=", ">=", "==", "=", "!=", "<", "≤", ":", ",", " ", "clerk", "master", "True", "nan", "é",
    "(", ")", "\n",
]  # fmt: skip
"""What a text is made of at random."""


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8), st.sampled_from(["", " "]))
def test_any_text_is_constraints_or_a_clear_error(pieces, glue) -> None:
    with suppress(bf.ButforError):
        found = read_constraint(glue.join(pieces), SPACE)
        assert found
        [constraint.validate(SPACE) for constraint in found]


def test_a_sum_between_two_numbers_is_two_constraints() -> None:
    assert read_constraint("1 <= age + a <= 9", SPACE) == [
        bf.linear({"age": -1, "a": -1}, "<=", -1),
        bf.linear({"age": 1, "a": 1}, "<=", 9),
    ]


def test_two_ends_of_a_condition_and_of_a_ratio_are_two_constraints() -> None:
    cause = bf.allowed("job", ["clerk"])
    assert read_constraint("if job = clerk then 20 <= age <= 60", SPACE) == [
        bf.implies(cause, bf.between("age", 20)),
        bf.implies(cause, bf.between("age", high=60)),
    ]
    assert read_constraint("0.1 <= a/age <= 0.5", SPACE) == [
        bf.linear({"age": 0.1, "a": -1}, "<=", 0),
        bf.linear({"a": 1, "age": -0.5}, "<=", 0),
    ]


def test_numbers_of_numpy_print_as_they_are_written() -> None:
    """So the question in words is the one in a record."""
    assert repr(bf.between("age", np.float64(2))) == "between('age', 2.0)"
    assert repr(bf.allowed("zone", [np.int64(1)])) == "allowed('zone', [1])"
    assert repr(bf.implies(bf.rises("age", np.float64(2)), bf.becomes("zone", np.int64(1)))) == (
        "implies(rises('age', by=2.0), becomes('zone', 1))"
    )
    assert repr(bf.L1({"age": np.float64(2)})) == "L1(weights={'age': 2.0})"
    assert repr(bf.moves("zone", {np.int64(0): [np.int64(1)]})) == "moves('zone', {0: [1]})"


WRONG = {
    "": "cannot be read",
    "   ": "cannot be read",
    "age": "cannot be read.*'income <= 90000'",
    "please keep age": "cannot be read",
    "age < 40": "write <= for <",
    "age > 40": "write >= for >",
    "age != 40": "only for columns with levels",
    "job < clerk": "write <= for <",
    "age <=": "cannot be read",
    "<= 3": "cannot be read",
    "age <= <= 3": "cannot be read",
    "1 <= age >= 3": "two of one direction",
    "1 <= age <= 3 <= 4": "two of one direction",
    "age <= a <= income": "two of one direction",
    "1 == age == 1": "two of one direction",
    "age * a <= 3": r"from 'a <= 3' \(character 7\) on.*A term is a number times one column",
    "age / 0 <= 3": "A term is a number times one column",
    "3 / income <= 3": "divides by 'income', whose values are 0 to 90000.*Write '3 <= 3.income' if that is meant",
    "a / income <= 0.5": "above 0.*Write 'a <= 0.5.income'.*declare the range",
    "a / job <= 0.5": "divides by 'job'.*a number above 0",
    "a / age / age <= 1": "divided by a number or by one other column",
    "a / age + income <= 1": "'income' would be multiplied by 'age': that is not linear",
    "a / age + 2 <= a / months": "no column 'months'",
    "a / age <= income / a": "All terms must be divided by the same column",
    "age + 3,5 <= 9": r"from '3,5 <= 9' \(character 7\) on.*write 3.5 for 3,5",
    "income <= 22.150": "22.150 may be read in two ways: write 22150 or 22.1500",
    "age <= 40%": "40% may be read in two ways: write 40 or 0.4",
    "if job == clerk income >= 2": "cannot be read.*both halves are needed",
    "if job == clerk then": "cannot be read",
    "if job = pilot then income >= 2": "'pilot'",
    "if 2 <= age <= 30 then income >= 2": "The cause '2 <= age <= 30' has two ends",
    "if job == clerk then fixed age": "Each part of a condition is a comparison of one column",
    "if age + a <= 3 then income >= 2": "Each part of a condition",
    "if job == clerk then income > 2": "in the constraint 'if job.*write >= for >",
    "if incom >= 3 then age >= 20": "no column 'incom'.*'income'",
    "if age rises by two then income >= 2": "Each part of a condition",
    "onlyup age": "Did you mean 'only_up'",
    "within age:10,5": "Write 10.5",
    "at_most_changes 2.5": "not a whole number",
    "2 age <= 3": "cannot be read",
    "age + + a": "cannot be read",
    "3 <= 5": "says nothing",
    "age <= age": "says nothing",
    "incom <= 3": "no column 'incom'.*income",
    "petal lenght <= 3": "no column 'petal lenght'.*petal length",
    "'agee' <= 3": "no column 'agee'.*age",
    "income <= nan": "no column 'nan'",
    "income <= 1 + inf": "no column 'inf'",
    "age == 1e400": "no column '1e400'",
    "job == pilot": "'pilot', which is not a value of 'job'.*clerk",
    "school >= pilot": "'pilot', which is not a value of 'school'",
    "job >= clerk": "have no order.*bf.allowed",
    "job != pilot": "!= is only",
    "age + job <= 3": "'job' is not a number",
    "65 <= age <= 18": "first end must not exceed the second",
    "fixed": r"bf.fixed\(\) says nothing",
    "fixed agee": "no column 'agee'.*age",
    "only_up job": "no order",
    "between age:20": "Write it as between A:LOW:HIGH",
    "between age": "Write it as between A:LOW:HIGH",
    "between age:20:old": "'old' is not a number",
    "within age:": "'' is not a number",
    "within age": "Write it as within A:SHARE",
    "step age:0": "positive",
    "whole": "no column ''",
    "allowed job": "Write it as allowed A:X,Y",
    "allowed job: pilot": "'pilot'",
    "at_most_changes two": "'two' is not a whole number",
    "margin wide": "'wide' is not a number",
    "job == 'clerk": r"The quote ' has no partner \(character 8\)",
    "fixed \"age, 'men's age'": r'The quote " has no partner \(character 7\). Close it',
    "income <= 9000`": "The quote ` has no partner",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_text_says_how_to_write_it(text) -> None:
    with pytest.raises(bf.ButforError, match=f"(?s){WRONG[text]}") as caught:
        [constraint.validate(SPACE) for constraint in read_constraint(text, SPACE)]
    assert isinstance(caught.value, ValueError | KeyError)
    assert caught.value.given
    assert caught.value.needed or caught.value.remedy


def test_what_may_be_given_as_constraints() -> None:
    up, end = bf.only_up("age"), bf.between("income", high=3)
    assert as_constraints("income <= 3", SPACE) == (end,)
    assert as_constraints(up, SPACE) == (up,)
    assert as_constraints((one for one in [up, "income <= 3"]), SPACE) == (up, end)
    assert as_constraints((), SPACE) == ()
    for wrong in (3, None, b"fixed age", {"age": 3}, [3], [["age <= 3"]], [bf.fixed]):
        with pytest.raises(bf.errors.InputTypeError, match="'income <= 90000'"):
            as_constraints(wrong, SPACE)
    with pytest.raises(bf.errors.InputTypeError, match=r"Call it: bf.fixed\(...\)"):
        as_constraints([bf.fixed], SPACE)


STRANGE = (
    "<0", "0<=X<200", ">=200", "!= 3", "own/rent", "a*age", "(x)", "it's <0", '5"', "`a` 'b'", "a, b", " a ", "3-5", "x.y z",
    "if", "pay if able", "now then later", "10:30", "5 %", "", "90,000", "≥ 2 = 3", "becomes a", "fixed age",
)  # fmt: skip
"""Levels that hold signs and words of constraints."""
UNSAYABLE = {"pay if able", "now then later", "10:30", "5 %"}
"""Those that some constraints cannot name."""


@pytest.mark.parametrize("ordered", [False, True])
def test_levels_that_hold_signs_of_a_text_are_written_so_that_they_are_read(ordered) -> None:
    space = Space((*SPACE, Feature("sort of <", levels=STRANGE, ordered=ordered), Feature("kind", levels=STRANGE)))
    for name, (level, other) in product(("sort of <", "kind"), pairwise((*STRANGE, STRANGE[0]))):
        given = [bf.allowed(name, [level]), bf.allowed(name, [level, other])]
        if ordered and name != "kind":
            given += [bf.between(name, level), bf.between(name, high=level)]
            given += [bf.between(name, level, other)] if STRANGE.index(level) < STRANGE.index(other) else []
        conditions = [bf.implies(one, given[0]) for one in given if not getattr(one, "closed", False)]
        conditions += [bf.implies(given[0], bf.becomes(name, other)), bf.implies(bf.becomes(name, other), given[1])]
        for one in (*given, *conditions, bf.follows("age", 2, bf.becomes(name, level))):
            text = written_constraint(one)
            assert text is not None or {level, other} & UNSAYABLE, one
            assert text is None or read_constraint(text, space) == [one], text


def test_what_no_text_says_is_not_written() -> None:
    assert written_constraint(bf.allowed("job", ["'\"`"])) is None
    assert written_constraint(bf.allowed("job", ["pay if able"])) is None
    assert written_constraint(bf.allowed("job", ["10:30", "a"])) is None
    assert written_constraint(bf.implies(bf.allowed("job", ["now then"]), bf.rises("age", 2))) is not None
    assert written_constraint(bf.implies(bf.allowed("job", ["a then b"]), bf.rises("age", 2))) is None
    assert written_constraint(bf.implies(bf.between("school", "none", "college"), bf.rises("age", 2))) is None
    assert written_constraint(bf.follows("age", 2, bf.becomes("job", "'\"`"))) is None


def test_two_ends_of_levels_that_are_numbers_are_written_in_a_condition() -> None:
    space = Space((*SPACE, Feature("grade", levels=(99, -1, 0.5), ordered=True)))
    for ends in ((-1, 0.5), (0.5, 0.5), (-3, 1.125)):
        one = bf.implies(bf.rises("age", 2), bf.between("grade", *ends))
        text = written_constraint(one)
        assert text is not None
        assert read_constraint(text, space) == [one]


@pytest.mark.parametrize("name", ["if", "Then", "allowed"])
def test_columns_named_like_words_of_a_condition(name) -> None:
    space = Space((*SPACE, Feature(name, low=0.0, high=9.0)))
    for one in (bf.between(name, 2), bf.implies(bf.between(name, 2), bf.rises("age", 2)), bf.fixed(name, "age")):
        text = written_constraint(one)
        assert text is not None
        assert read_constraint(text, space) == [one]


COSTS = {
    "L1": bf.L1(),
    "l1": bf.L1(),
    " LInf ": bf.LInf(),
    "L1+0.5*L0": bf.L1() + 0.5 * bf.L0(),
    "L1 + L0*0.5": bf.L1() + 0.5 * bf.L0(),
    "L1() + 0.5 * L0()": bf.L1() + 0.5 * bf.L0(),
    "1e+3*gower + 1e-3*MAD": 1000 * bf.Gower() + 0.001 * bf.MAD(),
}


@pytest.mark.parametrize("text", COSTS)
def test_a_cost_as_text(text) -> None:
    assert read_cost(text) == COSTS[text]


@pytest.mark.parametrize("weight", [11, 21.0, 0.5, 1e-05, 1e16, 0.1])
def test_a_weight_is_written_as_it_is(weight) -> None:
    for cost in (weight * bf.L0(), bf.L1() + weight * bf.L0(), weight * bf.L2() + 1 * bf.Missing(lost=11.0)):
        written = written_cost(cost)
        assert written is not None
        assert read_cost(written[0]) == cost


@pytest.mark.parametrize(
    "text", ["", "L3", "L1+", "+", "L1*L0", "2*3", "2*", "*L1", "x*L1", "-1*L1", "nan*L1", "inf*L1", "L1-L0", "2*3*L1"]
)
def test_a_wrong_cost_as_text(text) -> None:
    with pytest.raises(bf.errors.InputError) as caught:
        read_cost(text)
    assert caught.value.needed


def test_the_explainer_takes_texts() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"debt": rng.integers(0, 9, 200), "late": rng.integers(0, 9, 200), "job": rng.choice(["a", "b"], 200)}
    )
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[["debt", "late"]], X["debt"] + X["late"] > 8)
    explainer = bf.Explainer(model, X[["debt", "late"]])
    row = X.loc[model.predict(X[["debt", "late"]]), ["debt", "late"]].iloc[[0]]
    texts = ["debt <= 8", "late <= debt", "only_down late"]
    objects = [bf.between("debt", high=8), bf.linear({"late": 1, "debt": -1}, "<=", 0), bf.only_down("late")]
    said = explainer.explain(row, cost="L1+0.5*L0", constraints=texts)
    meant = explainer.explain(row, cost=bf.L1() + 0.5 * bf.L0(), constraints=objects)
    assert (said.cost, said.question.constraints) == (meant.cost, meant.question.constraints)
    assert bf.check(said.only, model).passed
    assert explainer.solvers(cost="L2", constraints="debt <= 8")
    stuck = explainer.explain(row, constraints=["debt >= 7", "debt <= 2"])
    assert stuck.certificate.status is bf.Status.PROVEN_INFEASIBLE
    assert stuck.certificate.conflict == ("between('debt', 7)", "between('debt', high=2)")
