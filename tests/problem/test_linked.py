"""`bf.linked` and `bf.combinations`: what they learn, what they refuse, and how they are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.constraints.linked import MOST_TOGETHER, Combinations, counted, groups
from butfor.problem.constraints.relations import AtMost, Fresh
from butfor.problem.spec import from_spec, to_spec

DATA = pd.DataFrame({
    "degree": pd.Categorical(["none", "school", "none", "master"]),
    "years": [8, 10, 8, 18],
    "paid": np.array([1.5, 0.1, 1.5, np.nan], dtype=np.float32),
    "member": [True, False, True, True],
    "x": [0.0, 1.0, 2.0, 3.0],
})  # fmt: skip
Y = np.array([0, 1, 0, 1])
EXPLAINER = bf.Explainer(HistGradientBoostingClassifier(categorical_features="from_dtype").fit(DATA, Y), DATA)
SPACE = EXPLAINER.space


def rows(constraint: Combinations) -> set[tuple[object, ...]]:
    learnt = constraint.learnt(SPACE, DATA)
    assert learnt.table is not None
    return set(learnt.table)


def test_what_occurs_is_learnt_each_once() -> None:
    assert rows(bf.linked("degree", "years")) == {("none", 8), ("school", 10), ("master", 18)}
    assert rows(bf.combinations("years", "degree")) == {(8, "none"), (10, "school"), (18, "master")}


def test_a_missing_value_and_a_truth_value_are_part_of_a_combination() -> None:
    assert rows(bf.combinations("member", "paid")) == {(True, 1.5), (False, float(np.float32(0.1))), (True, None)}


def test_what_is_learnt_is_what_the_columns_hold() -> None:
    """Also numbers of single precision: the rows of the data themselves keep it."""
    learnt = bf.combinations("member", "paid").learnt(SPACE, DATA)
    points = SPACE.encode(DATA)
    assert learnt.holds_between(SPACE, points[[0]] * 0, points).all()


def test_an_answer_has_a_combination_or_what_the_row_has() -> None:
    rule = bf.linked("degree", "years").learnt(SPACE, DATA)
    start = SPACE.encode(DATA.assign(years=9).iloc[[0]])
    before = np.repeat(start, 5, axis=0)
    after = before.copy()
    j, k = SPACE.index("degree"), SPACE.index("years")
    master, school = (SPACE["degree"].levels.index(level) for level in ("master", "school"))
    after[1:, j] = [master, master, school, after[0, j]]
    after[1:, k] = [18, 10, np.nan, 8]
    assert rule.holds_between(SPACE, before, after).tolist() == [True, True, False, False, True]
    after[:, SPACE.index("x")] += 1
    assert rule.holds_between(SPACE, before, after).tolist() == [True, True, False, False, True]


def test_a_table_takes_the_place_of_the_data() -> None:
    table = pl.DataFrame({"years": [8, 18, 8], "more": [0, 0, 0], "degree": ["none", "master", "none"]})
    given = bf.linked("degree", "years", table=table)
    assert given.learnt(SPACE, DATA).table == (("none", 8), ("master", 18))


def test_what_contradicts_a_link_is_named() -> None:
    data = DATA.assign(years=[8, 10, 9, 18])
    explainer = bf.Explainer(DecisionTreeClassifier().fit(data[["years", "x"]], Y), data[["years", "x"]])
    explainer.explain(data[["years", "x"]].iloc[[0]], constraints=[bf.linked("x", "years")])
    with pytest.raises(bf.errors.InputError, match="'degree' is 'none', 'years' is 8 in row 0 and 9 in row 2"):
        bf.linked("degree", "years").learnt(SPACE, data)
    with pytest.raises(bf.errors.InputError, match=r"row 0 and 9 in row 2.*use bf.combinations\('degree', 'years'\)"):
        bf.linked("degree", "years", table=data)
    assert len(bf.combinations("degree", "years", table=data).table or ()) == 4


def test_too_many_values_are_an_error_that_names_the_column() -> None:
    many = pd.DataFrame({"a": np.arange(MOST_TOGETHER + 1) % 7, "b": np.linspace(0, 1, MOST_TOGETHER + 1)})
    with pytest.raises(bf.errors.InputError, match=r"1,001 combinations.*at most 1,000.*Leave out 'b', or round it"):
        bf.combinations("a", "b", table=many)
    explainer = bf.Explainer(DecisionTreeClassifier().fit(many, many.a > 3), many)
    with pytest.raises(bf.errors.InputError, match="the data has 1,001 combinations"):
        explainer.explain(many.iloc[[0]], constraints=[bf.linked("b", "a")])


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (lambda: bf.linked("degree", "yeers"), "no column 'yeers'.*Did you mean 'years'"),
        (lambda: bf.linked("degree"), "at least two columns"),
        (lambda: bf.combinations("years", "years"), "at least two columns, each once"),
        (lambda: bf.linked("degree", "years", table=DATA[["degree"]]), "a table without 'years'"),
        (
            lambda: bf.linked("degree", "years", table=DATA[:1].assign(degree="doctor")),
            "'doctor', which is not a value",
        ),
        (
            lambda: bf.linked("years", "degree", table=DATA[:1].assign(years="8")),
            "for 'years'.*This column holds numbers",
        ),
        (lambda: "linked degree", "at least two columns"),
    ],
)
def test_what_is_refused(constraint, message) -> None:
    with pytest.raises(bf.ButforError, match=message):
        EXPLAINER.explain(DATA.iloc[[0]], constraints=[constraint()])


def test_it_is_written_and_read_again() -> None:
    for rule in (bf.linked("degree", "years"), bf.combinations("member", "paid")):
        learnt = rule.learnt(SPACE, DATA)
        assert from_spec(to_spec(learnt)) == learnt
        assert repr(rule) == repr(learnt)


def test_it_is_told_and_written_as_text() -> None:
    answer = EXPLAINER.explain(DATA.iloc[[0]], constraints=["linked degree, years", "combinations member paid"])
    assert answer.only.question.constraints == ("linked('degree', 'years')", "combinations('member', 'paid')")
    told = answer.only.to_html()
    assert "years goes with degree" in told
    assert "member and paid have values that occur together" in told


def test_columns_that_belong_together_count_as_one() -> None:
    together = groups([bf.linked("a", "b"), bf.combinations("c", "d"), bf.linked("d", "b"), bf.fixed("x")])
    assert [set(names) for names in together] == [{"a", "b", "c", "d"}]
    space = bf.Explainer(DecisionTreeClassifier().fit(WIDE, [0, 1]), WIDE).space
    changed = np.array([[True, True, False, True, False], [False, False, True, False, True]])
    assert counted(space, changed, (("b", "d"),)).tolist() == [
        [True, True, False, False, False], [False, False, True, False, True]
    ]  # fmt: skip
    before, after = np.zeros((2, 5)), changed.astype(float)
    pair = bf.linked("b", "d")
    alone, beside = AtMost(2), AtMost(2).among((pair,))
    assert alone.holds_between(space, before, after).tolist() == [False, True]
    assert beside.holds_between(space, before, after).tolist() == [True, True]
    fresh = Fresh.from_answer(space, before[0], after[0], groups([pair]))
    assert fresh.names == ("a", "b")
    other = np.array([[1, 0, 0, 1, 0], [1, 0, 0, 0, 0], [0, 1, 0, 1, 0]], dtype=float)
    assert fresh.holds_between(space, np.zeros((3, 5)), other).tolist() == [False, True, True]


WIDE = pd.DataFrame(np.arange(10.0).reshape(2, 5), columns=list("abcde"))
