"""Columns of 0 and 1 that are one feature: when they are found, declared, read and written."""

from __future__ import annotations

from itertools import pairwise
from math import comb, factorial, prod
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import butfor as bf
from butfor.space.encodings import BY_CHANCE
from butfor.space.infer import infer

JOBS = ["clerk", "cook", "nurse"]


def table(rows: int = 60, seed: int = 0, dtype: Any = bool) -> pd.DataFrame:
    """Dummies of a job around a column of numbers, and a thermometer code."""
    rng = np.random.default_rng(seed)
    job, size = np.array(JOBS)[rng.integers(0, 3, rows)], rng.integers(0, 4, rows)
    made = pd.get_dummies(pd.DataFrame({"job": job}), dtype=dtype)
    made.insert(1, "pay", rng.normal(size=rows))
    for least in (1, 2, 3):
        made[f"size>={least}"] = (size >= least).astype(dtype)
    return made


def test_dummies_and_thermometers_are_features() -> None:
    space = infer(table())
    assert space.names == ("job", "pay", "size")
    assert space.columns == tuple(table().columns)
    assert space["job"].levels == ("clerk", "cook", "nurse")
    assert (space["job"].kind, space["size"].kind) == ("categorical", "ordinal")
    assert space["size"].levels == ("none", "1", "2", "3")
    assert "3 columns job_*, one of which is 1" in repr(space)
    assert "3 columns size>=*, each 1 only if the one before it is" in repr(space)


@pytest.mark.parametrize("dtype", [bool, int, np.uint8, float, np.float32, "boolean", "Int64", "bool[pyarrow]"])
def test_rows_are_read_and_written_in_their_types(dtype: Any) -> None:
    made = table().astype({name: dtype for name in table() if name != "pay"})
    written_and_read_again(made)


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "array", "float array"])
def test_rows_are_read_and_written_in_tables_of_all_kinds(kind: str) -> None:
    made = {
        "polars": pl.DataFrame(table()),
        "pyarrow": pa.table(table()),
        "array": table(dtype=int).drop(columns="pay").to_numpy(),
        "float array": table(dtype=float).to_numpy(),
    }[kind]
    written_and_read_again(made)


def written_and_read_again(made: Any) -> None:
    """Every row becomes every level, and nothing else changes."""
    array = isinstance(made, np.ndarray)
    names = ["x0", f"x{made.shape[1] - 5}", f"x{made.shape[1] - 4}"]
    space = infer(made, {"job": bf.one_hot(names)} if array else None)
    start, j = space.encode(made), space.names.index("job")
    plain = pd.DataFrame(made) if array else made.to_pandas() if hasattr(made, "to_pandas") else made
    for level in range(3):
        points = start.copy()
        points[:, j] = level
        found = space.decode(points, made)
        assert type(found) is type(made)
        assert np.array_equal(space.encode(found), points)
        after = pd.DataFrame(found) if array else found.to_pandas() if hasattr(found, "to_pandas") else found
        assert list(after.dtypes) == list(plain.dtypes)
        at = [list(space.columns).index(name) for name in space["job"].columns]
        assert (after.iloc[:, at].astype(float).to_numpy() == np.eye(3)[level]).all()
        others = [k for k in range(len(space.columns)) if k not in at]
        pd.testing.assert_frame_equal(after.iloc[:, others], plain.iloc[:, others])


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["job_clerk", "job_cook", "job_nurse"], {"job": ("clerk", "cook", "nurse")}),
        (["job=clerk", "job=cook", "job=nurse"], {"job": ("clerk", "cook", "nurse")}),
        (["home_job_clerk", "home_job_cook", "home_job_head_nurse"], {"home_job": ("clerk", "cook", "head_nurse")}),
        (["job_the clerk", "job_the cook", "job_the nurse"], {"job": ("the clerk", "the cook", "the nurse")}),
        (["job.1", "job.2", "job.3"], {"job": ("1", "2", "3")}),
        (["age_<30", "age_30-50", "age_>50"], {"age": ("<30", "30-50", ">50")}),
        (["age_30-50", "age_30-40", "age_30-45"], {"age": ("30-50", "30-40", "30-45")}),
        (["wage_(0, 10]", "wage_(10, 20]", "wage_(20, 30]"], {"wage": ("(0, 10]", "(10, 20]", "(20, 30]")}),
        (["temp_-5", "temp_-10", "temp_-7"], {"temp": ("-5", "-10", "-7")}),
        (["at 0.5", "at 0.25", "at 0.75"], {"at": ("0.5", "0.25", "0.75")}),
        (["a_b-c_x", "a_b-c_y", "a_b-c_z"], {"a_b-c": ("x", "y", "z")}),
        (["_x", "_y", "_z"], {}),
        (["clerk", "cook", "nurse"], {}),
        (["job_clerk", "job_cook", "trade_nurse"], {}),
        (["0", "1", "2"], {}),
    ],
)
def test_dummies_are_found_by_the_beginning_of_their_names(columns: list[str], found: dict[str, Any]) -> None:
    made = table()[["job_clerk", "job_cook", "job_nurse", "pay"]].set_axis([*columns, "pay"], axis=1)
    space = infer(made)
    assert {feature.name: feature.levels for feature in space if feature.dummies} == found


