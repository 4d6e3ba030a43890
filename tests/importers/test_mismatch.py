"""What is said if a model that was read predicts something else than the estimator, and what can be done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.importers.libraries.sklearn_hist_boosting import read_hist_boosting
from butfor.model.black_box import BlackBox


class Odd(DecisionTreeClassifier):
    """A tree that predicts the other class where `odd` says so. It is read like any tree."""

    def odd(self, X: pd.DataFrame) -> Any:
        return np.zeros(len(X), dtype=bool)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.where(np.asarray(self.odd(X), dtype=bool), 1 - super().predict(X), super().predict(X))

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        given = super().predict_proba(X)
        return np.where(np.asarray(self.odd(X), dtype=bool)[:, None], given[:, ::-1], given)


class Shifted(LogisticRegression):
    """A logistic regression that is read wrongly."""


def data() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    X["whole"] = rng.integers(0, 4, 200)
    X.loc[rng.random(200) < 0.1, "c"] = np.nan
    return X, (X["a"] + X["b"] > 0).astype(int).to_numpy()


def fitted(odd: Any) -> tuple[Any, pd.DataFrame]:
    bf.teach.register_importer(Odd, _read)
    X, y = data()
    model = type("Odder", (Odd,), {"odd": lambda self, X: odd(X)})(max_depth=3, random_state=0).fit(X, y)
    return model, X


def _read(estimator: Any, columns: Any) -> Any:
    from butfor.importers.libraries.sklearn_tree import read_tree

    return read_tree(estimator, columns)


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (lambda X: X["c"].isna(), "Column 'c' makes the difference: row"),
        (lambda X: X["a"] > 1.5, "Column 'a' makes the difference: row"),
        (lambda X: X["whole"] == 2, "Column 'whole' makes the difference: row"),
    ],
    ids=["missing", "extreme", "value"],
)
def test_the_column_that_makes_the_difference_is_named(odd, words) -> None:
    model, X = fitted(odd)
    with pytest.raises(bf.errors.FidelityError) as caught:
        bf.Explainer(model, X)
    message = str(caught.value)
    assert words in message
    row = int(message.split(words)[1].split()[0])
    assert odd(X).iloc[row]
    assert "please report" not in message


def test_no_single_column_is_told_too() -> None:
    model, X = fitted(lambda X: np.ones(len(X), dtype=bool))
    with pytest.raises(bf.errors.FidelityError, match="They differ on all of these rows"):
        bf.Explainer(model, X)


def test_the_line_to_copy_works() -> None:
    model, X = fitted(lambda X: X["a"] > 1.5)
    with pytest.raises(bf.errors.FidelityError) as caught:
        bf.Explainer(model, X)
    told = str(caught.value)
    for line in (
        'bf.Explainer(model, data, on_mismatch="search")',
        "bf.Explainer(bf.black_box(model.predict_proba, classes=list(model.classes_)), data)",
    ):
        assert line in told
    made = eval(line, {"bf": bf, "model": model, "data": X})  # the last one
    answer = made.explain(X.iloc[[0]], target="other", time_limit=1.0)
    assert model.predict(answer.point)[0] != model.predict(X.iloc[[0]])[0]


def test_searching_says_why_in_a_warning_and_in_the_certificate() -> None:
    model, X = fitted(lambda X: X["a"] > 1.5)
    with pytest.warns(UserWarning, match=r"disagrees with the estimator on .* Column 'a'.*nothing is proven"):
        explainer = bf.Explainer(model, X, on_mismatch="search")
    assert isinstance(explainer.reading.model, BlackBox)
    answer = explainer.explain(X.iloc[[0]], target="other", time_limit=2.0)
    assert answer.certificate.status is bf.Status.VALID
    assert "disagrees with the estimator" in answer.certificate.solver
    assert model.predict(answer.point)[0] != model.predict(X.iloc[[0]])[0]


def test_a_model_that_is_read_right_is_proven_whatever_was_asked() -> None:
    X, _ = data()
    X = X.fillna(0.0)
    model = LinearRegression().fit(X, X["a"] + X["b"])
    explainer = bf.Explainer(model, X, on_mismatch="search")
    assert explainer.explain(X.iloc[[0]], target=bf.value(at_least=5.0)).certificate.bound > 0


def test_another_word_is_refused() -> None:
    X, y = data()
    with pytest.raises(bf.errors.InputError, match=r"on_mismatch='ignore' was given.*'raise' or 'search'"):
        bf.Explainer(DecisionTreeClassifier().fit(X, y), X, on_mismatch="ignore")


def test_a_wrong_reader_is_not_blamed_on_a_column() -> None:
    """Near the boundary, another value in any column helps by chance. But it does no harm the other way."""

    def wrong(estimator: Any, columns: Any) -> Any:
        return bf.teach.linear_over(columns, estimator.coef_, estimator.intercept_ + 0.3), bf.teach.Sign((0, 1))

    X, y = data()
    X = X.fillna(0.0)
    model = Shifted().fit(X, y)
    bf.teach.register_importer(Shifted, wrong)
    with pytest.raises(bf.errors.FidelityError, match="No single column makes the difference"):
        bf.Explainer(model, X)


class OddBoosting(HistGradientBoostingRegressor):
    """Boosting that predicts one more for a category, though it is read like any boosting."""

    bad: str | None = "another"

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return super().predict(X) + (X["c"].isna() if self.bad is None else X["c"] == self.bad)


@pytest.mark.parametrize("bad", ["w", None], ids=["a level", "missing"])
def test_levels_that_no_row_holds_are_compared_too(bad) -> None:
    """An answer may take them."""
    X, y = data()
    X = X[["a", "b"]].assign(c=pd.Categorical(np.where(X["b"] > 0, "u", "v"), ["u", "v", "w"]))
    bf.teach.register_importer(OddBoosting, lambda model, columns: read_hist_boosting(model, columns))
    model = OddBoosting(max_iter=3, categorical_features="from_dtype").fit(X, y)
    assert bf.Explainer(model, X).space["c"].levels == ("u", "v", "w")
    model.bad = bad
    with pytest.raises(bf.errors.FidelityError, match=rf"other levels of 'c' than the data holds \(with {bad!r}: "):
        bf.Explainer(model, X)
