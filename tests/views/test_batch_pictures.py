"""Pictures of batches: what is drawn of a table, and what the words beside it say."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.collections import QuadMesh

import butfor as bf
from butfor.groups.counted import STATUSES
from butfor.views.heat_map import ROWS_NAMED
from butfor.views.status_bars import LOOKS

SHIFTS = pd.DataFrame({"row": ["a", "b", "c"], "income": [0.05, 0.0, -0.5], "$job$": [0.0, 1.0, 0.0]})
COSTS = pd.DataFrame(
    {
        "group": ["f", "m", "x"], "rows": [9, 8, 2], "answered": [9, 5, 0], "impossible": [0, 2, 2], "open": [0, 1, 0],
        "proven": [9, 5, 0], "mean": [0.2, 0.3, None], "low": [0.1, None, None], "high": [0.4, None, None],
        "median": [0.2, 0.3, None],
    }
)  # fmt: skip
STATUS_LINES = pd.DataFrame(
    {"group": ["f", "f", "m"], "status": ["already met", "proven impossible", "not found"], "rows": [1, 3, 2],
     "share": [0.25, 0.75, 1.0]}
)  # fmt: skip
LEVERS = pd.DataFrame(
    {"column": ["a", "b", "a"], "with_column": [None, None, "b"], "rows": [1, 3, 4], "share": [0.25, 0.75, 1.0],
     "open": [0, 1, 0]}
)  # fmt: skip
TABLES = {"shifts": SHIFTS, "costs": COSTS, "statuses": STATUS_LINES, "levers": LEVERS}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def texts(ax) -> list[str]:
    return [one.get_text() for one in ax.texts if one.get_text()]


def names(ax) -> list[str]:
    return [one.get_text() for one in ax.get_yticklabels()]


@pytest.mark.parametrize("name", TABLES)
def test_a_picture_uses_axes_of_ones_own_and_every_kind_of_table(name) -> None:
    draw = getattr(bf.plots, name)
    _, mine = plt.subplots()
    assert draw(TABLES[name], ax=mine) is mine
    words = draw(TABLES[name]).get_label()
    assert words.endswith(".")
    assert draw(pl.from_pandas(TABLES[name])).get_label() == words
    assert draw(TABLES[name].to_dict("list")).get_label() == words
    draw(TABLES[name]).figure.canvas.draw()


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_cannot_be_drawn_are_refused(name) -> None:
    with pytest.raises(bf.errors.InputError, match=f"Give the table that bf.groups.{name} made"):
        getattr(bf.plots, name)(pd.DataFrame({"x": [1]}))
    with pytest.raises(bf.errors.InputError, match="nothing to draw"):
        getattr(bf.plots, name)(TABLES[name].iloc[:0])


def test_the_heat_map_leaves_columns_that_stay_blank() -> None:
    ax = bf.plots.shifts(SHIFTS)
    (mesh,) = [one for one in ax.collections if isinstance(one, QuadMesh)]
    cells = np.ma.filled(mesh.get_array().astype(float), np.nan)
    np.testing.assert_array_equal(cells, [[0.05, np.nan], [np.nan, 1.0], [-0.5, np.nan]])
    assert names(ax) == ["a", "b", "c"]
    assert [one.get_text() for one in ax.get_xticklabels()] == ["income", r"\$job\$"]
    assert ax.get_label() == "Heat map of 3 answers. Columns that change: income in 2, $job$ in 1."


def test_many_rows_of_a_heat_map_are_counted_not_named() -> None:
    many = pd.DataFrame({"row": range(ROWS_NAMED + 1), "x": 0.5})
    ax = bf.plots.shifts(many)
    assert not names(ax)
    assert ax.get_ylabel() == f"{ROWS_NAMED + 1} rows"


def test_costs_say_whose_cost_is_in_no_mean() -> None:
    ax = bf.plots.costs(COSTS)
    assert names(ax) == ["f", "m", "x"]
    assert texts(ax) == ["9 of 9 answered", "5 of 8 answered, 2 impossible, 1 open", "0 of 2 answered, 2 impossible"]
    assert [float(line.get_xdata()[0]) for line in ax.lines] == [0.2, 0.3]
    (bar,) = ax.patches
    assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((0.1, 0.4))
    assert "x: no mean, 0 of 2 answered, 2 impossible" in ax.get_label()
    assert names(bf.plots.costs(COSTS.drop(columns="group").iloc[:1])) == ["all rows"]


def test_every_status_has_a_look_of_its_own() -> None:
    assert tuple(LOOKS) == STATUSES
    assert len(set(LOOKS.values())) == len(LOOKS)
    ax = bf.plots.statuses(STATUS_LINES)
    assert [one.get_text() for one in ax.get_legend().get_texts()] == ["already met", "proven impossible", "not found"]
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0.0, 0.25), (0.25, 0.75), (0.0, 1.0)]
    assert ax.get_label() == "Statuses by group. f: 1 already met; f: 3 proven impossible; m: 2 not found."


def test_the_levers_are_numbered_and_open_ones_marked() -> None:
    ax = bf.plots.levers(LEVERS)
    assert names(ax) == ["b", "a"]
    assert sorted(texts(ax)) == ["1", "3?", "4"]
    (mesh,) = [one for one in ax.collections if isinstance(one, QuadMesh)]
    cells = np.ma.filled(mesh.get_array().astype(float), np.nan)
    np.testing.assert_array_equal(cells, [[0.75, np.nan], [1.0, 0.25]])
    assert ax.get_label() == "Matrix of levers. Rows that each column alone helps: b 3, a 1."
