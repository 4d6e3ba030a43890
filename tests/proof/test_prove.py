"""Proofs are made of what is claimed, agree with enumeration, and say in words what they are about."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import InputError, InputTypeError, RefutedError, UnsupportedModelError, UnsupportedProblemError
from butfor.proof.checker import checker, checker_file
from butfor.proof.linear_prover import TOO_HIGH
from butfor.proof.model_files import MODEL_WRITERS
from butfor.proof.proven import BESIDE
from tests.proof import by_hand, judge
from tests.proof.cases import KINDS, cases, estimator, read, table, with_holes
from tests.proof.second import both_verify, second

__all__ = ["second"]


@pytest.mark.shorter(4)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_proven_is_the_least_cost(kind: str) -> None:
    """The judge tries every row. The claim is true, and it is within a billionth of the truth."""
    found = cases(kind)
    assert len(found) == 10, "every claim has a proof"
    for case in found:
        least, below = judge.least_cost(case.shared, case.own, case.kind, case.content), case.own["below"]
        assert "VERIFIED" in case.check()
        if below is None:
            assert least is None
        else:
            assert least is not None
            assert 0 < 1 - float(judge.number(below) / least) < 3e-9


def proven(model: Any, X: Any, folder: Path, rows: int = 3, **question: Any) -> bf.Proofs:
    answers = bf.Explainer(model, data=X).explain(X.iloc[:rows], **question)
    return bf.prove(answers, model, folder)


def all_proven(proofs: bf.Proofs) -> bool:
    """Whether every answer is proven that costs something, and there is one."""
    return proofs.verified == sum(one.words != "the answer costs nothing" for one in proofs) > 0


def in_another_order(X: pd.DataFrame) -> pd.DataFrame:
    """The same values in categories of another order."""
    return X.assign(job=X["job"].cat.reorder_categories(X["job"].cat.categories[::-1]))


def test_lightgbm_with_its_own_categories(tmp_path: Path) -> None:
    import lightgbm

    X, y = table()
    X = X.assign(job=X["job"].astype("category"))
    model = lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=3, n_jobs=1, verbose=-1).fit(X, y)
    assert proven(model, X, tmp_path).verified == 3
    assert proven(model, in_another_order(X), tmp_path).verified == 3


def test_xgboost_with_its_own_categories(tmp_path: Path) -> None:
    import xgboost

    X, y = table()
    X = X.assign(job=X["job"].astype("category"))
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=3, enable_categorical=True, n_jobs=1).fit(X, y)
    assert proven(model, X, tmp_path).verified == 3
    assert proven(model, in_another_order(X), tmp_path).verified == 3


@pytest.mark.long
@pytest.mark.parametrize("kind", ["class", "value"])
def test_catboost(kind: str, tmp_path: Path) -> None:
    """All pairs of numbers are tried that lie at a border, or just above it in float32."""
    import catboost

    X, y = table()
    X, quiet = X[["income", "age"]], {"iterations": 8, "depth": 3, "verbose": 0, "allow_writing_files": False}
    if kind == "class":
        model, target, rows = catboost.CatBoostClassifier(**quiet).fit(X, y), bf.classes(1), X[y == 0].iloc[:4]
    else:
        model, rows = catboost.CatBoostRegressor(**quiet).fit(X, X["income"] + X["age"] / 20), X.iloc[:4]
        target = bf.value(at_least=float(np.quantile(model.predict(X), 0.8)))
    answers = bf.Explainer(model, data=X).explain(rows, target=target)
    proofs = bf.prove(answers, model, tmp_path)
    assert all_proven(proofs)
    low, high = X.min().to_numpy(), X.max().to_numpy()
    tried = []
    for j in range(2):
        borders = np.float32(model.get_borders().get(j, []))
        tried.append([*borders.tolist(), *np.nextafter(borders, np.float32(np.inf)).tolist()])
    for one, row in zip(proofs, rows.to_numpy(), strict=True):
        ages = {float(f(x)) for x in tried[1] for f in (np.floor, np.ceil)} | {row[1]}
        grid = np.array([p for p in product({*tried[0], row[0]}, ages) if (low <= p).all() and (p <= high).all()])
        said = np.asarray(model.predict(pd.DataFrame(grid, columns=X.columns)))
        met = said == 1 if kind == "class" else said >= target.low
        cost = (np.abs(grid - row) / (high - low)).sum(axis=1)[met].min(initial=np.inf)
        assert cost == 0 or one.below == pytest.approx(cost, rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        ExtraTreesRegressor(8, max_depth=4, random_state=0),
        GradientBoostingRegressor(n_estimators=8),
        HistGradientBoostingRegressor(max_iter=8),
    ],
)
def test_values_of_regressors(model: Any, tmp_path: Path) -> None:
    X, _ = table()
    X = X[["income", "age"]].assign(half=(X["income"] * 2).round() / 2 + 0.1)
    model.fit(X, X["income"] + X["age"] / 20)
    answers = proven(model, X, tmp_path, target=bf.value(at_least=float(model.predict(X).max()) - 0.3))
    assert all_proven(answers)
    assert "a predicted value of at least" in answers[0].words


@pytest.mark.shorter(2)
@pytest.mark.parametrize("end", [{"at_least": 0.8}, {"at_most": 0.2}])
@pytest.mark.parametrize("kind", ["forest", "xgboost"])
def test_probabilities_and_prices(kind: str, end: dict[str, float], tmp_path: Path) -> None:
    X, y = table()
    model = estimator(kind).fit(X, y)
    cost = bf.L1() + 0.1 * bf.L0() + bf.L2()
    found = proven(model, X, tmp_path, rows=5, target=bf.probability(1, **end), cost=cost)
    assert all_proven(found)
    prices = bf.Table({"job": {"cook": 0.3, "judge": 0.9}}) + bf.L1(weights={"income": 1.0, "age": 2.0})
    both = proven(
        model,
        X,
        tmp_path,
        target=bf.probability(0, at_least=0.7),
        cost=prices,
    )
    assert all_proven(both)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", ["xgboost", "histogram", "tree"])
def test_numbers_that_a_pipeline_changes(kind: str, tmp_path: Path) -> None:
    """The question file says where each cut lies in the column. Proven is what the pipeline itself says."""
    X, y = table(rows=200)
    scaled = make_column_transformer(
        (StandardScaler(), ["income", "age"]), (OneHotEncoder(), ["job"]), sparse_threshold=0.0
    )
    model = make_pipeline(scaled, estimator(kind)[-1]).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:5]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.classes(1), constraints=[bf.fixed("job")])
    for one in bf.prove(answers, model, tmp_path):
        assert one.verified
        assert one.file is not None
        own = json.loads(one.file.read_text().splitlines()[0])
        shared = json.loads((tmp_path / own["question"][0]).read_text())
        tried = [
            sorted({*map(float.fromhex, about["edges"]), float.fromhex(mine["now"])}
                   | {float(np.nextafter(float.fromhex(x), np.inf)) for x in about["edges"]})
            for about, mine in zip(shared["columns"][:2], own["columns"], strict=False)
        ]  # fmt: skip
        tried[1] = sorted({float(np.floor(x)) for x in tried[1]} | {float(np.floor(x)) + 1 for x in tried[1]})
        low, high = X[["income", "age"]].min().to_numpy(), X[["income", "age"]].max().to_numpy()
        grid = np.array([point for point in product(*tried) if (low <= point).all() and (point <= high).all()])
        table_of = pd.DataFrame(grid, columns=["income", "age"]).assign(
            job=shared["columns"][2]["levels"][own["columns"][2]["now"]][0]
        )
        now = np.array([float.fromhex(mine["now"]) for mine in own["columns"][:2]])
        cost = (np.abs(grid - now) / (high - low)).sum(axis=1)[model.predict(table_of) == 1].min(initial=np.inf)
        assert one.below == pytest.approx(cost, rel=1e-7)


def test_the_words_are_those_of_the_question(tmp_path: Path) -> None:
    X, y = table()
    model = estimator("xgboost").fit(X, y)
    row = X[model.predict(X) == 0].iloc[:1]
    answer = bf.Explainer(model, data=X).explain(
        row, target=bf.classes(1), constraints=[bf.only_up("age"), bf.at_most_changes(2)]
    )
    (proof,) = bf.prove(answer, model, tmp_path)
    done = subprocess.run(
        [sys.executable, tmp_path / "butfor_check.py", str(proof.file)], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert proof.words in done.stdout
    job = row["job"].iloc[0]
    age = f"age: is {row['age'].iloc[0]}; may become {row['age'].iloc[0]} to {X['age'].max()}, on the grid 1 k + 0, at "
    for words in (age, f"job: is {job}; may become", " at 1", "At most 2 of them change.", "The estimator gives it class 1",
                  "VERIFIED: no admissible row that costs less than", "8 trees", "reads values as float32"):  # fmt: skip
        assert words in done.stdout, words


def test_a_folder_is_checked_whole(tmp_path: Path) -> None:
    X, y = table()
    model = estimator("tree").fit(X, y)
    proofs = proven(model, X, tmp_path / "proofs")
    (tmp_path / "empty").mkdir()

    def checked(folder: str) -> tuple[int, list[str]]:
        command = [sys.executable, tmp_path / "proofs" / "butfor_check.py", folder]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        return done.returncode, done.stdout.splitlines()

    code, lines = checked("proofs")
    assert code == 0
    assert [line for one in proofs for line in one.words.splitlines()] == lines[
        : sum(one.words.count("\n") + 1 for one in proofs)
    ]
    assert lines[-1] == "3 of 3 proofs are VERIFIED."
    assert proofs[1].file is not None
    proofs[1].file.write_text("{}")
    code, lines = checked("proofs")
    assert code == 1
    assert lines[-2].startswith("proofs/row-1.proof: NOT VERIFIED: ")
    assert lines[-1] == "2 of 3 proofs are VERIFIED."
    code, lines = checked("empty")
    assert (code, lines[-1]) == (1, "0 of 0 proofs are VERIFIED.")


def test_a_gap_and_an_impossibility(tmp_path: Path) -> None:
    X, y = table()
    model = estimator("forest").fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:3])
    wide = [replace(one, bound=one.bound / 2, status=bf.Status.WITHIN_GAP) for one in answers.certificates]
    found = bf.prove(replace(answers, certificates=wide), model, tmp_path)
    assert found.verified == 3
    assert [one.below for one in found] == pytest.approx([one.bound for one in wide], rel=1e-8)
    none = bf.Explainer(model, data=X).explain(X.iloc[:1], constraints=[bf.fixed("income", "age", "job")])
    (proof,) = bf.prove(none, model, tmp_path)
    assert proof.below == np.inf
    assert "VERIFIED: no admissible row gets class" in proof.words


def test_a_false_claim_ends_in_a_row(tmp_path: Path) -> None:
    X, y = table()
    model = estimator("xgboost").fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:2])
    first, second = answers.certificates
    false = replace(answers, certificates=[replace(first, bound=2 * first.cost, cost=2 * first.cost), second])
    with pytest.raises(
        RefutedError, match=r"1 of 2 claims are false. Row 0, answer 1: at a cost of .*, (income|age|job) = "
    ):
        bf.prove(false, model, tmp_path)
    assert [one.name for one in tmp_path.glob("*.proof")] == ["row-1.proof"], "the true one is written"
    impossible = replace(first, bound=np.inf, cost=np.inf, status=bf.Status.PROVEN_INFEASIBLE)
    with pytest.raises(RefutedError, match="1 of 1 claims are false"):
        bf.prove(replace(answers[:1], certificates=[impossible], costs=np.array([np.inf])), model, tmp_path)


def test_what_is_not_proven_yet_is_refused_by_name(tmp_path: Path) -> None:
    X, y = table()
    X = X[["income", "age"]]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    folded = make_pipeline(QuantileTransformer(n_quantiles=9), LogisticRegression()).fit(X, y)
    folder = tmp_path / "none"
    for model, words in (
        (
            VotingClassifier([("one", tree), ("other", LogisticRegression())]).fit(X, y),
            "a VotingClassifier: no proof is made of it",
        ),
        (folded, "a pipeline that bends 'income'"),
    ):
        with pytest.raises(UnsupportedModelError, match=words):
            proven(model, X, folder)
    for question, words in (
        ({"constraints": [bf.candidates(X.iloc[:9])]}, "do not hold candidates"),
        (
            {"cost": bf.Quadratic(np.eye(2), columns=["income", "age"])},
            "a quadratic form beside other prices, of trees",
        ),
        ({"constraints": [bf.robust(0.1, norm="l2")]}, "the constraint .* of trees"),
    ):
        with pytest.raises(UnsupportedProblemError, match=words):
            proven(tree, X, folder, **question)
    assert not folder.exists(), "nothing is written"
    with pytest.raises(InputTypeError, match="a str was given as answers"):
        bf.prove("answers.jsonl", tree, folder)
    with pytest.raises(InputError, match="no answer was given"):
        bf.prove(bf.Explainer(tree, data=X).explain(X.iloc[:2])[:0], tree, folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        proven(tree, X, tmp_path / "file")


def test_several_features_of_a_number_are_proven_as_they_were_read(tmp_path: Path) -> None:
    X, y = table()
    X = X[["income", "age"]]
    both = FeatureUnion([("scaled", StandardScaler()), ("ranks", QuantileTransformer(n_quantiles=9))])
    model = make_pipeline(both, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
    found = proven(model, X, tmp_path)
    assert found.verified == 3
    assert '"of": "what butfor read of a DecisionTreeClassifier' in next(tmp_path.glob("question-*")).read_text()


def test_numbers_are_written_without_loss(tmp_path: Path) -> None:
    """No decimal stands in a proof or a question: only whole numbers and hexadecimal floats."""
    X, y = table()
    model = estimator("boosted").fit(X, y)
    proven(model, X, tmp_path)

    def no_decimal(text: str) -> float:
        raise AssertionError(text)

    for path in [*tmp_path.glob("*.proof"), *tmp_path.glob("question-*")]:
        for line in path.read_text().splitlines():
            json.loads(line, parse_float=no_decimal)


def test_a_check_verifies_a_proof_and_compares_it_with_the_answer(tmp_path: Path) -> None:
    X, y = table()
    model = estimator("forest").fit(X, y)
    explainer, rows = bf.Explainer(model, data=X), X[model.predict(X) == 0].iloc[:3]
    answers = explainer.explain(rows, target=bf.classes(1))
    proofs = bf.prove(answers, model, tmp_path)
    checked = bf.check(answers, model, proof=tmp_path)
    assert checked.passed
    assert "verified by row-" in repr(checked)
    file = proofs[1].file
    assert file is not None
    assert bf.check(answers[1], model, proof=file).passed
    narrower = explainer.explain(rows, target=bf.classes(1), constraints=[bf.fixed("age")])
    for other, words in (
        (answers[0], "is about another row"),
        (narrower[1], "is about another row"),
        (explainer.explain(rows, target=bf.probability(1, at_least=0.6))[1], "is about another target"),
    ):
        told = bf.check(other, model, proof=file)
        assert not told.passed
        assert words in repr(told)
    certificate = replace(answers[1].certificate, bound=1.01 * answers[1].cost, cost=answers[1].cost)
    assert "proves no more than" in repr(bf.check(replace(answers[1], certificate=certificate), model, proof=file))
    file.write_text(file.read_text().replace("end", "End", 1))
    assert "is not verified" in repr(bf.check(answers[1], model, proof=file))
    file.unlink()
    assert "a file is not there" in repr(bf.check(answers[1], model, proof=file.parent))
    with pytest.raises(InputError, match="is not there"):
        bf.check(answers[1], model, proof=tmp_path / "nowhere")


def test_rows_with_missing_values_are_proven(tmp_path: Path) -> None:
    """Missing values are filled before the trees, or get a level of their own."""
    X, y = table()
    X = with_holes(X)
    X.loc[X.index % 5 == 0, "job"] = None
    filled = make_column_transformer(
        (SimpleImputer(strategy="median"), ["income", "age"]), (OneHotEncoder(sparse_output=False), ["job"])
    )
    model = make_pipeline(filled, estimator("forest")[-1]).fit(X, y)
    found = proven(model, X, tmp_path, rows=6, constraints=[bf.may_be_missing("job", "income")])
    assert all_proven(found)
    words = "".join(one.words for one in found)
    for told in (
        "income: is missing; may become -",
        ", or missing at 1",
        "job: is missing; may become clerk at 1",
    ):
        assert told in words


@pytest.mark.shorter(1)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("library", ["lightgbm", "catboost", "xgboost"])
def test_libraries_that_read_missing_values(library: str, classes: int, tmp_path: Path) -> None:
    """The estimator is asked about all rows that lie at a cut, or beside it, or have holes."""
    X, y = table(rows=120)
    if classes == 3:
        y = np.digitize(X["income"] + (X["age"] - 40) / 20, [-0.4, 0.7])
    X = with_holes(X)[["income", "age"]].assign(half=0.5)
    if library == "lightgbm":
        import lightgbm

        model: Any = lightgbm.LGBMClassifier(n_estimators=8, min_child_samples=3, num_leaves=5, n_jobs=1, verbose=-1)
    elif library == "catboost":
        import catboost

        model = catboost.CatBoostClassifier(iterations=8, depth=3, verbose=0, allow_writing_files=False)
    else:
        import xgboost

        model = xgboost.XGBClassifier(n_estimators=8, max_depth=2, n_jobs=1)
    model.fit(X, y)
    rows = X[np.ravel(model.predict(X)) == 0].iloc[:6]
    assert rows.isna().any(axis=None)
    answers = bf.Explainer(model, data=X).explain(
        rows, target=bf.classes(1), constraints=[bf.fixed("half"), bf.may_be_missing("age")]
    )
    file = MODEL_WRITERS[library, type(model).__name__](model, library)
    read = checker().Model(file.kind, file.content)
    cuts = [
        {float(node[1]) for nodes in read.trees for node in nodes if len(node) > 1 and node[0] == j} for j in (0, 1)
    ]
    low, high = X.min().to_numpy(), X.max().to_numpy()
    size = np.float32 if read.single else np.float64
    for one, row in zip(bf.prove(answers, model, tmp_path), rows.to_numpy(), strict=True):
        tried = [{row[j], *cuts[j], *(float(np.nextafter(size(c), size(9e9))) for c in cuts[j])} for j in (0, 1)]
        tried[0] |= {low[0]}
        tried[1] = {float(f(x)) for x in tried[1] | {low[1]} if not np.isnan(x) for f in (np.floor, np.ceil)} | {np.nan}
        grid = np.array([(*pair, 0.5) for pair in product(*tried)])
        grid = grid[((low <= grid) & (grid <= high) | np.isnan(grid)).all(axis=1)]
        move = np.abs(grid - row) / np.where(high > low, high - low, 1.0)
        cost = np.where(np.isnan(grid) & np.isnan(row), 0.0, np.where(np.isnan(move), 1.0, move)).sum(axis=1)
        least = cost[np.ravel(model.predict(pd.DataFrame(grid, columns=X.columns))) == 1].min()
        assert one.below == pytest.approx(least, rel=1e-6)


@pytest.mark.long
def test_a_portfolio_is_proven(tmp_path: Path) -> None:
    X, y = table()
    model = estimator("xgboost").fit(X, y)
    portfolio = bf.Explainer(model, data=X).portfolio(
        X.iloc[:6], tmp_path / "portfolio", target="other", progress=False
    )
    found = bf.prove(portfolio, model, tmp_path / "proofs")
    assert found.verified == len(found) == 6
    assert bf.check(portfolio, model, proof=tmp_path / "proofs").passed


def test_the_command_writes_proofs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import joblib

    from butfor.cli import app

    X, y = table()
    model = estimator("votes").fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:2])
    joblib.dump(model, tmp_path / "model.joblib")
    answers.to_jsonl(tmp_path / "answers.jsonl")
    given = [str(tmp_path / "answers.jsonl"), str(tmp_path / "model.joblib")]
    app(["prove", *given, "--out", str(tmp_path / "proofs"), "--quiet"], standalone_mode=False)
    assert "2 of 2 answers are proven" in capsys.readouterr().out
    app(["check", *given, "--proof", str(tmp_path / "proofs"), "--quiet"], standalone_mode=False)
    assert "verified by row-1.proof" in capsys.readouterr().out


def test_the_checker_is_plain_and_short() -> None:
    """One file for Python 3.8, standard library alone, short enough to be read: its families are sections."""
    source = checker_file().read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names)
    words = [node.body[0] for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    said = {
        line
        for node in words
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    code = [line for at, line in enumerate(source.splitlines(), 1) if at not in said and line.strip().partition("#")[0]]
    assert len(code) <= 1869


def test_a_float32_column_that_may_not_move_is_told_without_a_warning(tmp_path: Path) -> None:
    X, y = table()
    X = X[["income", "age"]].astype({"income": np.float32})
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:2]
    answers = bf.Explainer(model, data=X).explain(rows, constraints=[bf.fixed("income")])
    assert bf.prove(answers, model, tmp_path).verified == 2


@pytest.mark.shorter(2)
@pytest.mark.parametrize("kind", ["forest", "hist", "lightgbm"])
@pytest.mark.parametrize("scaled", [False, True])
def test_numbers_of_float32_beside_others_are_proven(kind: str, scaled: bool, tmp_path: Path) -> None:
    """A float32 column becomes float32 numbers only, also where float64 numbers lead to the cuts behind a scaler."""
    import lightgbm

    X, y = table(rows=200)
    X = X[["income", "age"]].assign(size=np.random.default_rng(2).normal(size=200).astype(np.float32))
    y = y ^ (X["size"] > 0.7)
    learner = {
        "forest": RandomForestClassifier(8, max_depth=4, random_state=0),
        "hist": HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=5),
        "lightgbm": lightgbm.LGBMClassifier(n_estimators=8, num_leaves=5, n_jobs=1, verbose=-1),
    }[kind]
    scaler = StandardScaler().set_output(transform="pandas")
    model = (make_pipeline(scaler, learner) if scaled else learner).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[:20])
    assert sum("size" in [change.name for change in one.changes] for one in answers) > 3
    assert bf.prove(answers, model, tmp_path).verified == 20


def test_a_level_that_the_rows_do_not_have_is_proven(tmp_path: Path) -> None:
    """Only the rows of the training have a missing job, which has a feature of its own."""
    X, y = table(rows=120)
    X["job"] = X["job"].astype(object).where(X.index % 9 != 0, None)
    model = estimator("forest").fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[[1, 2, 3]])
    assert bf.prove(answers, model, tmp_path).verified == 3


def test_another_model_is_told_before_anything_is_written(tmp_path: Path) -> None:
    X, y = table()
    first, second = (
        estimator("forest").set_params(randomforestclassifier__random_state=seed).fit(X, y) for seed in (0, 1)
    )
    answers = bf.Explainer(first, data=X).explain(X.iloc[:3])
    with pytest.raises(InputError, match="another model was given: its fingerprint is"):
        bf.prove(answers, second, tmp_path / "proofs")
    assert not (tmp_path / "proofs").exists()


def test_more_changes_than_columns_are_allowed(tmp_path: Path) -> None:
    X = pd.DataFrame({"x": np.arange(20.0)})
    model = LogisticRegression().fit(X, X["x"] > 9)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:2], constraints=[bf.at_most_changes(3)])
    assert bf.prove(answers, model, tmp_path).verified == 2


def test_a_feature_that_no_column_makes_is_part_of_what_was_read(tmp_path: Path) -> None:
    """Of three bins of a dummy, the middle one is empty, so its feature is a constant."""
    X = pd.get_dummies(pd.DataFrame({"a": list("uvwuv") * 8, "b": list("xy") * 20}), dtype=int)
    bins = KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    model = make_pipeline(bins, LinearRegression()).fit(X, X["a_v"] + 0.5 * X["b_y"])
    model[-1].coef_[1::3] = 0.25
    rows = X[model.predict(X) < 0.4].iloc[:2]
    explainer = bf.Explainer(model, data=X, space={"a": bf.one_hot("a_*"), "b": bf.one_hot("b_*")})
    answers = explainer.explain(rows, target=bf.value(at_least=0.9))
    assert bf.prove(answers, model, tmp_path).verified == 2


def test_each_proof_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Rows may have one label, or labels that a disk does not tell apart, and a folder the proofs of several questions."""
    X, y = table()
    model = estimator("tree").fit(X, y)
    explainer, rows = bf.Explainer(model, data=X), X[model.predict(X) == 0].iloc[:5]
    rows.index = pd.Index([7, 7, "Seven", "seven", "long" * 100], dtype=object)
    answers = explainer.explain(rows, target=1)
    first = bf.prove(answers, model, tmp_path)
    kept = {one.file: one.file.read_text() for one in first if one.file is not None}
    assert len(kept) == len({file.name.lower() for file in kept}) == 5
    assert max(len(file.name) for file in kept) < 150
    other = bf.prove(explainer.explain(rows, target=1, cost="l0"), model, tmp_path)
    assert len({one.file for one in [*first, *other]}) == 10
    assert kept == {file: file.read_text() for file in kept}
    again = bf.prove(answers, model, tmp_path)
    assert [one.file for one in again] == [one.file for one in first], "the same proofs are written into the same files"
    assert bf.check(answers, model, proof=tmp_path).passed


