"""The picture: what is drawn for answers, for none, and for missing values."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

import butfor as bf
from butfor.space.feature import Feature
from butfor.views.drawing import LONG_NAME
from butfor.views.plot import CHANGES_DRAWN
from tests.shorter import first
from tests.views.answers import drawn, made


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def words(ax: Axes) -> list[str]:
    return [one.get_text() for one in ax.texts if one.get_text()]


def names(ax: Axes) -> list[str]:
    return [one.get_text() for one in ax.get_yticklabels()]


def dots(ax: Axes) -> list[float]:
    """Where the rings and dots stand."""
    return [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]


def test_each_changed_column_is_a_line() -> None:
    ax = made().plot()
    assert names(ax) == ["income", "job"]
    assert ax.get_title(loc="left") == "no → yes, at a cost of 1.5"
    assert dots(ax) == pytest.approx([0.2, 0.225])
    assert words(ax) == ["20000 → 22500", "0", "100000", "clerk & co  →  ", r"\$nurse\$"]


def test_values_far_apart_are_written_at_their_dots() -> None:
    assert words(made((20_000.0, 0.25, 0.0), (80_000.0, 0.25, 0.0)).plot())[:2] == ["20000", "80000"]


def test_missing_values_are_written_as_words() -> None:
    ax = made((20_000.0, np.nan, 0.0), (20_000.0, 0.5, np.nan)).plot()
    assert names(ax) == ["debt <b>", "job"]
    assert not dots(ax)
    assert words(ax) == ["missing  →  ", "0.5", "clerk & co  →  ", "missing"]


@pytest.mark.parametrize(
    ("status", "title"),
    [
        (bf.Status.PROVEN_INFEASIBLE, "no: proven impossible"),
        (bf.Status.NOT_FOUND, "no: no answer was found"),
    ],
)
def test_why_there_is_no_answer_is_written(status, title) -> None:
    answer = made(after=None, status=status)
    ax = answer.plot()
    assert ax.get_title(loc="left") == title
    assert [" ".join(one.split()) for one in words(ax)] == [answer.certificate.why]
    assert not ax.lines
    assert not names(ax)


def test_a_value_outside_its_range_is_drawn_at_its_end() -> None:
    assert dots(made((-50_000.0, 0.25, 0.0), (150_000.0, 0.25, 0.0)).plot()) == [-0.02, 1.02]


def test_axes_of_ones_own_are_used() -> None:
    _, mine = plt.subplots()
    assert made().plot(mine) is mine
    assert len(plt.get_fignums()) == 1


def test_long_names_are_cut_and_formulas_are_text() -> None:
    space = bf.Space((Feature("$x$" + "n" * 50, 0.0, 1.0),))
    ax = made((0.0,), (1.0,), space=space, said=("$a$", "$b_$")).plot()
    assert names(ax)[0].startswith(r"\$x\$")
    assert len(names(ax)[0].replace("\\", "")) == LONG_NAME
    ax.figure.canvas.draw()


def test_only_so_many_columns_are_drawn() -> None:
    count = CHANGES_DRAWN + 4
    space = bf.Space(tuple(Feature(f"f{i}", 0.0, 1.0) for i in range(count)))
    assert len(names(made((0.0,) * count, (1.0,) * count, space=space).plot())) == CHANGES_DRAWN


@pytest.mark.parametrize("seed", first(4, range(12)))
def test_any_answer_can_be_drawn(seed) -> None:
    drawn(seed).plot().figure.canvas.draw()
