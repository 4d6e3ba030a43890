"""A desk alone: rows that are typed over dummies, columns that rules keep, classes of any type, and rows that are odd."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import butfor as bf
from butfor.datasets import loans
from butfor.errors import InputError
from butfor.serve.answering import DESK_WORK, scored
from butfor.serve.conversation import desk_html
from butfor.serve.desk import Desk
from butfor.serve.filled import Wanted
from butfor.serve.page import page
from butfor.serve.plain import Json
from butfor.serve.team import Team

ALL, LABELS = loans.load()
X, Y = ALL[["age", "job", "income", "amount", "late_payments"]].iloc[:300], LABELS[:300]


def desk_over(table: Any, labels: Any = Y, **given: Any) -> Desk:
    """A desk of a forest over a table, whose texts are encoded in a pipeline."""
    forest = RandomForestClassifier(10, max_depth=4, random_state=0)
    if isinstance(table, pd.DataFrame):
        texts = [name for name in table if table[name].map(type).eq(str).any()]
        encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
        model = make_pipeline(encode, forest) if texts else forest
    else:
        model = forest
    return Desk(bf.Explainer(model.fit(table, labels), table, **given), table)


# ---- typed rows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [bool, int, float])
def test_a_row_over_dummies_is_typed_by_feature_or_by_column(kind: type) -> None:
    table = pd.get_dummies(X[["age", "job", "income"]], dtype=kind)
    desk = desk_over(table)
    shown = desk.row(0)
    assert set(shown["values"]) == {"age", "income", "job"}
    told = scored(desk, {"row": shown["values"]})
    assert told == {name: shown[name] for name in told}
    assert scored(desk, {"row": table.iloc[:1].to_dict("records")[0]}) == told
    other = desk.typed({**shown["values"], "job": "permanent"})
    assert desk.values(other)[0] == {**shown["values"], "job": "permanent"}
    assert other.dtypes.to_dict() == table.dtypes.to_dict()


def test_a_question_is_asked_from_a_typed_row_over_dummies() -> None:
    desk = desk_over(pd.get_dummies(X[["age", "job", "income"]]))
    numbered, typed = ([*DESK_WORK["explain"](desk, {"row": row}, "")] for row in (0, desk.row(0)["values"]))
    assert typed[-1]["answers"][0]["changes"] == numbered[-1]["answers"][0]["changes"]


def test_columns_of_an_array_are_typed_as_the_feature_that_they_are() -> None:
    size = np.arange(300) % 4
    table = np.column_stack([X["income"], *(size >= k for k in (1, 2, 3))]).astype(float)
    desk = desk_over(table, size > 1, space={"size": bf.thermometer("x1", "x2", "x3")})
    assert desk.typed(desk.row(2)["values"]).tolist() == [[X["income"].iloc[2], 1.0, 1.0, 0.0]]


@pytest.mark.parametrize("level", ["pilot", None, [1], {}])
def test_what_is_no_level_of_dummies_is_refused(level: Any) -> None:
    with pytest.raises(InputError, match="not a value of 'job'"):
        desk_over(pd.get_dummies(X[["age", "job"]])).typed({"age": 30, "job": level})


def test_dummies_that_are_typed_in_part_are_lacking() -> None:
    with pytest.raises(InputError, match="lacks 'job'"):
        desk_over(pd.get_dummies(X[["age", "job"]])).typed({"age": 30, "job_permanent": 1})


# ---- columns that rules keep -----------------------------------------------------------------------------------------

KEPT: dict[str, tuple[list[Any], set[str]]] = {
    "nothing": ([], set()),
    "fixed columns": (["fixed age, job"], {"age", "job"}),
    "a range inside the data": ([bf.between("income", 25_000, 30_000)], set()),
    "one value": ([bf.between("income", 25_000, 25_000), bf.allowed("job", ["permanent"])], set()),
    "a grid beside the ends": ([bf.step("amount", 700)], set()),
    "near the own value": (["within income:10%"], set()),
    "down from the smallest": ([bf.only_down("late_payments")], set()),
    "moves from elsewhere": ([bf.moves("job", {"temporary": ["permanent"]})], set()),
    "a relation": (["amount <= income"], set()),
    "what may be missing": ([bf.may_be_missing("age"), bf.fixed("income")], {"income"}),
    "a consequence": ([bf.follows("amount", by=0.5, of="income"), bf.fixed("age")], {"age"}),
    "a consequence alone": ([bf.follows("amount", by=0.5, of="income"), bf.fixed("amount")], {"amount"}),
}


@pytest.mark.parametrize(("rules", "kept"), KEPT.values(), ids=KEPT)
def test_a_column_is_kept_only_if_the_rules_let_it_change_in_no_row(rules: list[Any], kept: set[str]) -> None:
    desk = desk_over(X, rules=bf.rules({"constraints": rules}))
    assert {one["name"] for one in desk.columns if one["kept"]} == kept
    page = desk_html(desk, "row=0")
    assert set(re.findall(r'name="lock" value="(\w+)" checked disabled', page)) == kept


# ---- classes ---------------------------------------------------------------------------------------------------------

CLASSES: dict[str, Sequence[Any]] = {
    "truth": (False, True),
    "numbers": (1.0, 2.0),
    "whole numbers": (-1, 1),
    "digits": ("1", "2"),
    "edges": (" <=50K", ' >50K "<b>"'),
    "other": ("other", "gold", "silver"),
}


class OneTeam(Team):
    """A team that answers in this process, and keeps what it was asked."""

    def __init__(self, desk: Desk) -> None:
        super().__init__([], {}, 1, 0)
        self.desk, self.bodies = desk, list[Json]()

    async def ask(self, work: str, body: Any) -> AsyncGenerator[Json]:
        self.bodies.append(json.loads(json.dumps(body["asked"])))
        for event in DESK_WORK[work](self.desk, self.bodies[-1], ""):
            yield event


@pytest.mark.parametrize("classes", CLASSES.values(), ids=CLASSES)
def test_each_class_can_be_asked_for(classes: Sequence[Any]) -> None:
    labels = np.array(classes)[np.digitize(X["income"], [20_000, 40_000][: len(classes) - 1])]
    desk = desk_over(X, labels)
    before = desk.row(0)["prediction"]
    wanted = next(one for one in (*classes[:1], *classes) if one != before)
    told = re.search(r'data-classes="(.*?)"', desk_html(desk, "row=0"))
    assert told is not None
    in_script = json.loads(html.unescape(told[1]))
    label = in_script[in_script.index(wanted)]
    asked = json.loads(json.dumps({"row": 0, "target": {"class": label}}))
    assert [*DESK_WORK["explain"](desk, asked, "")][-1]["answers"][0]["after"] == wanted
    team = OneTeam(desk)
    asyncio.run(page(desk, team, "", Wanted(row=0, ask=True, target=str(wanted))))
    assert team.bodies[0]["target"] == {"class": wanted}


def test_other_is_refused_where_it_is_a_class_and_means_any_other_class_elsewhere() -> None:
    labels = np.array(["other", "gold", "silver"])[np.digitize(X["income"], [20_000, 40_000])]
    with pytest.raises(InputError, match="ambiguous"):
        [*DESK_WORK["explain"](desk_over(X, labels), {"row": 0, "target": "other"}, "")]
    with pytest.raises(InputError, match=r"line 1: .*ambiguous"):
        desk_over(X, labels, rules=bf.rules('target = "other"\n'))
    assert desk_over(X, rules=bf.rules('target = "other"\n')).model["rules"]["target"] == "any other class"


# ---- rows that are odd -----------------------------------------------------------------------------------------------


@pytest.fixture
def odd() -> Desk:
    """A desk with a job that is unknown in row 2, and an age that is missing in row 20."""
    desk = desk_over(pd.get_dummies(X))
    table = desk.table.copy()
    table.loc[2, "job_permanent"] = table.loc[2, "job_temporary"] = True
    table["age"] = table["age"].astype(float).mask(table.index == 20, np.inf)
    return Desk(desk.explainer, table)


@pytest.mark.parametrize(("offset", "row", "told"), [(0, 2, "job_permanent"), (12, 20, "age")])
def test_an_odd_row_is_listed_as_one_that_cannot_be_read(offset: int, row: int, told: str, odd: Desk) -> None:
    listed = odd.rows(offset, 12)["rows"]
    assert [one["row"] for one in listed] == [*range(offset, offset + 12)]
    assert [one["row"] for one in listed if "error" in one] == [row]
    assert told in cast(str, listed[row - offset]["error"]["given"])
    assert listed[0] == odd.row(offset)
    shown = html.unescape(desk_html(odd, f"offset={offset}"))
    assert shown.count("cannot be read: ") == 1
    assert told in shown.split("cannot be read: ")[1].split("<")[0]
    assert "nicht lesbar: " in desk_html(odd, f"offset={offset}&language=de")


def test_an_odd_row_that_is_opened_is_an_error_on_the_page(odd: Desk) -> None:
    with pytest.raises(InputError, match="job_permanent"):
        odd.row(2)
    shown = desk_html(odd, "row=2")
    assert 'data-row=""' in shown
    problem = re.search(r'id="problem">(.*?)</p>', shown)
    assert problem is not None
    assert "job_permanent" in problem[1]