@pytest.mark.parametrize("name", ["in\xa0come", "in\ncome", "\u200b"])
def test_names_that_cannot_be_printed_are_told_in_escapes(name: str, tmp_path: Path) -> None:
    X, y = table()
    X = X.assign(job=X["job"].replace("cook", "c\xa0ook")).rename(columns={"income": name})
    model = estimator("tree").fit(X, y)
    (proof,) = proven(model, X, tmp_path, rows=1)
    assert proof.verified
    assert f"  {name.encode('unicode_escape').decode()}: is" in proof.words
    assert bf.check(bf.Explainer(model, data=X).explain(X.iloc[:1]), model, proof=tmp_path).passed


def test_names_that_would_read_alike_are_told_apart(tmp_path: Path) -> None:
    """A tab is written as a backslash and a letter, which another name may hold. A level may be called as a missing value is."""
    X, y = with_holes(table()[0]), table()[1]
    X = X.assign(job=X["job"].replace({"cook": "missing"})).rename(columns={"income": "a\tb", "age": "a\\tb"})
    X.loc[X.index % 7 == 3, "job"] = np.nan
    model = estimator("lost forest").fit(X, y)
    (proof,) = proven(model, X, tmp_path, rows=1)
    assert proof.verified
    question = json.loads((tmp_path / json.loads(proof.file.read_text().splitlines()[0])["question"][0]).read_text())
    assert {"a\\tb", "a\\tb (2)"} < {about["name"] for about in question["columns"]}
    (levels,) = ([level[0] for level in about["levels"]] for about in question["columns"] if "levels" in about)
    assert {"'missing'", "missing"} < {*levels}
    case = cases("tree")[0]
    told = [{**about, "name": "x"} for about in case.shared["columns"]]
    with pytest.raises(checker().Wrong, match="two columns of one name"):
        replace(case, shared={**case.shared, "columns": told}).check()
    told = [
        {**about, "levels": [["x", *its[1:]] for its in about["levels"]]} if "levels" in about else about
        for about in case.shared["columns"]
    ]
    with pytest.raises(checker().Wrong, match="two levels of one name, in job"):
        replace(case, shared={**case.shared, "columns": told}).check()


