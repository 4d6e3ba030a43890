"""Text: what a person reads on a terminal, within a hundred columns."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.explanation.changes import readable, word
from butfor.space.feature import Feature
from butfor.views.text import ANSWERS_LISTED, CHANGES_LISTED, TEXT_WIDTH, plain, render_many, table
from butfor.views.words import constraints_in_words, cost_in_words
from tests.shorter import first
from tests.views.answers import SPACE, drawn, made, question


def test_an_answer_reads_like_a_table() -> None:
    assert repr(made()) == (
        "no → yes, by changing 2 of 3 columns\n"
        "column      before    after  change\n"
        "income       20000    22500   +2500\n"
        "job     clerk & co  $nurse$\n"
        "cost 1.5 by L1(); proven optimal: no admissible change costs less"
    )


def test_an_impossible_answer_says_why() -> None:
    assert repr(made(after=None, status=bf.Status.PROVEN_INFEASIBLE)) == (
        "no: no admissible change makes it yes\n"
        "proven impossible: impossible with fixed('job'); without it there is an answer"
    )
    assert repr(made(after=None, status=bf.Status.NOT_FOUND)).startswith("no: no change was found that makes it yes\n")


@pytest.mark.parametrize("several", [False, True])
def test_a_notebook_gets_text_and_nothing_is_printed(several, monkeypatch, capsys) -> None:
    expected = render_many([made()] * 2) if several else repr(made())
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert (render_many([made()] * 2) if several else str(made())) == expected
    assert expected
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("status", bf.Status)
def test_nothing_is_said_twice_and_no_budget_is_named_that_was_not_given(status) -> None:
    answer = made(status=status, **({} if status.found else {"after": None}))
    for shown in (repr(answer), answer.to_html()):
        assert "valid: valid" not in shown
        assert "budget" not in shown


def test_short_texts_of_other_things() -> None:
    rows = np.arange(8.0).reshape(4, 2)
    explainer = bf.Explainer(DecisionTreeClassifier(random_state=0).fit(rows, ["a", "a", "b", "b"]), rows)
    assert repr(explainer) == "<Explainer of a DecisionTreeClassifier that reads 2 columns and predicts 'a', 'b'>"
    listed = repr(explainer.solvers())
    assert listed.split()[:4] == ["solver", "takes", "it", "why"]
    assert "tree_exact             yes " in listed
    assert repr(explainer.explain(rows[:1]).certificate).split("\n") == [
        "PROVEN_OPTIMAL: no admissible change costs less than 0.666667",
        "  passed - the model predicts any other class",
        "  passed - all constraints hold",
        "  passed - the cost is as claimed",
        "  passed - the row holds these values",
        "  solver tree_exact: every leaf is a box, and the cost is smallest at the clipped factual",
    ]
    assert {"measure", "survival", "Explainer"} <= set(dir(bf))


def test_missing_values_are_called_so() -> None:
    shown = repr(made((20_000.0, np.nan, 0.0), (20_000.0, 0.5, np.nan)))
    assert "debt <b>     missing      0.5\n" in shown
    assert "job       clerk & co  missing\n" in shown


def test_several_answers_are_a_line_each() -> None:
    shown = render_many([made(row=2), made(row=2, rank=2), made(after=None, status=bf.Status.NOT_FOUND, row=3)])
    lines = shown.split("\n")
    assert lines[0].split() == ["row", "answer", "before", "after", "changes", "cost", "status"]
    assert lines[1].startswith("0         1  no      yes")
    assert lines[-1].split() == ["0", "1", "no", "not", "found"]
    assert render_many([made()] * 2).split()[:2] == ["row", "before"]


def test_long_lists_are_cut_and_say_so() -> None:
    assert render_many([made()] * (ANSWERS_LISTED + 5)).endswith("and 5 more")
    count = CHANGES_LISTED + 3
    space = bf.Space(tuple(Feature(f"f{i}", 0.0, 1.0) for i in range(count)))
    one = made((0.0,) * count, (1.0,) * count, space=space)
    assert "and 3 more changes" in repr(one)
    assert "; and 3 more" in " ".join(render_many([one]).split())


@pytest.mark.parametrize("seed", first(10, range(40)))
def test_no_line_is_too_long(seed) -> None:
    for shown in (repr(drawn(seed)), render_many([drawn(seed), drawn(seed + 1)])):
        assert all(len(line) <= TEXT_WIDTH and line == line.rstrip() for line in shown.split("\n"))


def test_user_text_is_no_markup_and_has_no_control_characters() -> None:
    space = bf.Space((Feature("[red]a[/red]\x1b[31m\n", 0.0, 1.0),))
    shown = repr(made((0.0,), (1.0,), space=space))
    assert "[red]a[/red]\\x1b[31m\\n" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize(("encoding", "arrow"), [("utf-8", "→"), ("ascii", "->"), ("cp1252", "->")])
def test_arrows_are_only_written_where_they_can_be(monkeypatch, encoding, arrow) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    shown = repr(made())
    assert f"no {arrow} yes" in shown
    shown.encode(encoding)


def test_a_table_of_long_words_is_wrapped() -> None:
    shown = plain(table(("name", "why"), [("a", "word " * 40), ("b", "short")]))
    assert all(len(line) <= TEXT_WIDTH for line in shown.split("\n"))
    assert shown.count("word") == 40
    assert shown.split("\n")[-1].split() == ["b", "short"]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (4000.0, 5000.000244, ("4000", "5000.01")),
        (5000.0, 3999.9997, ("5000", "3999.99")),
        (1.0, 1.0 + 1e-12, ("1", "1.000000000001")),
        (0.5, 0.5, ("0.5", "0.5")),
        (3, 4, ("3", "4")),
        ("a", "b", ("a", "b")),
        (None, 2.5, ("missing", "2.5")),
        (True, False, ("True", "False")),
        (None, 3440.1240000000003, ("missing", "3440.1240000000003")),
        (None, 1234567.8, ("missing", "1234567.8")),
        (100000.46, 100000.2, ("100000.46", "100000.2")),
        (1234567.6, 1234567.8, ("1234567.6", "1234567.8")),
        (123456.7, 123457.0, ("123456.7", "123457")),
    ],
)
def test_two_values_are_short_and_never_the_same(before, after, shown) -> None:
    assert readable(before, after) == shown


@pytest.mark.parametrize("seed", first(40, range(200)))
def test_the_number_shown_goes_at_least_as_far_as_the_answer(seed) -> None:
    rng = np.random.default_rng(seed)
    before, after = rng.normal(size=2) * 10.0 ** rng.integers(-8, 9)
    first, second = readable(float(before), float(after))
    assert first != second
    assert float(second) >= after if after > before else float(second) <= after
    assert abs(float(second) - after) <= 1e-4 * abs(after - before)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1234567.8, "1234568"), (0.1 + 0.2, "0.3"), (1e-7, "0.0000001"), (-0.0, "0"), (np.inf, "inf"), ("text", "text")],
)
def test_numbers_are_written_as_people_do(value, shown) -> None:
    assert word(value) == shown


WORDS: list[tuple[Any, str]] = [
    (bf.fixed("income"), "income keeps its value"),
    (bf.fixed("income", "job"), "income and job keep their values"),
    (bf.only_up("income"), "income does not fall"),
    (bf.only_down("income", "job"), "income and job do not rise"),
    (bf.between("income", 0, 9e4), "income is between 0 and 90000"),
    (bf.within("income", 0.05), "income moves by at most 5 % of its value"),
    (bf.whole("income"), "income becomes a whole number, if it changes"),
    (bf.step("income", 5.0, anchor=1.0), "income becomes a multiple of 5, counted from 1, if it changes"),
    (bf.allowed("job", ["pilot", "clerk & co"]), "job is pilot or clerk & co"),
    (bf.moves("job", {"pilot": ["$nurse$"]}), "job changes only from pilot to $nurse$"),
    (bf.may_be_missing("job"), "job may become missing"),
    (bf.at_most_changes(1), "at most 1 column may change"),
    (bf.at_most_changes(3), "at most 3 columns may change"),
    (bf.linear({"debt": 1.0, "income": -0.4}, "<=", 0.0), "debt − 0.4 × income ≤ 0"),
    (bf.implies(bf.becomes("job", "pilot"), bf.rises("income", by=2)), "if job becomes pilot, then income rises by at least 2"),
    (bf.between("income", high=9e4), "income is at most 90000"),
    (bf.between("income", 5), "income is at least 5"),
    (bf.implies(bf.allowed("job", ["pilot"]), bf.between("income", 5)), "if job is pilot, then income is at least 5"),
    (bf.margin(0.1), "every deciding boundary is at least 0.1 ranges away"),
    (bf.confident(0.95), "the model would decide so with its true coefficients, at a confidence of 95 %"),
    (bf.plausible(None), "an isolation forest finds no outlier in it"),
    (bf.plausible(None, 8.5), "an isolation forest needs at least 8.5 questions, on average, to single it out"),
    (bf.candidates([[1]]), "candidates(1 rows)"),
]  # fmt: skip


@pytest.mark.parametrize(("constraint", "words"), WORDS, ids=[words for _, words in WORDS])
def test_constraints_in_plain_english(constraint, words) -> None:
    assert constraints_in_words(question(bf.other(), bf.L1(), [constraint])) == [words]


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (bf.L1(), "the sum of the changes, each as a share of its column's range; a changed category counts 1"),
        (
            bf.L2(scale="none"),
            "the sum of the squared changes, each in the column's own units; a changed category counts 1",
        ),
        (bf.L0({"job": 2.0}), "the number of changed columns; weighted job × 2"),
        (bf.L0() + 0.5 * bf.L0(), "the number of changed columns; plus 0.5 × (the number of changed columns)"),
        (bf.Table({"job": {"pilot": 1.0}}), "Table(['job'])"),
    ],
)
def test_costs_in_plain_english(cost, words) -> None:
    assert cost_in_words(question(bf.other(), cost, [])) == words


def test_colours_are_for_terminals() -> None:
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard", width=TEXT_WIDTH).print(made())
    assert "\x1b[" in out.getvalue()
    assert "\x1b[" not in repr(made())
    assert len(SPACE) == 3


@pytest.mark.parametrize("decimals", [None, 0, 2])
@pytest.mark.parametrize("seed", first(3, range(12)))
def test_the_numbers_shown_have_the_order_of_the_values(seed, decimals) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(40):
        before = float(rng.normal() * 10.0 ** rng.integers(-3, 9))
        after = float(before + rng.normal() * abs(before) * 10.0 ** rng.integers(-9, 0))
        first, second = map(float, readable(before, after, None, decimals))
        assert (first < second, first > second) == (before < after, before > after)
        assert float(readable(None, after, None, decimals)[1]) == after
