"""The picture: a panel a measure, a bar a method, a dot a factual."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import butfor as bf


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


TABLE = pd.DataFrame(
    {"method": ["a", "$b$"], "validity": [1.0, 0.5], "sparsity": [0.2, np.nan], "seconds": [np.nan, np.nan]}
)
EACH = pd.DataFrame({"method": ["a", "a", "b", "b"], "factual": [0, 1, 0, 1], "sparsity": [0.1, 0.3, np.nan, 0.4]})


def test_a_panel_a_measure_and_a_bar_a_method() -> None:
    first, second = bf.measure.plot(TABLE)
    assert first.get_title(loc="left") == "validity (higher is better)"
    assert second.get_title(loc="left") == "sparsity (lower is better)"
    assert [one.get_text() for one in first.get_yticklabels()] == ["a", r"\$b\$"]
    assert [bar.get_width() for bar in first.patches] == [1.0, 0.5]
    assert [bar.get_width() for bar in second.patches] == [0.2]
    assert [one.get_text() for one in first.texts] == ["1", "0.5"]
    first.figure.canvas.draw()


def test_factuals_are_dots_around_their_mean() -> None:
    (ax,) = bf.measure.plot(EACH)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.2, 0.4])
    assert [line.get_xdata().tolist() for line in ax.lines] == [[0.1, 0.3]]


def test_measures_are_chosen_and_tables_of_arrays_are_drawn() -> None:
    panels = bf.measure.plot(TABLE.to_dict("list"), ["seconds", "validity"])
    assert [ax.get_title(loc="left").split(" ")[0] for ax in panels] == ["seconds", "validity"]
    assert not panels[0].patches


def test_the_table_of_a_judge_is_drawn() -> None:
    from sklearn.tree import DecisionTreeClassifier

    rows = np.random.default_rng(0).normal(size=(80, 2))
    judge = bf.measure.Judge(DecisionTreeClassifier(max_depth=2).fit(rows, rows[:, 0] > 0), rows)
    table = judge.frame({"a": rows[:3], "b": [rows[:4]] * 3}, rows[4:7], by="factual")
    panels = bf.measure.plot(table)
    assert len(panels) == sum(not np.isnan(table[name]).all() for name in list(table)[3:])
    panels[0].figure.canvas.draw()
