"""The rates, the report and its pictures."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import butfor as bf
from butfor.compress.columns import BinaryColumns
from butfor.compress.crossings import crossed
from butfor.compress.gaps import short, smallest_gap
from butfor.compress.report import QuantileLine, suggest
from butfor.datasets import loans
from butfor.model.black_box import BlackBox
from butfor.space.feature import Feature
from butfor.space.space import Space


@pytest.fixture(scope="module")
def made() -> tuple[bf.compress.CounterfactualDiscretizer, Any, Any]:
    X, y = loans.load(500)
    return bf.compress.CounterfactualDiscretizer(loans.pipeline()).fit(X, y), X, y


def test_rates_by_hand() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 2, (400, 11)), rng.choice(["a", "b", "c"], 400)
    rows[:, 5:] = rows[:, :1]
    cells: dict[tuple[int, ...], Counter[str]] = {}
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        cells.setdefault(tuple(row), Counter())[label] += 1
    wrong = sum(sum(cell.values()) - max(cell.values()) for cell in cells.values())
    assert bf.compress.compression_rate(rows) == pytest.approx(1 - len(cells) / 400)
    assert bf.compress.inconsistency_rate(rows, labels) == pytest.approx(wrong / 400)


def test_rates_of_any_table() -> None:
    raw = np.array([[1.5, 0.0], [2.5, 0.0], [2.5, -0.0], [np.nan, 1.0], [np.nan, 1.0], [2.5, 1.0]])
    words = pd.DataFrame({"job": ["cook", "clerk", "clerk", None, np.nan, "clerk"], "own": [0, 0, 0, 1, 1, 1]})
    for table in (raw, raw.astype(np.float32), words, words.fillna("?").to_numpy(dtype=str)):
        assert bf.compress.compression_rate(table) == pytest.approx(2 / 6)
        assert bf.compress.inconsistency_rate(table, [1, 0, 1, 1, 0, 0]) == pytest.approx(2 / 6)
    assert bf.compress.compression_rate([[0], [1], [2]]) == 0


def test_rows_without_columns_are_all_equal() -> None:
    assert bf.compress.compression_rate(np.empty((4, 0))) == 0.75
    assert bf.compress.inconsistency_rate(np.empty((4, 0)), [1, 1, 1, 0]) == 0.25
    with pytest.raises(bf.errors.InputError, match="3 labels"):
        bf.compress.inconsistency_rate(np.empty((4, 0)), [1, 1, 1])


def test_a_report_agrees_with_the_discretiser(made: Any) -> None:
    disc, X, y = made
    report = disc.report(X, y, [0.0, 0.7, 0.95])
    for line in report.lines:
        rows = disc.set_quantile(line.quantile).transform(X)
        assert line.thresholds == rows.shape[1]
        assert line.features == len(disc.thresholds_.features)
        assert line.compression == bf.compress.compression_rate(rows)
        assert line.inconsistency == bf.compress.inconsistency_rate(rows, y)
    disc.set_quantile(0.7)
    assert list(report.to_frame().columns)[:2] == ["quantile", "thresholds"]
    assert "suggested: quantile" in repr(report)
    assert report.accuracy == pytest.approx(np.mean(disc.model_.predict(X) == y))


def test_the_binary_columns_of_a_report_are_told_apart_without_their_names() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 100, (150, 2)).round(1)
    y = X.sum(axis=1) > 90
    disc = bf.compress.CounterfactualDiscretizer(LogisticRegression(), quantile=0.0, merge=0.0).fit(X, y)
    every = disc.crossings_.columns
    twins = BinaryColumns(replace(one, survives=float(k % 2), ask="> 1") for k, one in enumerate(every))
    disc.crossings_ = replace(disc.crossings_, columns=twins)
    for line in disc.report(X, y, [0.0, 0.5]).lines:
        kept = disc.set_quantile(line.quantile).answers(X)
        assert line.compression == bf.compress.compression_rate(kept)


def test_every_binary_column_has_a_name_of_its_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 100, (300, 2)).round(1)
    y = X.sum(axis=1) > 90
    disc = bf.compress.CounterfactualDiscretizer(LogisticRegression(), quantile=0.0, merge=0.0).fit(X, y)
    names = disc.get_feature_names_out().tolist()
    assert len(set(names)) == len(names)


def test_held_out_rows_may_be_of_one_class(made: Any) -> None:
    disc, X, y = made
    some = y == disc.classes_[1]
    report = disc.report(X[some], y[some], [0.0, 0.7])
    assert [line.inconsistency for line in report.lines] == [0.0, 0.0]
    assert report.accuracy == pytest.approx(np.mean(disc.model_.predict(X[some]) == y[some]))
    tree = bf.compress.surrogate(disc, X[some], y[some])
    assert tree.rules == (f"always: {disc.classes_[1]} (100% of {some.sum()} rows)",)
    assert tree.score(X[some], y[some]) == 1.0
    assert tree.tree.predict(disc.answers(X)).tolist() == [disc.classes_[1]] * len(X)


def test_no_surrogate_beats_the_bound(made: Any) -> None:
    disc, X, y = made
    for line in disc.report(X, y).lines:
        disc.set_quantile(line.quantile)
        assert bf.compress.surrogate(disc, X, y, depth=12).score(X, y) <= line.bound + 1e-12
    disc.set_quantile(0.7)


def test_the_suggestion_is_the_highest_quantile_that_can_be_as_accurate() -> None:
    lines = [QuantileLine(q, 1, 1, q, delta) for q, delta in ((0.0, 0.0), (0.5, 0.1), (0.7, 0.1), (0.9, 0.3))]
    assert suggest(lines, 0.88)[0] == 0.7
    assert "0.900" in suggest(lines, 0.88)[1]
    assert suggest(lines[1:], 0.95)[0] == 0.7
    exact = [QuantileLine(0.5, 1, 1, 0.5, 1 - right / 400) for right in range(400)]
    assert not [right for right, line in enumerate(exact) if "comes nearest" in suggest([line], right / 400)[1]]
    assert "comes nearest" in suggest(lines[1:], 0.95)[1]


def test_pictures(made: Any) -> None:
    disc, X, y = made
    report = disc.report(X, y)
    axes = report.heat_map()
    drawn = axes.collections[0].get_array()
    assert np.nanmax(np.ma.filled(drawn, np.nan)) == 1.0
    assert {label.get_text() for label in axes.get_yticklabels()} == {one.column for one in disc.crossings_.columns}
    assert len(report.plot().lines) >= 2


def test_values_that_differ_by_noise_are_one() -> None:
    assert smallest_gap(np.array([0.3, 0.1 + 0.2, 1.0])) == pytest.approx(0.7)
    assert smallest_gap(np.array([2.0])) == smallest_gap(np.array([0.3, 0.1 + 0.2])) == 0.0
    assert smallest_gap(np.array([0.0, 0.5, 1e12])) == 0.5


def test_a_threshold_is_written_short_and_divides_the_values_alike() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = np.sort(rng.normal(size=50) * 10.0 ** rng.integers(-3, 7))
        at = values[rng.integers(0, 49)] + rng.random() * 1e-3 * abs(values[0])
        written = short(at, values)
        np.testing.assert_array_equal(values > written, values > at)
    assert short(41250.001953125, np.array([41000.0, 41500.0])) == 41250
    assert short(5.5, np.arange(10.0), step=1.0) == 5
    assert short(0.50999996, np.array([0.5, 0.508, 0.51])) == 0.5099
    assert short(-0.51000002, np.array([-0.52, -0.51])) == -0.5101
    assert short(0.0, np.array([-1.0, 1.0])) == 0


def test_a_threshold_lies_directly_before_the_answer_where_there_are_no_cuts() -> None:
    """Only moves by more than the smallest gap count, as in the paper."""
    space = Space((Feature("a", low=0.0, high=10.0),))
    training = np.array([[0.0], [2.0], [5.0], [10.0]])
    before, after = np.array([[10.0], [0.0], [5.0]]), np.array([[4.0], [6.0], [6.5]])
    found = crossed(space, BlackBox(""), training, before, after, merge=0.0)
    assert [(one.at, one.count) for one in found] == [(4.0, 1), (6.0, 1)]  # 1.5 is no more than 2
    whole = Space((Feature("a", low=0.0, high=10.0, step=1.0),))
    before, after = np.array([[10.0], [0.0]]), np.array([[4.0], [5.0]])
    found = crossed(whole, BlackBox(""), training, before, after, merge=0.0)
    assert [(one.at, one.count, one.ask) for one in found] == [(4.0, 2, "> 4")]  # above 4 is where both answers differ


def test_counts_survive_up_to_their_own_quantile() -> None:
    space = Space((Feature("a", low=0.0, high=100.0),))
    training = np.linspace(0, 100, 101)[:, None]
    ends = np.repeat([10.0, 30.0, 50.0, 70.0, 90.0], [1, 2, 2, 5, 9])[:, None]
    found = crossed(space, BlackBox(""), training, np.zeros_like(ends), ends, merge=0.0)
    assert [one.count for one in found] == [1, 2, 2, 5, 9]
    assert [one.survives for one in found] == [0.0, 0.5, 0.5, 0.75, 1.0]
    assert [len(found.kept(q)) for q in (0.0, 0.01, 0.5, 0.51, 0.75, 0.76, 1.0)] == [5, 4, 4, 2, 2, 1, 1]
