"""Scorecards that were written down: how bins are written, what is refused, and answers that enumeration confirms."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.testing.importer_contract import check_importer
from tests.importers.samples import KINDS
from tests.shorter import first

AGE = {"(-inf, 25)": 10, "[25, 40)": 25.5, "[40, inf)": 30}
HOME = {"rent": 5, "own%,%family": 20, "missing": -3}
RATE = {"(-inf ~ 0.1]": 7, "(0.1 ~ inf)": 0, "-999": 2, "0.05": 3, "nan": 1}
CARD = {"age": AGE, "home": HOME, "rate": RATE}


def applicants(seed: int = 0, rows: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 70, rows), "home": rng.choice(["rent", "own", "family"], rows).astype(object),
            "rate": rng.choice([-999, 0.05, 0.1, 0.3, np.nan], rows),
        }
    )  # fmt: skip
    X.loc[::9, "home"] = None
    return X


def test_points_add_up() -> None:
    rows = pd.DataFrame(
        {"age": [24.99, 25, 40], "home": ["rent", "family", None], "rate": [0.1, np.nextafter(0.1, 1), -999.0]}
    )
    assert bf.Scorecard(CARD, base=100).predict(rows).tolist() == [100 + 10 + 5 + 7, 100 + 25.5 + 20, 100 + 30 - 3 + 2]
    codes = pd.DataFrame({"age": [20, 20], "home": ["rent"] * 2, "rate": [0.05, None]})
    assert bf.Scorecard(CARD).predict(codes).tolist() == [10 + 5 + 3, 10 + 5 + 1]


@pytest.mark.parametrize("kind", ["pandas", "pandas category", "polars", "arrow"])
def test_it_is_read(kind) -> None:
    X = applicants()
    table = KINDS[kind](X.rename(columns={"home": "job"}).assign(town="a"))
    check_importer(bf.Scorecard({"age": AGE, "job": HOME, "rate": RATE, "town": {"else": 1}}), table)


def test_levels_that_are_numbers() -> None:
    X = pd.DataFrame({"rooms": [1, 2, 3, 4], "income": [1.0, 2.0, 3.0, 4.0]})
    card = bf.Scorecard({"rooms": {"1,2": 3, 3: 9, "others": 1}, "income": {"[-inf,2.5)": 0, "[2.5,inf)": 4}})
    assert card.predict(X).tolist() == [3, 3, 13, 5]
    assert check_importer(card, X).space["rooms"].levels == (1, 2, 3, 4)


def long(card) -> pd.DataFrame:
    return pd.DataFrame([(name, label, points) for name, own in card.items() for label, points in own.items()])


def test_tables_of_libraries_say_the_same() -> None:
    expected = bf.Scorecard(CARD, base=7).predict(applicants())
    table = long(CARD).set_axis(["Variable", "Bin", "Points"], axis=1)
    frames = dict(iter(table.set_axis(["variable", "bin", "points"], axis=1).groupby("variable")))
    base = pd.DataFrame({"variable": ["basepoints"], "bin": [None], "points": [7]})
    lists = table.assign(Bin=[["own", "family"] if label == "own%,%family" else label for label in table["Bin"]])
    listed = table.assign(Bin=["['own' 'family']" if label == "own%,%family" else label for label in table["Bin"]])
    for card in (bf.Scorecard({"basepoints": base, **frames}), bf.Scorecard(lists, 7), bf.Scorecard(listed, base=7)):
        card_columns = {column.name: column for column in card.columns_}
        assert set(card_columns) == set(CARD)
        assert card.predict(applicants()[list(card_columns)]).tolist() == expected.tolist()


WRONG = {
    "gap": ({"a": {"(-inf, 1)": 1, "[2, inf)": 2}}, r"leave a gap"),
    "gap of one number": ({"a": {"(-inf, 1)": 1, "(1, inf)": 2}}, r"leave a gap"),
    "overlap": ({"a": {"(-inf, 1]": 1, "[1, inf)": 2}}, r"overlap"),
    "open end": ({"a": {"[0, 1)": 1, "[1, inf)": 2}}, r"the bins -inf and \[0, 1\).*gap"),
    "empty bin": ({"a": {"(-inf, 3)": 1, "[3, 3)": 2, "[3, inf)": 1}}, "holds no number"),
    "level twice": ({"a": {"x,y": 1, "y,z": 2}}, "in two bins"),
    "missing twice": ({"a": {"x": 1, "missing": 2, "nan": 3}}, "2 bins for missing"),
    "text among intervals": ({"a": {"(-inf, 1)": 1, "[1, inf)": 2, "blue": 3}}, "'blue'"),
    "points that are text": ({"a": {"x": "ten"}}, "'ten' points"),
    "nothing": ({}, "no bins"),
    "another table": (pd.DataFrame({"variable": ["a"], "bin": ["x"]}), "variable, bin, points"),
    "a number": (3, "variable, bin, points"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name) -> None:
    card, why = WRONG[name]
    with pytest.raises(bf.ButforError, match=why):
        bf.Scorecard(card)


def test_values_without_a_bin_are_refused() -> None:
    card = bf.Scorecard({"age": AGE, "home": {"rent": 5, "own": 6}})
    with pytest.raises(ValueError, match="no bin for 'boat'"):
        card.predict(pd.DataFrame({"age": [30], "home": ["boat"]}))
    with pytest.raises(ValueError, match="missing values of 'age'"):
        card.predict(pd.DataFrame({"age": [np.nan], "home": ["own"]}))


@pytest.mark.parametrize("seed", first(3, range(30)))
def test_enumeration_confirms_the_answers(seed) -> None:
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(1, 9), 3, replace=False))
    edges = ["-inf", *map(str, cuts), "inf"]
    numbers = {f"[{low}, {high})": int(rng.integers(-9, 9)) for low, high in pairwise(edges)}
    texts = {level: int(rng.integers(-9, 9)) for level in ["x,y", "z", "missing"]}
    card = bf.Scorecard({"a": numbers, "b": texts, "c": {**numbers, "4": 11}})
    X = pd.DataFrame({"a": rng.integers(0, 10, 60), "b": rng.choice(["x", "y", "z"], 60), "c": rng.integers(0, 10, 60)})
    every = pd.DataFrame(list(product(range(10), "xyz", range(10))), columns=list("abc"))
    enough = np.quantile(card.predict(every), 0.8)
    explainer = bf.Explainer(card, X)
    rows = X[card.predict(X) < enough].iloc[:6]
    taken = every[card.predict(every) >= enough]
    ranges = np.array([explainer.space[name].range for name in "ac"])
    for answer, (_, row) in zip(explainer.explain(rows, bf.value(at_least=enough)), rows.iterrows(), strict=True):
        away = np.abs(taken[["a", "c"]].to_numpy() - row[["a", "c"]].to_numpy(float)) / ranges
        least = (away.sum(axis=1) + (taken["b"] != row["b"])).min()
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(least, abs=1e-9)
