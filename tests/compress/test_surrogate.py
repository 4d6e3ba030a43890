"""Small trees over the binary columns: right, proven where they say so, and readable."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.exceptions import DataConversionWarning
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

import butfor as bf
from butfor.compress import surrogate_tree as surrogates
from butfor.compress import words
from butfor.compress.columns import BinaryColumn, ColumnTest
from butfor.compress.engines.grown import GrownTree, TreeTask
from butfor.compress.tree import as_scikit_learn, planted
from butfor.datasets import loans
from tests.shorter import first


@pytest.fixture(scope="module")
def fitted() -> tuple[bf.compress.CounterfactualDiscretizer, pd.DataFrame, Any]:
    X, y = loans.load(500)
    return bf.compress.CounterfactualDiscretizer(loans.pipeline(), quantile=0.3).fit(X, y), X, y


def engine(kind: str) -> str:
    """The kind, if its library is installed."""
    pytest.importorskip({"gosdt": "gosdt", "streed": "pystreed", "cart": "sklearn"}[kind])
    return kind


def best_of_depth_two(answers: np.ndarray[Any, Any], codes: np.ndarray[Any, Any], penalty: float) -> float:
    """The least objective over all trees of depth 2, by enumeration."""

    def leaf(rows: np.ndarray[Any, Any]) -> float:
        return (len(rows) - np.bincount(codes[rows], minlength=2).max()) / len(codes) + penalty

    def below(rows: np.ndarray[Any, Any], depth: int) -> float:
        best = leaf(rows)
        if depth and len(rows):
            for column in range(answers.shape[1]):
                truth = answers[rows, column] != 0
                best = min(best, below(rows[~truth], depth - 1) + below(rows[truth], depth - 1))
        return best

    return below(np.arange(len(codes)), 2)


@pytest.mark.parametrize("kind", ["cart", "gosdt", "streed"])
def test_it_predicts_what_its_tree_of_scikit_learn_predicts(kind: str, fitted: Any) -> None:
    disc, X, y = fitted
    made = bf.compress.surrogate(disc, X, y, kind=engine(kind), depth=3)
    answers = disc.answers(X)
    np.testing.assert_array_equal(made.tree.predict(answers), made.predict(X))
    np.testing.assert_allclose(made.tree.predict_proba(answers), made.predict_proba(X))
    assert "class: approved" in export_text(made.tree, feature_names=list(made.feature_names))
    plot_tree(made.tree, feature_names=list(made.feature_names))
    assert made.tree.get_n_leaves() == len(made.rules)
    assert made.binary.depth <= 3
    assert made.score(X, y) > 0.75
    assert made.fidelity(X) == float(np.mean(made.predict(X) == disc.model_.predict(X)))


def test_cart_is_scikit_learn_s_own(fitted: Any) -> None:
    disc, X, y = fitted
    own = DecisionTreeClassifier(max_depth=3, random_state=0).fit(disc.answers(X), y)
    np.testing.assert_array_equal(bf.compress.surrogate(disc, X, y).predict(X), own.predict(disc.answers(X)))


@pytest.mark.parametrize("kind", ["gosdt", "streed"])
@pytest.mark.parametrize("penalty", [0.02, 0.05])
def test_a_proven_tree_is_the_best_of_all(kind: str, penalty: float, fitted: Any) -> None:
    disc, X, y = fitted
    made = bf.compress.surrogate(disc, X, y, kind=engine(kind), depth=2, penalty=penalty)
    codes = np.unique(y, return_inverse=True)[1]
    assert made.certificate.proven
    assert made.certificate.gap == 0
    assert made.certificate.objective == pytest.approx(best_of_depth_two(disc.answers(X), codes, penalty), abs=1e-9)
    cart = bf.compress.surrogate(disc, X, y, depth=2, penalty=penalty)
    assert cart.certificate.objective >= made.certificate.objective - 1e-9
    assert cart.certificate.bound <= made.certificate.objective + 1e-9


def test_both_optimal_engines_agree(fitted: Any) -> None:
    disc, X, y = fitted
    engine("gosdt"), engine("streed")
    one, other = (bf.compress.surrogate(disc, X, y, kind=kind, depth=3) for kind in ("gosdt", "streed"))
    assert one.certificate.objective == pytest.approx(other.certificate.objective, abs=1e-9)


@pytest.mark.parametrize("seed", first(4, range(12)))
def test_proven_trees_of_random_tables_agree(seed: int) -> None:
    """Of several classes, with any penalty, down to depth 4. STreeD's own penalty once missed the optimum."""
    engine("gosdt"), engine("streed")
    rng = np.random.default_rng(seed)
    rows, columns, classes = int(rng.integers(50, 300)), int(rng.integers(2, 8)), int(rng.integers(2, 4))
    answers = (rng.random((rows, columns)) < rng.random(columns)).astype(np.uint8)
    codes = (answers @ rng.integers(0, 4, columns)) % classes
    codes = np.where(rng.random(rows) < 0.2, rng.integers(0, classes, rows), codes).astype(np.intp)
    penalty = float(rng.choice([1, 3, 10])) / rows
    task = TreeTask(answers, codes, classes, int(rng.integers(1, 5)), penalty, 60.0)

    def objective(kind: str) -> float:
        grown = surrogates.ENGINES[kind](task)
        assert grown.proven
        tree = planted(grown.shape, answers, codes, classes)
        return float(np.mean(tree.label[tree.reached(answers)] != codes)) + penalty * len(tree.leaves)

    assert objective("gosdt") == pytest.approx(objective("streed"), abs=1e-9)


