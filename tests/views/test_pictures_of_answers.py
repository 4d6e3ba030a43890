"""Pictures of answers that ask the model again, and of several answers: the facts behind them, and what is drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.explanation.alternatives import alternatives
from butfor.explanation.contributions import Contributions
from butfor.problem.targets.score import Score
from tests.views.answers import made

NASTY = "$job$ <script>"


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def table(rows: int = 300) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": np.exp(rng.normal(10, 0.5, rows)).round(2), "late": rng.poisson(2, rows),
            NASTY: rng.choice(["clerk", "$nurse$", "pilot"], rows), "constant": 1.0,
        }
    )  # fmt: skip
    y = np.where((X["income"] > 25_000) & (X["late"] < 3) | (X[NASTY] == "pilot"), "yes", "no")
    return X, pd.Series(np.where(rng.random(rows) < 0.1, "no", y))


def explained(model: object, k: int = 1) -> tuple[bf.Explainer, bf.Explanations]:
    X, y = table()
    codes = make_column_transformer((OneHotEncoder(), [NASTY]), remainder="passthrough")
    fitted = make_pipeline(codes, model).fit(X, y)
    explainer = bf.Explainer(fitted, data=X)
    row = X[(fitted.predict(X) == "no") & (X["late"] > 3) & (X["income"] < 20_000)].iloc[[0]]
    return explainer, explainer.explain(row, target="yes", constraints=[bf.fixed(NASTY)], k=k)


@pytest.fixture(scope="module")
def tree() -> tuple[bf.Explainer, bf.Explanations]:
    return explained(DecisionTreeClassifier(max_depth=8, random_state=0), k=3)


@pytest.fixture(scope="module")
def line() -> tuple[bf.Explainer, bf.Explanations]:
    return explained(LogisticRegression(max_iter=5000))


def texts_inside(ax: Axes) -> None:
    """All texts lie in the figure, whose layout leaves room for them."""
    ax.figure.canvas.draw()
    width, height = ax.figure.canvas.get_width_height()
    ticks = [*ax.get_yticklabels(), *ax.get_xticklabels()] if ax.axison else []
    for text in [*ax.texts, ax.title, *ticks]:
        box = text.get_window_extent()
        if text.get_text() and text.get_visible() and (text not in ticks or ax.bbox.overlaps(box.expanded(1.0, 3.0))):
            assert box.x0 >= -1, text
            assert box.y0 >= -1, text
            assert box.x1 <= width + 1, text
            assert box.y1 <= height + 1, text


def test_the_waterfall_goes_from_the_score_to_the_score(tree) -> None:
    explainer, answers = tree
    parts = explainer.contributions(answers[0])
    ax = parts.plot()
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert bars[0][0] == pytest.approx(parts.answer.score.before)
    assert bars[-1][1] == pytest.approx(parts.answer.score.after)
    assert all(one[1] == pytest.approx(other[0]) for one, other in pairwise(bars))
    assert sorted(b - a for a, b in bars) == pytest.approx(sorted(parts.score))
    low, high = ax.get_xlim()
    assert all(low < end < high for bar in bars for end in bar)
    assert "\n" not in ax.get_label()
    texts_inside(ax)


def test_the_waterfall_of_the_cost_starts_at_nothing(tree) -> None:
    explainer, answers = tree
    parts = explainer.contributions(answers[0])
    ax = parts.plot(of="cost")
    assert ax.patches[0].get_x() == 0
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(answers[0].cost)
    with pytest.raises(bf.errors.InputError, match="'score' or 'cost'"):
        parts.plot(of="points")


def test_a_model_without_a_score_has_no_waterfall_of_it() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    explainer = bf.Explainer(lambda rows: rows.sum(axis=1) > 0, data=X)
    answer = explainer.explain(X[X.sum(axis=1) < -0.5][:1], target=True)
    with pytest.raises(bf.errors.InputError, match="Give of='cost'"):
        explainer.contributions(answer).plot()


def test_a_part_that_works_against_the_answer_is_hatched() -> None:
    answer = made(score=Score("probability of yes", 0.2, 0.6, 0.5))
    parts = Contributions(answer, np.array([-0.1, 0.5]), np.array([0.5, 1.0]), "by hand", 4)
    ax = parts.plot()
    assert [(bar.get_width(), bool(bar.get_hatch())) for bar in ax.patches] == [
        (pytest.approx(0.5), False), (pytest.approx(-0.1), True),
    ]  # fmt: skip
    assert "0.5 needed" in [text.get_text() for text in ax.texts]
    texts_inside(ax)


def test_a_whole_number_has_neighbours_on_a_map() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 200), rng.normal(size=200)])
    explainer = bf.Explainer(LogisticRegression().fit(X, X[:, 1] > 0), data=X)
    answer = explainer.explain(X[X[:, 1] < -0.5][:1], target=True, constraints=[bf.fixed("x0")])
    found = explainer.decision_map(answer, ("x0", "x1"), steps=5)
    assert len(found.x) >= 3
    assert (found.x == np.round(found.x)).all()


def test_many_changes_are_summed_up_in_one_bar() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 40))
    explainer = bf.Explainer(LogisticRegression().fit(X, X.sum(axis=1) > 0), data=X)
    row = X[[int(np.argmin(X.sum(axis=1)))]]
    parts = explainer.contributions(explainer.explain(row, target=True, cost="L2"))
    ax = parts.plot()
    assert ax.get_yticklabels()[-2].get_text() == f"{len(parts.score) - 30} smaller ones"
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(parts.score.sum())


def test_alternatives_stand_side_by_side(tree) -> None:
    answers = tree[1]
    found = answers.alternatives()
    frame = found.to_frame()
    assert list(frame.columns) == ["column", "now", "answer 1", "answer 2", "answer 3"]
    for i, one in enumerate(answers):
        changed = frame.set_index("column")[f"answer {i + 1}"].dropna()
        assert {*changed.index} == {*(change.name for change in one.changes), "cost", "score"}
        assert float(changed["cost"]) == one.cost
    ax = found.plot()
    drawn = {text.get_text() for text in ax.texts}
    for one in answers:
        assert any(change.text[1] in text for change in one.changes for text in drawn)
    assert ax.get_label().startswith("3 answers side by side. answer 1: ")
    texts_inside(ax)
    assert "answer 3" in repr(found)


def test_only_answers_to_one_row_stand_side_by_side(tree) -> None:
    explainer, answers = tree
    X, _ = table()
    with pytest.raises(bf.errors.InputError, match="different rows"):
        explainer.explain(X.iloc[:2], target="yes").alternatives()
    with pytest.raises(bf.errors.InputTypeError, match="str was given as an answer"):
        explainer.decision_map("no")
    with pytest.raises(bf.errors.InputError, match="no answer was given"):
        explainer.decision_map([])
    impossible = explainer.explain(
        X.loc[[answers[0].factual.index[0]]], target="yes", constraints=[bf.fixed(*X.columns)]
    )
    with pytest.raises(bf.errors.InputError, match="no answer was found"):
        impossible.alternatives()


@pytest.mark.shorter(3)
@pytest.mark.parametrize("columns", [("income", "late"), ("late", "income"), ("income", NASTY), (NASTY, "late")])
@pytest.mark.parametrize("others", ["row", "answer"])
def test_a_map_shows_what_the_model_says(tree, columns, others) -> None:
    explainer, answers = tree
    found = explainer.decision_map(answers, columns, others=others, steps=20)
    frame = found.to_frame()
    base = answers[0].factual if others == "row" else answers[0].point
    rows = pd.concat([base] * len(frame), ignore_index=True)
    for name in columns:
        rows[name] = frame[name]
    assert (explainer.model.predict(rows) == "yes").tolist() == frame["met"].tolist()
    assert explainer.model.predict_proba(rows)[:, 1] == pytest.approx(frame["value"])
    ax = found.plot()
    (left, right), (low, high) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    for mark in found.marks:
        assert left <= mark.x <= right
        assert low <= mark.y <= high
        assert mark.name in ax.get_label()
    assert [mark.name for mark in found.marks] == ["now", "answer 1", "answer 2", "answer 3"]
    texts_inside(ax)


def test_a_map_says_which_marks_differ_in_other_columns(tree) -> None:
    explainer, answers = tree
    one = next(one for one in answers if {"income", "late"} <= {change.name for change in one.changes})
    found = explainer.decision_map(one)
    assert not any(mark.also for mark in found.marks)
    assert found.met[np.searchsorted(found.y, found.marks[1].y), :].any()
    beside = explainer.decision_map(one, ("income", NASTY))
    assert beside.marks[1].also == ("late",)
    assert beside.marks[0].also == ()
    assert explainer.decision_map(one, ("income", NASTY), others="answer").marks[0].also == ("late",)


def test_a_region_is_drawn_as_far_as_the_map_goes(line) -> None:
    explainer, answers = line
    region = explainer.region(answers, target="yes")
    found = explainer.decision_map(answers, ("income", "late"), others="answer", region=region, steps=30)
    assert found.box is not None
    assert found.box.also == ()
    inside = (found.x >= found.box.x[0]) & (found.x <= found.box.x[1])
    within = (found.y >= found.box.y[0]) & (found.y <= found.box.y[1])
    assert found.met[np.ix_(within, inside)].all()
    ax = found.plot()
    (frame,) = ax.patches
    assert ax.get_xlim()[0] <= frame.get_x()
    assert frame.get_x() + frame.get_width() <= ax.get_xlim()[1] + 1e-9


def test_a_region_is_told_and_drawn_in_words(line) -> None:
    known, answers = line
    words = bf.describe({"income": bf.Column("Yearly income", unit="$", decimals=0), "late": "Late payments"})
    region = bf.Explainer(known.model, data=table()[0], words=words).region(answers.point, target="yes")
    assert "Yearly income: " in region.describe()
    ax = region.plot()
    assert {text.get_text() for text in ax.get_yticklabels()} >= {"Yearly income", "Late payments"}
    assert any(r"\$" in text.get_text() for text in ax.texts)
    texts_inside(ax)


def test_the_model_is_asked_once_for_a_map() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    calls: list[int] = []

    def decide(rows):
        calls.append(len(rows))
        return rows.sum(axis=1) > 0

    explainer = bf.Explainer(decide, data=X)
    answer = explainer.explain(X[X.sum(axis=1) < -0.5][:1], target=True)
    calls.clear()
    found = explainer.decision_map(answer, ("x0", "x1"), steps=25)
    assert calls == [625]
    assert found.values is None
    assert 0 < found.met.mean() < 1
    found.plot().figure.canvas.draw()


def test_maps_that_show_nothing_are_refused(tree) -> None:
    explainer, answers = tree
    with pytest.raises(bf.errors.UnknownColumnError, match="Two of"):
        explainer.decision_map(answers, ("income", "wealth"))
    with pytest.raises(bf.errors.UnknownColumnError, match="Two of"):
        explainer.decision_map(answers, ("income", "income"))
    with pytest.raises(bf.errors.InputError, match="same value in all rows"):
        explainer.decision_map(answers, ("income", "constant"))
    with pytest.raises(bf.errors.InputError, match="'row' or 'answer'"):
        explainer.decision_map(answers, ("income", "late"), others="now")
    with pytest.raises(bf.errors.InputError, match="at least 2"):
        explainer.decision_map(answers, ("income", "late"), steps=1)
    late = explainer.explain(answers[0].point, target="no", constraints=["late <= 10", bf.fixed("income", NASTY)])
    with pytest.raises(bf.errors.InputError, match="Name them"):
        explainer.decision_map(late)


def test_a_map_over_a_missing_value_is_refused() -> None:
    X = np.random.default_rng(0).normal(size=(120, 2))
    y = X[:, 1] > 0
    X[::4, 0] = np.nan
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
    row = X[np.isnan(X[:, 0]) & (X[:, 1] < -0.5)][:1]
    answer = explainer.explain(row, target=True)
    with pytest.raises(bf.errors.InputError, match="'x0' is missing"):
        explainer.decision_map(answer, ("x0", "x1"))


def test_the_way_through_a_tree_is_the_estimators_own(tree) -> None:
    explainer, answers = tree
    for answer in answers:
        path = explainer.tree_path(answer)
        steps, learner = explainer.model[0], explainer.model[-1]
        way = learner.decision_path(steps.transform(answer.point)).indices
        own = learner.decision_path(steps.transform(answer.factual)).indices
        assert len(path.splits) == len(way) - 1
        fork = next(i for i, split in enumerate(path.splits) if split.crossed)
        assert [split.was == split.now for split in path.splits[:fork]] == [True] * fork
        assert len(set(way) & set(own)) == fork + 1
        changed = {change.name for change in answer.changes}
        assert {split.column for split in path.crossed} == changed


def test_questions_say_the_same_as_the_tree(tree) -> None:
    explainer, answers = tree
    for split in explainer.tree_path(answers[0]).splits:
        if " ≤ " in split.question:
            cut = float(split.question.rpartition("≤ ")[2])
            assert (split.before <= cut, split.after <= cut) == (split.was, split.now)
        else:
            named = split.question.partition(" is ")[2].removeprefix("not ").split(" or ")
            assert (split.before in named) == (split.was is not (" is not " in split.question))


def test_the_way_through_a_tree_is_drawn(tree) -> None:
    explainer, answers = tree
    path = explainer.tree_path(answers[0])
    frame = path.to_frame()
    assert frame["crossed"].sum() == len(path.crossed)
    ax = path.plot()
    diamonds = [one for one in ax.lines if one.get_marker() == "D"]
    assert len(diamonds) == len(path.crossed)
    assert f"{len(path.crossed)} of {len(path.splits)} splits" in ax.get_label()
    assert "crossed" in repr(path)
    texts_inside(ax)


def test_only_one_tree_has_a_way(line) -> None:
    with pytest.raises(bf.errors.UnsupportedModelError, match="read as: linear"):
        line[0].tree_path(line[1])


def test_formulas_in_names_are_text(tree) -> None:
    """A `$` that is not escaped would start a formula, and lose its letters or fail to draw."""
    explainer, answers = tree
    found = explainer.decision_map(answers, (NASTY, "late"))
    ax = found.plot()
    assert ax.get_xlabel() == r"\$job\$ <script>"
    assert r"\$nurse\$" in [text.get_text() for text in ax.get_xticklabels()]
    ax.figure.canvas.draw()


def test_pictures_use_axes_of_ones_own(tree) -> None:
    explainer, answers = tree
    for draw in (
        answers[0].plot,
        answers.alternatives().plot,
        explainer.contributions(answers[0]).plot,
        explainer.decision_map(answers, ("income", "late"), steps=5).plot,
        explainer.tree_path(answers[0]).plot,
    ):
        _, mine = plt.subplots()
        assert draw(ax=mine) is mine
        assert mine.get_label().endswith(".")


@pytest.mark.parametrize("kind", ["polars", "array"])
def test_the_facts_are_of_the_kind_that_was_given(kind) -> None:
    X, y = table()
    numbers = X[["income", "late"]].astype(float)
    data = pl.from_pandas(numbers) if kind == "polars" else numbers.to_numpy()
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(data, y)
    explainer = bf.Explainer(model, data=data)
    at = int(np.flatnonzero(model.predict(data) == "no")[0])
    answers = explainer.explain(data[at : at + 1], target="yes", k=2)
    two = (explainer.space.names[0], explainer.space.names[1])
    for facts in (
        answers.alternatives(), explainer.contributions(answers[0]), explainer.decision_map(answers, two, steps=4),
        explainer.tree_path(answers[0]),
    ):  # fmt: skip
        assert isinstance(facts.to_frame(), pl.DataFrame if kind == "polars" else dict)
        assert facts.plot().get_label()


def test_an_answer_that_becomes_missing_says_so() -> None:
    now, then = made().factual_codes, (20_000.0, np.nan, 2.0)
    frame = alternatives([made(after=then), made()]).to_frame().set_index("column")
    assert frame.loc["debt <b>", "answer 1"] == "missing"
    assert frame.loc["debt <b>", "now"] == str(now[1])
    assert frame["answer 2"].isna()["debt <b>"]


def test_a_model_without_probabilities_has_a_map_of_its_decision() -> None:
    explainer, answers = explained(LinearSVC(max_iter=20_000, dual="auto", C=1e-4))
    found = explainer.decision_map(answers, ("income", "late"), steps=10)
    assert found.of.startswith("decision function")
    assert ((found.values > 0) == found.met).all()


@pytest.mark.parametrize("draw", [
    lambda answers: answers.plot(), lambda answers: answers[0].plot(), lambda answers: bf.plots.shifts(bf.groups.shifts(answers)),
])  # fmt: skip
def test_without_matplotlib_a_picture_says_what_to_install(
    tree: tuple[bf.Explainer, bf.Explanations], draw: Callable[[bf.Explanations], Axes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(bf.errors.MissingExtraError, match=r'pip install "butfor\[plots\]"'):
        draw(tree[1][:1])
