"""Linear models whose own file no checker reads: a search around them, a sigmoid behind them, a threshold of one's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import butfor as bf
from butfor.proof.checker import checker
from tests.proof.cases import Case, read
from tests.proof.test_linear import prepared, table, with_holes


def searched(learner: Any, **grid: Any) -> Any:
    return GridSearchCV(learner, {name: [value] for name, value in grid.items()}, cv=2)


def sigmoid(learner: Any) -> Any:
    return CalibratedClassifierCV(learner, method="sigmoid", ensemble=False, cv=2)


MODELS: dict[str, Callable[[], Any]] = {
    "searched": lambda: searched(prepared(LogisticRegression()), logisticregression__C=2.0),
    "searched inside": lambda: prepared(searched(LogisticRegression(), C=2.0)),
    "sigmoid": lambda: sigmoid(prepared(LinearSVC())),
    "sigmoid inside": lambda: prepared(sigmoid(LinearSVC())),
    "threshold": lambda: FixedThresholdClassifier(prepared(LogisticRegression()), threshold=0.3),
    "three classes": lambda: searched(prepared(LogisticRegression()), logisticregression__C=2.0),
    "values": lambda: searched(prepared(Ridge()), ridge__alpha=0.5),
}


def fitted(name: str, X: pd.DataFrame) -> tuple[Any, Callable[[pd.DataFrame], np.ndarray], Any]:
    """A model, what is wanted of its predictions, and the target."""
    _, y = table()
    if name == "values":
        model = MODELS[name]().fit(X, X["a"] + 2.0 * X["b"])
        return model, lambda rows: model.predict(rows) >= 22, bf.value(at_least=22)
    model = MODELS[name]().fit(X, y + (X["b"] > 5) if name == "three classes" else y)
    return model, lambda rows: model.predict(rows) == 1, 1


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", MODELS)
def test_what_is_proven_is_the_least_cost(name: str, tmp_path: Path) -> None:
    X, _ = table()
    model, met, target = fitted(name, X)
    rows = X[~met(X)].iloc[:3]
    every = pd.DataFrame(
        list(product(range(12), range(9), range(-3, 4), ["clerk", "cook", "judge"])), columns=X.columns
    )
    good = every[met(every)]
    answers = bf.Explainer(model, data=X).explain(rows, target=target)
    for (_, row), one in zip(rows.iterrows(), bf.prove(answers, model, tmp_path), strict=True):
        spans = {"a": 11, "b": 8, "c": 6}
        cost = sum((good[column] - row[column]).abs() / span for column, span in spans.items())
        assert one.below == pytest.approx((cost + (good["job"] != row["job"])).min(), rel=1e-8)
    assert bf.check(answers, model, proof=tmp_path).passed
    assert json.loads(next(tmp_path.glob("question-*")).read_text())["model"]["of"].startswith("what butfor read of a")


def proven(name: str, folder: Path) -> Case:
    """The proof of a row."""
    X, _ = table()
    model, met, _ = fitted(name, X)
    proofs = bf.prove(bf.Explainer(model, data=X).explain(X[~met(X)].iloc[:1]), model, folder)
    case = read(proofs[0].file)
    assert case.accepted()
    return case


@pytest.mark.parametrize("digit", [1e-6, 1e-14])
def test_recorded_rows_are_compared_with_probabilities(digit: float, tmp_path: Path) -> None:
    """A weight that is another one than the estimator's is seen, as far as floating point tells."""
    case = proven("sigmoid", tmp_path)
    told = json.loads(case.content)
    told["weights"][0] = (float.fromhex(told["weights"][0]) * (1 + digit)).hex()
    changed = replace(case, content=json.dumps(told))
    by, model_read = checker(), changed.content.encode()
    rows = by.parsed(json.dumps(case.shared["recorded"]))
    if digit < 1e-9:
        assert by.recorded(rows, by.Model("linear", model_read)) > 0
    else:
        with pytest.raises(by.Wrong, match="another probability"):
            by.recorded(rows, by.Model("linear", model_read))


@pytest.mark.parametrize("off", ["-0x1p-3", "0x1p+0"])
def test_a_doubt_counts_and_is_not_negative(off: str, tmp_path: Path) -> None:
    """With a doubt of 1, rows that miss the goal by less count as taken: the claim is no longer proven."""
    case = proven("searched", tmp_path)
    assert not replace(case, content=json.dumps({**json.loads(case.content), "off": [off]})).accepted()


def test_a_missing_number_is_what_is_put_in_its_place(tmp_path: Path) -> None:
    """It is 2 here, so the row costs as much as one that has a 2."""
    X, y = table()
    holes = with_holes(X)
    lost = searched(prepared(LogisticRegression()), logisticregression__C=2.0).fit(holes, y)
    rows = holes[holes["a"].isna() & (lost.predict(holes) == 0)].iloc[:3]
    explainer, only = bf.Explainer(lost, data=holes), [bf.fixed("a")]
    proofs = bf.prove(explainer.explain(rows, constraints=only), lost, tmp_path)
    known = explainer.explain(rows.fillna({"a": 2}), constraints=only)
    assert [one.below for one in proofs] == pytest.approx([one.certificate.cost for one in known], rel=1e-7)


def test_levels_that_all_add_the_same_are_part_of_the_base(tmp_path: Path) -> None:
    """One level is never seen with another weight, and one column of levels has weights of 0."""
    X, y = table()
    X = X.assign(tint=np.where(X.index % 2, "red", "blue"))
    steps = make_column_transformer(
        (StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(sparse_output=False), ["job", "tint"])
    )
    model = searched(make_pipeline(steps, LogisticRegression()), logisticregression__C=2.0).fit(X, y)
    learner = model.best_estimator_[-1]
    learner.coef_[0, -2:] = 0.25
    rows = X[model.predict(X) == 0].iloc[:3]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows), model, tmp_path)
    assert proofs.verified == 3
    assert not read(proofs[0].file).shared["columns"][-1]["features"]