@pytest.mark.parametrize("rows", [8, 15])
def test_few_rows_get_a_single_leaf(rows: int, fitted: Any) -> None:
    disc, X, y = fitted
    few = pd.concat([X[y == label][: rows - rows // 2] for label in np.unique(y)])[:rows]
    tree = bf.compress.surrogate(disc, few, y[few.index], kind=engine("gosdt"))
    assert tree.certificate.proven
    assert len(tree.rules) == 1


def test_a_proof_by_equal_rows_says_so(fitted: Any) -> None:
    disc, X, _ = fitted
    tree = bf.compress.surrogate(disc, X.iloc[[0] * 30], ["approved"] * 20 + ["rejected"] * 10)
    assert tree.certificate.proven
    assert "equal rows" in str(tree.certificate)


def test_a_score_needs_one_label_per_row(fitted: Any) -> None:
    disc, X, y = fitted
    tree = bf.compress.surrogate(disc, X, y)
    right = tree.score(X, y)
    with pytest.warns(DataConversionWarning):
        assert tree.score(X, np.asarray(y)[:, None]) == right
    for labels in (np.asarray(y)[:1], np.asarray(y)[:-1]):
        with pytest.raises(ValueError, match="inconsistent"):
            tree.score(X, labels)


def test_without_labels_it_learns_the_model(fitted: Any) -> None:
    disc, X, y = fitted
    blind, seeing = bf.compress.surrogate(disc, X), bf.compress.surrogate(disc, X, y)
    assert blind.fidelity(X) >= seeing.fidelity(X)


def test_a_later_quantile_leaves_it_as_it_is(fitted: Any) -> None:
    disc, X, y = fitted
    made = bf.compress.surrogate(disc, X, y)
    before, rules = made.predict(X), made.rules
    disc.set_quantile(1.0)
    try:
        np.testing.assert_array_equal(made.predict(X), before)
        assert made.rules == rules
    finally:
        disc.set_quantile(0.3)


def test_rules_cover_every_row_once() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.integers(1, 100, 400), "age": rng.integers(18, 80, 400)})
    y = np.where((X["income"] > 40) & (X["age"] > 30) & (X["income"] <= 80), "yes", "no")
    disc = bf.compress.CounterfactualDiscretizer(DecisionTreeClassifier(max_depth=4, random_state=0), quantile=0.0)
    made = bf.compress.surrogate(disc.fit(X, y), X, y, depth=4)
    assert made.score(X, y) == 1.0
    total = np.zeros(len(X))
    for rule in made.rules:
        told, label = rule.removeprefix("if ").split(": ")
        holds = np.ones(len(X), dtype=bool)
        for condition in told.split(" and "):
            holds &= X.eval(condition).to_numpy()
        total += holds
        assert set(y[holds]) == {label.split(" (")[0]}
    assert (total == 1).all()
    assert any(" < income <= " in rule for rule in made.rules)
    assert made.features == ("income", "age")
    assert made.export_text().count("yes:") == len(made.rules) - 1


@pytest.mark.parametrize(("columns", "classes"), [(1, 2), (1, 4), (5, 2), (3, 3)])
def test_any_tree_becomes_one_of_scikit_learn(columns: int, classes: int) -> None:
    answers = np.array(list(itertools.product([0, 1], repeat=columns)), dtype=np.uint8)
    codes = (answers.sum(axis=1) % classes).astype(np.intp)
    shape: Any = classes - 1
    for column in range(columns):
        shape = (column, column % classes, shape)
    tree = planted(shape, answers, codes, classes)
    made = as_scikit_learn(tree, columns, np.array([f"c{k}" for k in range(classes)]))
    np.testing.assert_array_equal(made.predict(answers), [f"c{k}" for k in tree.label[tree.reached(answers)]])
    assert made.get_depth() == tree.depth == columns


def test_the_picture_writes_every_question(fitted: Any) -> None:
    disc, X, y = fitted
    made = bf.compress.surrogate(disc, X, y, depth=2)
    axes = made.plot()
    written = {text.get_text() for text in axes.texts}
    assert {made.feature_names[j] for j in made.binary.column if j >= 0} <= written


@pytest.mark.parametrize(("kind", "library"), [("gosdt", "gosdt"), ("streed", "pystreed")])
def test_an_engine_that_is_not_installed(kind: str, library: str, fitted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    disc, X, y = fitted
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(bf.errors.MissingExtraError, match=rf"pip install \"butfor\[{kind}\]\""):
        bf.compress.surrogate(disc, X, y, kind=kind)


def test_out_of_time_tells_the_bound(fitted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    disc, X, y = fitted
    slow = GrownTree(0, proven=False, bound=0.1, why="stopped after 1 s")
    monkeypatch.setitem(surrogates.ENGINES, "gosdt", lambda task: slow)
    proof = bf.compress.surrogate(disc, X, y, kind="gosdt").certificate
    assert not proof.proven
    assert 0.1 <= proof.bound < proof.objective
    assert 0 < proof.gap < 1
    assert "at least" in str(proof)
    assert "stopped after 1 s" in str(proof)


@pytest.mark.long
def test_gosdt_itself_out_of_time() -> None:
    engine("gosdt")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = rng.integers(0, 2, 400)
    model = GradientBoostingClassifier(n_estimators=40, max_depth=2, random_state=0)
    disc = bf.compress.CounterfactualDiscretizer(model, quantile=0.2, p1=0.6).fit(X, y)
    made = bf.compress.surrogate(disc, X, y, kind="gosdt", depth=4, penalty=1e-3, time_limit=1)
    proof = made.certificate
    assert proof.bound <= proof.objective
    assert proof.proven == (proof.gap == 0)
    assert proof.proven or "GOSDT stopped after 1 s" in str(proof)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"kind": "magic"}, "'cart', 'gosdt', 'streed'"), ({"depth": 0}, "depth=0"), ({"penalty": -1}, "penalty=-1")],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], words: str, fitted: Any) -> None:
    disc, X, y = fitted
    with pytest.raises(bf.errors.InputError, match=words):
        bf.compress.surrogate(disc, X, y, **settings)


