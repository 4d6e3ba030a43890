"""What stands in pictures can be read: texts do not overlap, colours are those of the scale, numbers are aligned."""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import butfor as bf
from butfor.explanation.changes import Change, aligned
from tests.applicant import EXPLAINER, MODEL, POSSIBLE, ROW, X
from tests.shorter import first

WORDS = bf.describe(
    {
        "income": bf.Column("Yearly income", unit="EUR", decimals=2),
        "amount": bf.Column("Amount", unit="EUR", decimals=2),
        "savings": bf.Column("Savings", unit="EUR"),
    }
)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def overlapping(ax) -> list[tuple[str, str]]:
    """The texts inside the axes that are drawn over each other."""
    ax.figure.canvas.draw()
    drawn = [(text.get_text(), text.get_window_extent()) for text in ax.texts if text.get_text()]
    return [(a, b) for (a, one), (b, other) in combinations(drawn, 2) if one.overlaps(other)]


@pytest.mark.parametrize("row", first(5, range(0, 60, 3)))
def test_no_text_of_the_picture_of_changes_is_over_another(row) -> None:
    rejected = X[MODEL.predict(X) == "rejected"]
    answer = EXPLAINER.explain(rejected.iloc[[row]], target="approved").described(WORDS)
    assert overlapping(answer.plot()) == []


@pytest.mark.parametrize(
    ("before", "after"), [(0.0, 1.0), (0.0, 0.15), (0.85, 1.0), (1.0, 0.86), (0.4, 0.53), (-3.0, 4.0), (0.02, 0.98)]
)
def test_values_near_the_ends_and_near_each_other(before, after) -> None:
    data = pd.DataFrame({"a": np.linspace(0, 1, 50), "b": np.linspace(1, 0, 50)})
    way = 1 if after > before else -1
    model = LogisticRegression(C=1e4).fit(data, way * data.a > way * after - 1e-9 if 0 < after < 1 else data.a > 0.5)
    words = bf.describe({"a": bf.Column("A long name", unit="thousand EUR", decimals=3)})
    explainer = bf.Explainer(model, data, space={"a": bf.Continuous(-5, 5)}, words=words)
    answer = explainer.explain({"a": before, "b": 0.5}, constraints=[bf.fixed("b")])
    if answer.only.changes:
        assert overlapping(answer.plot()) == []


def test_the_colours_of_a_map_are_those_of_its_scale() -> None:
    """Where the target is missed, the map is hatched. Nothing lies over its colours."""
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["a", "b"])
    explainer = bf.Explainer(LogisticRegression().fit(data, data.a + data.b > 0), data)
    answer = explainer.explain(data[data.a + data.b < -1].iloc[[0]])
    found = explainer.decision_map(answer, ("a", "b"), steps=30)
    ax = found.plot()
    meshes = [one for one in ax.collections if type(one).__name__ == "QuadMesh"]
    assert len(meshes) == 1
    assert meshes[0].get_alpha() is None
    assert meshes[0].colorbar.cmap is meshes[0].cmap
    (hatched,) = [one for one in ax.collections if one.get_hatch()]
    for i, k in [(3, 3), (15, 15), (26, 26), (3, 26), (26, 3)]:
        inside = any(path.contains_point((found.x[k], found.y[i])) for path in hatched.get_paths())
        assert inside is not bool(found.met[i, k])
    assert "hatched" in ax.get_title(loc="left")


def test_a_menu_shows_the_new_values() -> None:
    menu = EXPLAINER.menu(ROW, target="approved", most=2, constraints=POSSIBLE)
    ax = menu.plot()
    shown = {text.get_text() for text in ax.texts}
    for option in menu:
        assert {change.text[1][:11] for change in option.changes} <= {text[:11] for text in shown}
    assert overlapping(ax) == []


@pytest.mark.parametrize(
    ("before", "after", "texts", "difference"),
    [
        (3440.13, 4366.7, ("3440.13", "4366.70"), "+926.57"),
        (22150.000000000004, 19800.0, ("22150", "19800"), "-2350"),
        (0.1 + 0.2, 0.5, ("0.3", "0.5"), "+0.2"),
        (4000.0, 5000.000244, ("4000.00", "5000.01"), "+1000.01"),
        (1e20, 3e20, ("1e+20", "3e+20"), "+2e+20"),
        (3, 4, ("3", "4"), "+1"),
        (None, 2.5, ("missing", "2.5"), ""),
        (100000.46, 100000.2, ("100000.46", "100000.20"), "-0.26"),
    ],
)
def test_the_numbers_of_a_change_have_equally_many_decimals(before, after, texts, difference) -> None:
    change = Change("a", "continuous", before, after, True)
    assert change.text == texts
    assert change.difference == difference


def test_aligned_numbers() -> None:
    assert aligned([]) == []
    assert aligned(["1", "2.50", "-0.125"]) == ["1.000", "2.500", "-0.125"]
    assert aligned(["1e+20", "2.5"]) == ["1e+20", "2.5"]


def test_alternatives_cost_with_equally_many_decimals() -> None:
    answers = EXPLAINER.explain(ROW, target="approved", k=4)
    line = next(line for line in str(answers.alternatives()).splitlines() if line.startswith("cost"))
    assert len({len(cost.partition(".")[2]) for cost in line.split()[1:]}) == 1