def test_two_groups_that_begin_alike_are_two_features() -> None:
    made = table().rename(columns=lambda name: name.replace("job_", "job_trade_"))
    made["job_place_town"], made["job_place_village"] = made["pay"] > 0, made["pay"] <= 0
    assert infer(made).names == ("job_trade", "pay", "size", "job_place")


def test_what_is_broken_in_one_row_is_not_found() -> None:
    made = table()
    made.loc[17, ["job_clerk", "job_cook", "job_nurse"]] = False
    made.loc[17, ["size>=1", "size>=2"]] = [False, True]
    assert infer(made).names == tuple(made.columns)
    made = table().astype({"job_clerk": object})
    assert "job" not in infer(made).names


def test_a_column_of_the_same_name_keeps_it() -> None:
    space = infer(table().assign(job=1.5))
    assert {"job", "job_*"} <= set(space.names)


@pytest.mark.parametrize("name", ["rate>={}", "rate_>={}", "rate >= {}", "rate_{}"])
def test_bounds_are_numbers(name: str) -> None:
    level = np.arange(60) % 4
    bounds = (-1.5, 0.25, 0.5)
    made = pd.DataFrame({name.format(bound): (level > k).astype(int) for k, bound in enumerate(bounds)})
    (feature,) = infer(made)
    assert feature.name == "rate"
    assert [str(one).lstrip(">= ") for one in feature.levels or ()] == ["none", "-1.5", "0.25", "0.5"]
    assert feature.ordered


def test_levels_are_ordered_by_their_numbers() -> None:
    count = np.arange(60) % 4
    made = pd.DataFrame({f"late<={k}": (count <= k).astype(int) for k in (2, 10, 1)} | {"pay": count * 1.0})
    made["late<=10"] = (count <= 2).astype(int) | (np.arange(60) == 7)
    space = infer(made)
    assert space["late"].levels == ("1", "2", "10", "none")
    assert space["late"].dummies is not None
    assert space["late"].dummies.columns == ("late<=10", "late<=2", "late<=1")


@pytest.mark.parametrize("counts", [(5, 5), (6, 7), (998, 1), (1999, 1), (4, 4, 3), (4, 4, 4), (1, 1, 1, 1, 1, 1)])
def test_chance_is_ruled_out_by_counting(counts: tuple[int, ...]) -> None:
    """Of all ways to put the ones into the columns, so many share the rows out among them."""
    rows = sum(counts)
    level = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    made = pd.DataFrame({f"a_{chr(97 + k)}": (level == k).astype(int) for k in range(len(counts))})
    ways = factorial(rows) // prod(map(factorial, counts))
    assert ("a" in infer(made).names) == (ways / prod(comb(rows, count) for count in counts) < BY_CHANCE)


@pytest.mark.parametrize("counts", [(5, 4), (8, 4), (100, 3), (30, 20, 10), (3, 1)])
@pytest.mark.parametrize("rows", [10, 40, 1000])
def test_chance_is_ruled_out_for_thermometers(counts: tuple[int, ...], rows: int) -> None:
    if max(counts) >= rows:
        return
    made = pd.DataFrame({f"a_{k}": (np.arange(rows) < count).astype(int) for k, count in enumerate(counts)})
    ways = prod(comb(outer, inner) / comb(rows, inner) for outer, inner in pairwise(counts))
    assert ("a" in infer(made).names) == (ways < BY_CHANCE)


@pytest.mark.parametrize("seed", range(20))
def test_columns_without_a_connection_are_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = pd.DataFrame({f"has_{k}": rng.integers(0, 2, 30) for k in range(6)})
    assert infer(made).names == tuple(made.columns)


def test_a_declaration_says_no() -> None:
    assert infer(table(), {"job": None}).names == ("job_clerk", "pay", "job_cook", "job_nurse", "size")
    assert infer(table(), {"size": None, "job": None}).names == tuple(table().columns)
    alone = infer(table(), {"job_cook": bf.Categorical([False, True])})
    assert alone.names == ("job_clerk", "pay", "job_cook", "job_nurse", "size")


