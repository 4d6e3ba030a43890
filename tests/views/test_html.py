"""HTML: a page that needs nothing from elsewhere, in which nothing of the user's is markup."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import butfor as bf
from butfor.space.feature import Feature
from butfor.views.html import ANSWERS_IN_A_NOTEBOOK, LONG_VALUES, fragment, fragment_many
from tests.shorter import first
from tests.views.answers import drawn, made, question

VOID = {"meta", "br", "line", "circle", "rect", "input"}
EVIL = "<script>alert('x')</script> & \"quoted\""


class Reader(HTMLParser):
    """What a page shows, and whether its elements are closed as they were opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named[name] or "" for name in ("href", "src") if name in named]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & {*self.open}:
            self.text += data


def test_a_page_shows_the_answer_and_its_certificate() -> None:
    shown = Reader(made().to_html()).text
    for words in (
        "proven optimal", "no →", "yes", "By changing 2 of 3 columns, at a cost of 1.5.", "income", "20000", "22500", "+2500",
        "1 column stays as it is", "No admissible change costs less.", "the model predicts yes", "0123456789abcdef",
        "debt <b> keeps its value", "income does not fall", "by hand: for a test",
    ):  # fmt: skip
        assert words in shown


@pytest.mark.parametrize("status", [status for status in bf.Status if not status.found])
def test_a_page_says_why_there_is_no_answer(status) -> None:
    answer = made(after=None, status=status)
    read = Reader(answer.to_html())
    assert answer.certificate.why[1:] in read.text
    assert "The row as it is" in read.text
    assert "table" not in read.tags
    assert "inf" not in read.text.replace("infeasible", "")


def test_a_gap_is_shown_where_there_is_one() -> None:
    assert "Gap50.00%" in Reader(made(status=bf.Status.WITHIN_GAP).to_html()).text
    assert "Gap" not in Reader(made().to_html()).text


def test_missing_values_are_called_so() -> None:
    read = Reader(made((20_000.0, np.nan, np.nan), (20_000.0, 0.5, 1.0)).to_html())
    assert read.text.count("missing") >= 2
    assert "nan" not in read.text.lower().replace("n and", "")


@pytest.mark.parametrize("place", ["column", "level", "prediction", "target", "model", "why"])
def test_nothing_of_the_users_is_markup(place) -> None:
    space = bf.Space(
        (
            Feature(EVIL if place == "column" else "a", 0.0, 1.0),
            Feature("b", levels=(EVIL if place == "level" else "x", "y", "z")),
        )
    )
    asked = question(bf.classes(EVIL if place == "target" else "yes"), bf.L1(), [bf.fixed(EVIL)])
    answer = made(
        (0.0, 0.0),
        (1.0, 1.0),
        space=space,
        asked=asked,
        said=(EVIL, EVIL) if place == "prediction" else ("no", "yes"),
        model=EVIL if place == "model" else "Tree",
    )
    for text in (answer.to_html(), answer._repr_html_()):
        read = Reader(text)
        assert "script" not in read.tags
        assert "<script" not in text
        assert EVIL in read.text


def test_an_answer_that_needs_no_change_says_so() -> None:
    same = made((1.0, 0.5, 0.0), (1.0, 0.5, 0.0))
    read = Reader(same.to_html())
    assert "no: no admissible change costs less" in read.text
    assert "3 columns stay as they are" in read.text


def test_many_levels_are_counted_and_not_listed() -> None:
    levels = tuple(f"level number {i}" for i in range(20))
    assert len(", ".join(levels)) > LONG_VALUES
    space = bf.Space((Feature("many", levels=levels),))
    assert "one of 20 values" in Reader(made((0.0,), (1.0,), space=space).to_html()).text


def test_a_value_outside_its_range_stays_within_the_drawing() -> None:
    text = made((-50_000.0, 0.5, 0.0), (150_000.0, 0.5, 0.0)).to_html()
    drawn_at = [float(part.split('"')[0]) for part in text.split('cx="')[1:]]
    assert drawn_at
    assert all(0 <= x <= 208 for x in drawn_at)


def test_a_notebook_lists_the_first_answers() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X = np.arange(60.0).reshape(30, 2)
    answers = bf.Explainer(DecisionTreeClassifier().fit(X, X[:, 0] > 29), X).explain(X)
    read = Reader(fragment_many(answers))
    assert f"and {30 - ANSWERS_IN_A_NOTEBOOK} more" in read.text
    assert read.tags.count("tr") == ANSWERS_IN_A_NOTEBOOK + 1
    assert fragment_many(answers) == answers._repr_html_()


@pytest.mark.parametrize("seed", first(8, range(40)))
def test_any_answer_is_well_formed(seed) -> None:
    Reader(drawn(seed).to_html())
    Reader(fragment(drawn(seed)))
