"""Short texts of public objects, tab completion, and what the log says."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import butfor as bf
from tests.explanation.test_pickle import OBJECTS

TABLES = (
    "Explanation", "Explanations", "Certificate", "Space", "Menu", "Ladder", "TradeOff", "Best", "Alternatives", "Region",
    "Contributions", "DecisionMap", "TreePath", "Supports", "Checked", "AllChecked", "Portfolio", "HowFar", "Verified",
    "Dossier",
)  # fmt: skip
"""These print as tables."""

FACTS = ("Change", "QuestionRecord", "MenuLine")
"""These are parts of what prints as a table, and show all that they hold."""

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(50, 2))
LABELS = np.where(ROWS[:, 0] > 0, "yes", "no")


@pytest.mark.parametrize("name", [name for name in OBJECTS if name not in (*TABLES, *FACTS)])
def test_a_short_text_is_one_readable_line(name) -> None:
    shown = repr(OBJECTS[name])
    assert "\n" not in shown
    assert len(shown) <= 120
    assert " object at 0x" not in shown
    assert "function" not in shown


@pytest.mark.parametrize(
    ("thing", "shown"),
    [
        (bf.Continuous(0, 1), "Continuous(low=0, high=1)"),
        (bf.Integer(), "Integer()"),
        (bf.Step(6, low=12), "Step(6, low=12)"),
        (bf.Ordinal(["a", "b"]), "Ordinal(['a', 'b'])"),
        (bf.Swarm(), "Swarm()"),
        (bf.Swarm(particles=7, polish=False), "Swarm(particles=7, polish=False)"),
        (bf.teach.Sign(("no", "yes"), link="logistic"), "Sign(('no', 'yes'), link='logistic')"),
        (bf.Column("Age", thousands=False), "Column(label='Age', thousands=False)"),
        (bf.black_box(len), "<black box len that predicts a number>"),
        (bf.black_box(len, classes=["no", "yes"]), "<black box len that predicts 'no', 'yes'>"),
        (bf.survival.black_box(len, times=[1.0, 2.0]), "<black box len that predicts survival>"),
    ],
)
def test_a_short_text_says_what_was_given(thing, shown) -> None:
    assert repr(thing) == shown


def test_tab_completion_shows_what_is_public_and_nothing_else() -> None:
    assert {"compress", "measure", "survival", "trees"} <= set(dir(bf))
    assert set(dir(bf)) == {*bf.__all__, *bf._ROOMS, "__version__"}
    for name in bf._ROOMS:
        room = getattr(bf, name)
        assert dir(room) == sorted(room.__all__)


def test_the_log_says_what_was_read_chosen_and_solved(caplog) -> None:
    model = LogisticRegression().fit(ROWS, LABELS)
    with caplog.at_level(logging.DEBUG, "butfor"):
        answers = bf.Explainer(model, ROWS).explain(ROWS[:3], target="yes", constraints=[bf.fixed("x1")])
    said = [(record.levelname, record.message) for record in caplog.records]
    assert ("INFO", "read a LogisticRegression of 2 columns as a linear model") in said
    assert ("INFO", "asked for yes with fixed('x1')") in said
    assert ("INFO", answers.summary) in said
    assert any(level == "DEBUG" and "rows go to" in text and "linear_exact" in text for level, text in said)
    assert any(level == "DEBUG" and text.startswith("column 'x0': continuous") for level, text in said)


def test_the_log_says_why_a_model_is_a_black_box(caplog) -> None:
    with caplog.at_level(logging.INFO, "butfor"):
        bf.Explainer(bf.black_box(lambda rows: rows[:, 0]), ROWS)
    assert any("as a black box: " in text for text in caplog.messages)


def test_nothing_is_logged_for_who_does_not_listen(capsys) -> None:
    bf.Explainer(LogisticRegression().fit(ROWS, LABELS), ROWS).explain(ROWS[:1], progress=False)
    assert capsys.readouterr() == ("", "")