def test_it_needs_a_discretiser(fitted: Any) -> None:
    _, X, y = fitted
    with pytest.raises(bf.errors.InputTypeError, match="A CounterfactualDiscretizer is needed"):
        bf.compress.surrogate(DecisionTreeClassifier(), X, y)  # type: ignore[arg-type]


def asked(column: str, test: ColumnTest, at: float, ask: str) -> BinaryColumn:
    return BinaryColumn(column, ord(column[0]), test, at, 1, 1.0, ask)


LOW, HIGH = asked("wage", ColumnTest.ABOVE, 10.0, "> 10"), asked("wage", ColumnTest.ABOVE, 20.0, "> 20")
GONE = asked("wage", ColumnTest.MISSING, 0.0, "is missing")
NURSE, COOK = asked("job", ColumnTest.LEVEL, 0.0, "= nurse"), asked("job", ColumnTest.LEVEL, 1.0, "= cook")
NONE = asked("job", ColumnTest.MISSING, 0.0, "is missing")


@pytest.mark.parametrize(
    ("path", "lacks", "told"),
    [
        ([(LOW, True), (HIGH, False)], False, "10 < wage <= 20"),
        ([(LOW, True), (HIGH, True)], False, "wage > 20"),
        ([(LOW, False), (HIGH, False)], False, "wage <= 10"),
        ([(LOW, False)], True, "(wage <= 10 or is missing)"),
        ([(GONE, False), (LOW, False)], True, "wage <= 10"),
        ([(GONE, True), (LOW, False)], True, "wage is missing"),
        ([(GONE, False)], True, "wage is not missing"),
        ([(NURSE, False), (COOK, False)], False, "job is not nurse and not cook"),
        ([(NURSE, False), (COOK, True)], False, "job = cook"),
        ([(NURSE, False), (COOK, False)], True, "(job is not nurse and not cook or is missing)"),
        ([(NURSE, False), (NONE, False)], True, "job is not nurse and not missing"),
        ([(NONE, False), (NURSE, False), (COOK, True)], True, "job = cook"),
        ([(NURSE, False), (LOW, True)], False, "job is not nurse; wage > 10"),
    ],
)
def test_a_path_in_words(path: Any, lacks: bool, told: str) -> None:
    assert "; ".join(words.conditions(path, {ord("w"), ord("j")} if lacks else set())) == told