@pytest.mark.parametrize("weight", [1e-300, 1e150])
def test_prices_that_no_proof_holds_are_told(weight: float, tmp_path: Path) -> None:
    X, y = table()
    X = X[["income", "age"]]
    model = LogisticRegression().fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:2], cost=bf.L1(weights=dict.fromkeys(X, weight)))
    proofs = bf.prove(answers, model, tmp_path)
    assert not proofs.verified
    assert {one.words.partition(":")[0] for one in proofs} <= {"the checker does not take it", TOO_HIGH}


def test_rows_of_more_digits_than_the_data_are_proven(tmp_path: Path) -> None:
    """Of a float32 column, the row's own number may be none."""
    X, y = table()
    X = X[["income", "age"]].astype({"income": np.float32})
    model = GradientBoostingClassifier(n_estimators=5, max_depth=2).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:2].astype(float)
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows + 1e-9, target=1), model, tmp_path)
    assert all_proven(proofs)


def test_decimals_on_both_sides_of_a_cut_are_proven_to_less(tmp_path: Path) -> None:
    """A cut of histograms may be a point of the grid, which floats miss: the cell above it begins there in the proof."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"amount": rng.normal(1e4, 3e3, size=400).round(2), "age": rng.integers(18, 70, size=400)})
    y = (X["amount"] / 3e3 + X["age"] / 20 + rng.normal(size=400) > 5.5).astype(int)
    model = HistGradientBoostingClassifier(max_iter=15, max_depth=3).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, target=1, constraints=[bf.step("amount", 0.01)])
    proofs = bf.prove(answers, model, tmp_path)
    assert all_proven(proofs)
    less = [one.below / cost for one, cost in zip(proofs, answers.costs.tolist(), strict=True) if one.less == BESIDE]
    assert less
    assert all(0.99 < share < 1 for share in less)
    assert f"{len(less)} of them to less than was claimed: {BESIDE}" in repr(proofs)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fixed", [(), ("a",)], ids=["free", "fixed"])
def test_weights_of_float32_decimals_are_proven_to_less(
    classes: int, fixed: tuple[str, ...], second: Path, tmp_path: Path
) -> None:
    """Numbers next to a point of the grid count as admissible. So a bound misses the claim in each box, however small it is."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.integers(0, 10, 300), "c": rng.normal(size=300)})
    X = X.astype({"c": np.float32}).assign(d=rng.random(300) < 0.5)
    y = np.digitize(X["a"] + X["b"] / 5 + X["c"], [1.5, 0.5][: classes - 1][::-1])
    model = LogisticRegression(max_iter=1000).fit(X, y)
    rows = X[model.predict(X) < classes - 1].iloc[:3]
    rules = [bf.step("c", 0.1), *map(bf.fixed, fixed)]
    answers = bf.Explainer(model, data=X).explain(rows, target=classes - 1, constraints=rules)
    proofs = bf.prove(answers, model, tmp_path / "proofs", time_limit=10)
    assert all_proven(proofs)
    assert {one.less for one in proofs} == {BESIDE}
    below = [one.below for one in proofs]
    assert (below < answers.costs).all()
    assert below == pytest.approx(answers.costs, rel=1e-4)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_what_is_asked_and_claimed_is_not_rounded() -> None:
    """Else a claim about a range that ends just below 1 would read as one about 1, which is false."""
    below, price = 1 - 1e-10, 1 + 1e-12
    trees, x = [by_hand.tree((0, 1 - 1e-11, 1, 2), 0.0, 1.0)], by_hand.number(1e-15, price, 0.0, below)
    question = by_hand.case("near", trees, [x], 1.0, 1 / 3, {"end": "score"})
    (said,) = (line for line in question.check().splitlines() if line.startswith("  x: "))
    assert said == f"  x: is 1e-15; may become 0 to {below!r}, any number, at {price!r} a unit"
    assert f"costs less than {1 / 3!r}," in question.check()
