"""Proofs about columns that belong together: to the checker, the combinations that exist are levels of one column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.errors import UnsupportedProblemError
from tests.proof.cases import read
from tests.proof.second import both_verify, second
from tests.proof.test_means import CONSTRAINTS, admitted
from tests.proof.test_read_files import encoded, least, whole_numbers

__all__ = ["second"]

LEARNERS: dict[str, Any] = {
    "forest": RandomForestClassifier(8, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0),
    "weights": LogisticRegression(),
    "scaled weights": make_pipeline(StandardScaler(), LogisticRegression()),
    "network": MLPClassifier((4,), max_iter=2000, random_state=0),
}
TABLE = pd.DataFrame(
    {"job": ["clerk", "cook", "cook", "judge", "judge"], "late": [2, 0, 3, 1, 5], "years": [0, 4, 6, 6, 2]}
)
"""Which values there are together."""
TOGETHER: dict[str, tuple[bf.AbstractConstraint, ...]] = {
    "two columns": (bf.combinations("job", "late", table=TABLE),),
    "columns in common": (bf.combinations("job", "late", table=TABLE), bf.combinations("late", "years", table=TABLE)),
    "linked": (bf.linked("late", "job", table=TABLE),),
}


def together(every: pd.DataFrame, row: pd.Series, name: str) -> np.ndarray:
    """Which rows have values that there are together, or keep their own."""
    fine = np.ones(len(every), dtype=bool)
    for one in TOGETHER[name]:
        its = list(one.names)
        known = {tuple(values) for values in TABLE[its].to_numpy().tolist()} | {tuple(row[its].tolist())}
        fine &= [tuple(values) in known for values in every[its].to_numpy().tolist()]
    return fine


@pytest.mark.shorter(2)
@pytest.mark.parametrize("constraint", ["none", "a rule", "a sum"])
@pytest.mark.parametrize("name", TOGETHER)
@pytest.mark.parametrize("kind", LEARNERS)
def test_every_row_is_tried(kind: str, name: str, constraint: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(LEARNERS[kind]).fit(X, y)
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    rules = [*TOGETHER[name], *CONSTRAINTS[constraint]]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, constraints=rules), model, tmp_path / "proofs")
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 1, 1), strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            fine = together(every, row, name) & admitted(constraint, every, row)
            return np.asarray((model.predict(every) != was) & fine)

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_they_count_as_one_change(second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(LEARNERS["forest"]).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:3]
    rules = [bf.combinations("job", "late", table=TABLE), bf.at_most_changes(1)]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, constraints=rules), model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row) -> np.ndarray:
            moved = every != row
            fine = together(every, row, "two columns") & (moved["years"] + (moved["job"] | moved["late"]) <= 1)
            return np.asarray((model.predict(every) != 0) & fine)

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_levels_are_called_by_their_values(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(LEARNERS["forest"]).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:1]
    answers = bf.Explainer(model, data=X).explain(rows, constraints=TOGETHER["two columns"])
    (proof,) = bf.prove(answers, model, tmp_path)
    own = f"{rows['late'].iloc[0]}, {rows['job'].iloc[0]}"
    assert f"late and job: is {own}; may become " in proof.words
    assert "0, cook at " in proof.words


@pytest.mark.parametrize("kind", ["forest", "weights"])
def test_beside_a_ball_of_other_columns(kind: str, second: Path, tmp_path: Path) -> None:
    """A year more or less changes nothing of the answer."""
    X, y = whole_numbers()
    model = encoded(LEARNERS[kind]).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:3]
    rules = [*TOGETHER["two columns"], bf.robust({"years": 1.0})]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, constraints=rules), model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row) -> np.ndarray:
            near = [model.predict(every.assign(years=every["years"] + more)) != 0 for more in (-1, 0, 1)]
            return np.asarray(np.all(near, axis=0) & together(every, row, "two columns"))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


def test_a_ball_around_them_is_refused(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(LEARNERS["weights"]).fit(X, y)
    rules = [*TOGETHER["two columns"], bf.robust({"late": 1.0})]
    answers = bf.Explainer(model, data=X).explain(X.iloc[:1], constraints=rules)
    with pytest.raises(
        UnsupportedProblemError, match="columns that are linked are shifted in a ball around the answer"
    ):
        bf.prove(answers, model, tmp_path / "none")
    assert not (tmp_path / "none").exists()
