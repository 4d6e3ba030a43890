"""Conditions on the rows of a table, beside the same asked of pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import butfor as bf
from butfor.space.where import rows_where

TABLE = pd.DataFrame(
    {
        "income": [1000, 2500, 4000, 8000],
        "the job": ["nurse", "clerk", None, "nurse"],
        "savings": [10.0, np.nan, 0.0, 7.5],
        "own": [True, False, True, False],
    }
)
CONDITIONS = {
    "income > 2000 and `the job` == 'nurse'": [3],
    "income > 2000 or own": [0, 1, 2, 3],
    "not own": [1, 3],
    "`the job` != 'nurse'": [1],
    "`the job` in ['clerk', 'nurse'] and income <= 2500": [0, 1],
    "`the job` not in ('clerk',)": [0, 3],
    "2000 < income <= 4000": [1, 2],
    "savings is None": [1],
    "`the job` is not None": [0, 1, 3],
    "savings / income > 0.005": [0],
    "income / savings > 1": [0, 3],
    "savings - 10 >= -2.5": [0, 3],
    "own == True": [0, 2],
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_conditions_choose_rows(kind, condition) -> None:
    assert rows_where(kind(TABLE), condition).tolist() == CONDITIONS[condition]


def test_arrays_have_columns_too() -> None:
    assert rows_where(TABLE[["income"]].to_numpy(), "x0 > 2500").tolist() == [2, 3]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("incme > 3", "'income'"),
        ("income >", "no condition"),
        ("", "no condition"),
        ("income", "not a comparison"),
        ("__import__('os').getcwd() == ''", "no column, value or sum"),
        ("income.real > 3", "no column, value or sum"),
        ("[x for x in income] == 3", "no column, value or sum"),
        ("`the job` > 3", "not of one kind"),
        ("`the job` + 1 > 3", "is not a number"),
        ("income is 3", "for None alone"),
        ("income ** 1000 > 3", "no column, value or sum"),
    ],
)
def test_other_texts_are_refused(condition, said) -> None:
    with pytest.raises(bf.ButforError, match=said):
        rows_where(TABLE, condition)


def test_backticks_in_a_text_are_signs_of_it() -> None:
    table = pd.DataFrame({"it's": ["it`s`x", "b"], "c": ['"`"', "b"]})
    assert rows_where(table, "`it's` == 'it`s`x'").tolist() == [0]
    assert rows_where(table, 'c == \'"`"\' and `it\'s` != "a`b"').tolist() == [0]


def test_a_condition_may_be_nested_too_deeply() -> None:
    with pytest.raises(bf.errors.InputError, match="nested too deeply"):
        rows_where(pd.DataFrame({"x": [1.0]}), "x > 1" + " + 1" * 20_000)
