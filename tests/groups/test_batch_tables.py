"""What is counted in a batch: statuses, conflicts, changes and costs by group, judged by pandas and by hand."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.groups.counted import NOT_LOOKED_FOR, STATUSES
from butfor.groups.firsts import firsts, groups_of

X, _ = loans.load()
ROWS = X.iloc[:80].set_index(np.arange(500, 580))
MODEL = loans.pipeline().fit(*loans.load())
EXPLAINER = bf.Explainer(MODEL, X)
RULES = [bf.fixed("sex", "age", "amount", "months", "job"), bf.only_up("late_payments"), bf.within("income", 0.1)]
ANSWERS = EXPLAINER.explain(ROWS, target="approved", constraints=RULES)
EASY = EXPLAINER.explain(ROWS, target="approved", k=2)


def facts(answers: Any = ANSWERS, rows: pd.DataFrame = ROWS) -> pd.DataFrame:
    """The same facts, read from single answers."""
    firsts = [one for one in answers if one.rank == 1]
    return pd.DataFrame(
        {
            "sex": rows["sex"].to_numpy(),
            "status": [one.certificate.status for one in firsts],
            "cost": [one.cost for one in firsts],
            "changes": [{change.name: change for change in one.changes} for one in firsts],
            "conflict": [one.certificate.conflict for one in firsts],
        }
    )


def test_statuses_are_counted() -> None:
    found = bf.groups.statuses(ANSWERS, by="sex")
    for group, own in facts().groupby("sex"):
        lines = found[found["group"] == group].set_index("status")
        already = (own["cost"] == 0).sum()
        assert lines["rows"].sum() == len(own)
        assert lines.loc["already met", "rows"] == already
        assert lines.loc["proven optimal", "rows"] == (own["status"] == bf.Status.PROVEN_OPTIMAL).sum() - already
        assert lines.loc["proven impossible", "rows"] == (own["status"] == bf.Status.PROVEN_INFEASIBLE).sum() > 0
        assert lines["share"].sum() == pytest.approx(1.0)
    assert set(found["status"]) <= set(STATUSES)
    assert "group" not in bf.groups.statuses(ANSWERS).columns


@pytest.mark.long
def test_conflicts_are_counted_and_those_not_looked_for_are_said() -> None:
    found = bf.groups.conflicts(ANSWERS).set_index("conflict")["rows"].to_dict()
    impossible = facts()[lambda own: own["status"] == bf.Status.PROVEN_INFEASIBLE]
    words = impossible["conflict"].map(lambda conflict: " and ".join(conflict) or NOT_LOOKED_FOR)
    assert found == words.value_counts().to_dict()
    assert len(impossible) > 10
    assert found[NOT_LOOKED_FOR] == len(impossible) - 10
    assert bf.groups.conflicts(ANSWERS)["conflict"].iloc[-1] == NOT_LOOKED_FOR
    assert bf.groups.conflicts(ANSWERS)["share"].sum() == pytest.approx(1.0)
    few = [EXPLAINER.explain(ROWS.iloc[i : i + 10], target="approved", constraints=RULES) for i in range(0, 80, 10)]
    assert NOT_LOOKED_FOR not in set(bf.groups.conflicts(few)["conflict"])
    assert bf.groups.conflicts(few)["rows"].sum() == len(impossible)
    assert not len(bf.groups.conflicts(EASY))


def test_changes_are_counted_and_sized() -> None:
    own = facts(EASY)
    found = bf.groups.changes(EASY, by="sex")
    for group, part in own.groupby("sex"):
        changing = [changes for changes in part["changes"] if changes]
        lines = found[found["group"] == group].set_index("column")
        for name in lines.index:
            sizes = [changes[name].change for changes in changing if name in changes]
            assert lines.loc[name, "rows"] == len(sizes)
            assert lines.loc[name, "share"] == len(sizes) / len(changing)
            assert lines.loc[name, "up"] == sum(size > 0 for size in sizes)
            assert lines.loc[name, "down"] == sum(size < 0 for size in sizes)
            if sizes:
                assert lines.loc[name, "median"] == pytest.approx(np.median(sizes))
                assert abs(lines.loc[name, "least"]) == min(map(abs, sizes))
                assert abs(lines.loc[name, "most"]) == max(map(abs, sizes))
    assert set(found["column"]) == {name for changes in own["changes"] for name in changes}
    assert found["column"].iloc[0] == max(set(found["column"]), key=lambda n: sum(n in c for c in own["changes"]))


@pytest.mark.long
def test_levels_are_counted_by_what_they_become() -> None:
    free = ["job", "education"]
    answers = EXPLAINER.explain(X, target="approved", constraints=bf.fixed(*(n for n in X if n not in free)))
    found = bf.groups.changes(answers).set_index("column")
    became = facts(answers, X)["changes"].map(lambda changes: changes["job"].after if "job" in changes else None)
    assert found.loc["job", "becomes"] == became.value_counts().index[0]
    assert pd.isna(found.loc["job", "up"])
    assert pd.isna(found.loc["job", "median"])


def test_shifts_are_shares_of_the_range() -> None:
    found = bf.groups.shifts(EASY).set_index("row")
    own = facts(EASY).set_index(ROWS.index)
    assert sorted(found.index) == sorted(own.index[own["changes"].map(bool)])
    for row, line in found.iterrows():
        changes = own.loc[row, "changes"]
        assert {name for name, share in line.items() if share} == set(changes)
        assert all(line[name] == pytest.approx(change.share) for name, change in changes.items())


def test_shifts_of_levels_and_missing_values_count_one() -> None:
    table = pd.DataFrame({"row": ["a", "b"] * 20, "x": [0.0, np.nan, 1.0, 1.0] * 10})

    steps = make_column_transformer((OneHotEncoder(), ["row"]), (SimpleImputer(), ["x"]))
    model = make_pipeline(steps, DecisionTreeClassifier(random_state=0)).fit(
        table, (table["row"] == "b") & (table["x"].fillna(0.4) > 0.5)
    )
    answers = bf.Explainer(model, table).explain(table.iloc[:2], target=True)
    found = bf.groups.shifts(answers)
    assert next(iter(found.columns)) == "row"
    assert "row (column)" in found.columns
    assert found.set_index("row").abs().max().tolist() == [1.0, 1.0]


def test_costs_are_means_over_answered_rows() -> None:
    found = bf.groups.costs(ANSWERS, by="sex", seed=1).set_index("group")
    for group, own in facts().groupby("sex"):
        need = own[own["cost"] != 0]
        paid = need["cost"][np.isfinite(need["cost"])]
        line = found.loc[group]
        assert (line["rows"], line["answered"], line["open"]) == (len(need), len(paid), 0)
        assert line["impossible"] == len(need) - len(paid)
        assert line["proven"] == len(paid)
        assert line["mean"] == pytest.approx(paid.mean())
        assert line["median"] == pytest.approx(paid.median())
        assert line["low"] <= line["mean"] <= line["high"]
        wide = bf.groups.costs(ANSWERS, by="sex", seed=1, confidence=0.99).set_index("group").loc[group]
        assert wide["high"] - wide["low"] >= line["high"] - line["low"]
    assert found.equals(bf.groups.costs(ANSWERS, by="sex", seed=1).set_index("group"))


def test_the_interval_is_that_of_the_exact_bootstrap() -> None:
    """Of two values a resample has the mean a, (a + b) / 2 or b, with chances 1/4, 1/2, 1/4."""
    paid = [i for i, one in enumerate(EASY) if one.rank == 1 and one.cost > 0]
    two = [EASY[paid[0]], EASY[paid[1]]]
    ends = sorted(one.cost for one in two)
    assert ends[0] < ends[1]
    for confidence, wanted in ((0.9, ends), (0.4, [np.mean(ends)] * 2)):
        (line,) = bf.groups.costs(two, confidence=confidence)[["low", "high"]].to_numpy().tolist()
        assert line == pytest.approx(wanted)


def test_a_group_of_one_has_no_interval() -> None:
    found = bf.groups.costs(EASY, by=["one"] + ["rest"] * (len(ROWS) - 1)).set_index("group")
    assert found.loc[["one"], ["low", "high"]].isna().all().all()
    assert found.loc["rest", ["low", "high"]].notna().all()


def test_the_permutation_test_is_that_of_all_permutations() -> None:
    """Of seven rows all 5,040 orders can be tried."""
    paid = [one for one in EASY if one.rank == 1 and one.cost > 0][:7]
    cost = np.array([one.cost for one in paid])
    spreads = []
    for order in permutations(range(7)):
        shuffled = cost[list(order)]
        spreads.append(sum(n * (part.mean() - cost.mean()) ** 2 for n, part in ((3, shuffled[:3]), (4, shuffled[3:]))))
    exact = np.mean(np.array(spreads) >= spreads[0] - 1e-9)
    found = bf.groups.differences(paid, by=["a"] * 3 + ["b"] * 4, draws=20_000, seed=3).set_index("quantity")
    line = found.loc["mean cost"]
    assert line["p"] == pytest.approx(exact, abs=0.02)
    assert line["difference"] == pytest.approx(abs(cost[:3].mean() - cost[3:].mean()))
    assert found.loc["share impossible", "p"] == 1.0
    again = bf.groups.differences(paid, by=["a"] * 3 + ["b"] * 4, draws=20_000, seed=3).set_index("quantity")
    assert found.equals(again)


def test_equal_groups_do_not_differ_and_unequal_ones_do() -> None:
    paid = [one for one in EASY if one.rank == 1 and one.cost > 0]
    by_cost = np.argsort(np.argsort([one.cost for one in paid])) < len(paid) // 2
    assert bf.groups.differences(paid, by=by_cost)["p"].iloc[0] < 0.01
    twice = [*paid, *paid]
    assert bf.groups.differences(twice, by=["a"] * len(paid) + ["b"] * len(paid))["p"].iloc[0] == 1.0


def test_groups_that_have_no_answer_are_an_outcome() -> None:
    none = EXPLAINER.explain(ROWS, target="approved", constraints=bf.fixed(*X.columns))
    found = bf.groups.costs(none, by="sex")
    assert found["answered"].tolist() == [0, 0]
    assert found[["mean", "low", "high", "median"]].isna().all().all()
    assert bf.groups.differences(none, by="sex")["p"].isna().tolist() == [True, False]
    assert not len(bf.groups.changes(none))
    assert not len(bf.groups.shifts(none))


def test_all_forms_of_a_batch_say_the_same() -> None:
    whole = bf.groups.statuses(EASY, by="sex")
    halves = [EXPLAINER.explain(part, target="approved") for part in (ROWS.iloc[:30], ROWS.iloc[30:])]
    assert whole.equals(bf.groups.statuses(halves, by="sex"))
    assert whole.equals(bf.groups.statuses(list(EASY), by="sex"))
    assert whole.equals(bf.groups.statuses(EASY, by=ROWS["sex"]))
    assert whole.equals(bf.groups.statuses(bf.Explanations.from_jsonl(EASY.to_jsonl()), by="sex"))
    some = EASY[EASY.rows < 30]
    assert bf.groups.statuses(some, by="sex").equals(bf.groups.statuses(halves[0], by="sex"))
    assert bf.groups.statuses(EASY[0])["rows"].tolist() == [1]


@pytest.mark.parametrize("make", [pl.from_pandas, lambda table: table.to_numpy()])
def test_tables_are_of_the_kind_that_was_explained(make) -> None:
    numbers = X[["income", "amount", "age"]].astype(float)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(numbers.to_numpy(), MODEL.predict(X))
    table = make(numbers)
    if isinstance(table, pl.DataFrame):
        model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, MODEL.predict(X))
    answers = bf.Explainer(model, table).explain(table[:40], target="approved")
    plain = bf.Explainer(DecisionTreeClassifier(max_depth=4, random_state=0).fit(numbers, MODEL.predict(X)), numbers)
    wanted = plain.explain(numbers.iloc[:40], target="approved")
    by = ["a", "b"] * 20
    for function in (bf.groups.statuses, bf.groups.costs, bf.groups.changes, bf.groups.conflicts):
        found, shown = function(answers, by=by), function(wanted, by=by)
        assert isinstance(found, pl.DataFrame | dict)
        found = found if isinstance(found, dict) else found.to_dict(as_series=False)
        assert [str(name) for name in found if name != "column"] == [n for n in shown.columns if n != "column"]
        assert found.get("rows") == shown.get("rows").tolist()


def test_missing_and_mixed_groups_have_names() -> None:
    found = bf.groups.statuses(EASY, by=[None, 3, "x"] + [2.5] * (len(ROWS) - 3))
    assert list(dict.fromkeys(found["group"])) == ["2.5", "3", "missing", "x"]
    ages = bf.groups.statuses(EASY, by=pd.cut(ROWS["age"], [0, 30, 50, 99]))
    assert set(ages["group"]) == {"(0, 30]", "(30, 50]", "(50, 99]"}
    assert list(dict.fromkeys(bf.groups.statuses(EASY, by="months")["group"])) == sorted(set(ROWS["months"]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bf.groups.statuses(ANSWERS, by="gender"), "by='gender' was given. The columns are age, sex"),
        (lambda: bf.groups.statuses(ANSWERS, by=["a"] * 3), "3 groups, and 80 rows"),
        (lambda: bf.groups.statuses(ANSWERS, by=3), "by=3 was given"),
        (lambda: bf.groups.statuses(ANSWERS[:0]), "no answer was given"),
        (lambda: bf.groups.statuses([]), "no answer was given"),
        (lambda: bf.groups.statuses(X), "DataFrame was given"),
        (lambda: bf.groups.statuses([X]), "DataFrame was given"),
        (lambda: bf.groups.statuses("answers"), "str was given"),
        (lambda: bf.groups.costs([ANSWERS, EASY]), "answers to different questions were given together: approved at"),
        (lambda: bf.groups.costs(ANSWERS, confidence=95), "confidence=95 was given"),
        (lambda: bf.groups.costs(ANSWERS, draws=0), "draws=0 was given"),
        (lambda: bf.groups.differences(ANSWERS, by=["a"] * 80), "all rows are of the group 'a'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call, words) -> None:
    with pytest.raises(bf.ButforError, match=words.replace("(", r"\(")):
        call()


def test_answers_about_different_models_are_refused() -> None:
    other = loans.pipeline().set_params(tree__max_depth=2).fit(*loans.load())
    theirs = bf.Explainer(other, X).explain(ROWS, target="approved", constraints=RULES)
    with pytest.raises(bf.errors.InputError, match="different models"):
        bf.groups.statuses([ANSWERS, theirs])


def test_missing_groups_stand_beside_one_that_is_called_so() -> None:
    given = [None, "missing", float("nan"), "a"] * (len(ROWS) // 4)
    known = firsts(ANSWERS)
    parts = {group: rows.tolist() for group, rows in groups_of(known, given).items()}
    every = list(range(len(ROWS)))
    assert parts == {
        "(missing)": [i for i in every if i % 2 == 0],
        "a": every[3::4],
        "missing": every[1::4],
    }
    assert list(groups_of(known, [None, 2.0, 10, "x"] * (len(ROWS) // 4))) == [2.0, 10, "missing", "x"]


def test_many_groups_are_told_apart() -> None:
    known = firsts([ANSWERS] * 250)
    parts = groups_of(known, np.arange(len(known)) // 2)
    assert [rows.tolist() for rows in parts.values()] == np.arange(len(known)).reshape(-1, 2).tolist()