def test_a_declaration_says_yes() -> None:
    made = table().rename(columns={"job_clerk": "clerk", "job_cook": "cook", "job_nurse": "nurse"})
    space = infer(made, {"trade": bf.one_hot("clerk", "cook", "nurse")})
    assert space["trade"].levels == ("clerk", "cook", "nurse")
    dropped = infer(table().drop(columns="job_clerk"), {"job": bf.one_hot("job_*", none="clerk")})
    assert dropped["job"].levels == ("clerk", "cook", "nurse")
    assert "at most one of which is 1" in dropped["job"].why
    few = infer(table(8), {"size": bf.thermometer("size>=*", none="small")})
    assert infer(table(8)).columns == infer(table(8)).names == few.columns
    assert few["size"].levels == ("small", "2", "3")  # no row has size 1
    one = infer(table()[["job_cook", "pay"]], {"cooks": bf.one_hot("job_cook", none="no")})
    assert one["cooks"].levels == ("no", "cook")


def test_an_order_is_declared() -> None:
    space = infer(table(), {"job": bf.Ordinal(["nurse", "clerk", "cook"])})
    assert space["job"].levels == ("nurse", "clerk", "cook")
    assert space["job"].ordered
    assert np.unique(space.encode(table().query("job_nurse"))[:, 0]).tolist() == [0.0]
    assert np.unique(space.encode(table().query("job_clerk"))[:, 0]).tolist() == [1.0]


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"jobs": None}, "no dummies 'jobs' were found. Found were .*Did you mean 'job'"),
        ({"job": bf.one_hot("jobs_*")}, r"one_hot\('jobs_\*'\) names 'jobs_\*'. The columns are job_clerk"),
        ({"job": bf.one_hot("job_*", "size>=*")}, "'job_.*' are 1 in row .* of the data.*one feature only"),
        ({"size": bf.thermometer("size>=3", "size>=1")}, "'size>=1' is 1 and 'size>=3' is 0 in row .* of the data"),
        ({"job": bf.one_hot("job_clerk", "pay")}, "names 'pay', which is of type float.*all be of the same type"),
        ({"pay": bf.one_hot("job_*")}, "dummies 'pay', and there is a column of that name"),
        (
            {"a": bf.one_hot("job_*"), "b": bf.one_hot("job_cook", none="no")},
            "'job_cook' to be in 'a' and in 'b'. A column belongs to one feature",
        ),
        ({"job": bf.Integer()}, "'job' holds clerk, cook, nurse, but was declared integer"),
        ({"job": bf.Ordinal(["clerk", "cooks"])}, "'cooks', which is not a value of 'job'.*Did you mean 'cook'"),
        (
            {"job": bf.Ordinal(["clerk", "nurse"])},
            "leaves out 'cook', which the data holds. All levels are needed: clerk",
        ),
        ({"job": "one_hot"}, "must be bf.Continuous.*bf.one_hot or bf.thermometer"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(space: dict[str, Any], message: str) -> None:
    with pytest.raises(bf.ButforError, match=message):
        infer(table(), space)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"job_clerk": 0, "job_cook": 0, "job_nurse": 0}, "none of 'job_clerk', 'job_cook', 'job_nurse' is 1 in row 1"),
        ({"job_clerk": 1, "job_cook": 1}, "'job_clerk', 'job_cook'.* are 1 in row 1 of those given"),
        ({"size>=1": 0, "size>=2": 1}, "'size>=2' is 1 and 'size>=1' is 0 in row 1 of those given"),
        ({"job_cook": 2}, "'job_cook' holds 2 in row 1 of those given"),
        ({"job_cook": np.nan}, "'job_cook' is missing in row 1 of those given"),
    ],
)
def test_rows_that_are_no_code_are_refused(changed: dict[str, float], message: str) -> None:
    rows = table(dtype=float).iloc[:3].copy()
    for name, value in changed.items():
        rows.loc[1, name] = value
    with pytest.raises(bf.ButforError, match=f"{message}.*These columns are one feature.*space=.*None"):
        infer(table()).encode(rows)


@pytest.mark.parametrize("name", ["job_cook", "job_*", "size>=2"])
def test_a_dummy_is_no_feature(name: str) -> None:
    with pytest.raises(bf.ButforError, match=r"no feature.*Dummies are one feature.*Write '(job|size)'"):
        infer(table()).index(name)


def test_sparse_dummies_are_refused_with_the_line_that_helps() -> None:
    with pytest.raises(bf.ButforError, match=r"'job_cook' is of type Sparse.*X\['job_cook'\].sparse.to_dense\(\)"):
        infer(pd.get_dummies(pd.DataFrame({"job": ["cook", "nurse"]}), sparse=True))
