"""Models of any kind: data frames stay data frames, any object with `predict` is taken, and errors say what to write."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

import butfor as bf
from tests.shorter import diagonal

X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)), columns=["income", "debt"])
X["old"] = np.random.default_rng(1).integers(0, 2, 300).astype(bool)
X["town"] = pd.Categorical.from_codes(np.random.default_rng(2).integers(0, 3, 300), ["a", "b", "c"])
POOR = X[X["income"] < 0].iloc[[0]]
NUMBERS = X[["income", "debt"]]


class Ratio(TransformerMixin, BaseEstimator):
    """A transformer as users write them: by column names, without `feature_names_in_`."""

    def fit(self, table, y=None):
        self.fitted_ = True
        return self

    def transform(self, table):
        return np.column_stack([table["income"] - table["debt"], table["town"] == "a", table["old"]])


class ByNames:
    """An object that reads columns by name, and keeps what it was called with."""

    def __init__(self):
        self.seen = []

    def predict(self, table):
        self.seen.append(table)
        return (table["income"] - table["debt"] > 1).astype(int)


class ByPosition:
    """An object that takes arrays only."""

    classes_ = np.array([0, 1])

    def predict(self, rows):
        return (rows[:, 0] > 0.3).astype(int)


class WithChances(ByPosition):
    def predict_proba(self, rows):
        p = 1 / (1 + np.exp(-3 * (np.asarray(rows)[:, 0] - 0.3)))
        return np.column_stack([1 - p, p])


class LikeSklearn(WithChances):
    """It has what scikit-learn asks of a classifier, but not its tags."""

    _estimator_type = "classifier"

    def get_params(self, deep=True):
        return {}

    def fit(self, rows, y):
        return self


class SecondOnly:
    """Truth values, and the probability of the second class only: as pygam has them."""

    def predict(self, rows):
        return self.predict_proba(rows) > 0.5

    def predict_proba(self, rows):
        return 1 / (1 + np.exp(-3 * (np.asarray(rows)[:, 0] - 0.3)))


class Numbered(WithChances):
    """Labels 0 and 1 without `classes_`."""

    classes_ = property()


class Named:
    """Labels without `classes_` that are no numbers of columns."""

    def predict(self, rows):
        return np.where(np.asarray(rows)[:, 0] > 0.3, "yes", "no")

    def predict_proba(self, rows):
        return WithChances().predict_proba(rows)


class Chance:
    """A regressor in disguise."""

    def predict(self, rows):
        return WithChances().predict_proba(rows)[:, 1]


def with_ints(labels):
    return lambda rows: labels[(np.asarray(rows)[:, 0] > 0.3).astype(int)]


def found(model, data=NUMBERS, row=None, target=1, **options):
    answer = bf.Explainer(model, data=data).explain(POOR[list(data)] if row is None else row, target=target, **options)
    assert answer.certificate.status.found
    return answer


def test_a_model_without_names_gets_the_frame_with_its_types():
    model = ByNames()
    answer = found(model, X)
    assert (answer.before, answer.after) == (0, 1)
    assert (model.predict(answer.point) == 1).all()
    assert all(isinstance(table, pd.DataFrame) for table in model.seen)
    assert all(list(table) == list(X) and (table.dtypes == X.dtypes).all() for table in model.seen)


def test_own_transformers_in_a_pipeline_get_the_frame():
    y = (X["income"] - X["debt"] + (X["town"] == "a") > 0.5).astype(int)
    model = make_pipeline(Ratio(), LogisticRegression()).fit(X, y)
    row = X[model.predict(X) == 0].iloc[[0]]
    answer = found(model, X, row)
    assert model.predict(answer.point)[0] == 1


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries_stay_what_they_are(library):
    given = pytest.importorskip(library)
    table = given.from_pandas(NUMBERS) if library == "polars" else given.Table.from_pandas(NUMBERS)
    seen = set()

    class Model:
        def predict(self, rows):
            seen.add(type(rows))
            return (np.asarray(rows["income"]) > 0.3).astype(int)

    def function(rows):
        seen.add(type(rows))
        return (np.asarray(rows["income"]) > 0.3).astype(int)

    row = table[:1] if library == "polars" else table.slice(0, 1)
    for model in (Model(), function):
        assert bf.Explainer(model, data=table).explain(row).certificate.status.found
    assert seen == {type(table)}


def test_an_arrow_table_becomes_pandas_for_a_model_that_needs_it():
    arrow = pytest.importorskip("pyarrow").Table.from_pandas(NUMBERS)

    class Model:
        def predict(self, rows):
            return (rows.loc[:, "income"] > 0.3).astype(int)

    assert bf.Explainer(Model(), data=arrow).explain(arrow.slice(0, 1)).certificate.status.found


def test_what_was_fitted_on_arrays_gets_arrays_without_a_warning():
    y = (X["income"] > 0.3).astype(int)
    model = LogisticRegression().fit(NUMBERS.to_numpy(), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found(model).certificate.status is bf.Status.PROVEN_OPTIMAL


def test_an_own_step_before_a_model_fitted_on_arrays_brings_no_warning():
    class Same(TransformerMixin, BaseEstimator):
        def fit(self, table, y=None):
            return self

        def transform(self, table):
            return table

        def __sklearn_is_fitted__(self):
            return True

    model = make_pipeline(Same(), LogisticRegression()).fit(NUMBERS.to_numpy(), (X["income"] > 0.3).astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found(model)


def test_an_object_that_takes_arrays_only_gets_arrays():
    found(ByPosition())


def test_the_error_of_a_model_that_takes_no_table_is_told():
    class Broken:
        classes_ = np.array([0, 1])

        def predict(self, table):
            raise RuntimeError("no network")

    with pytest.raises(bf.errors.InputError, match=r"Broken refuses these rows \(RuntimeError: no network\)"):
        bf.Explainer(Broken(), data=NUMBERS).explain(POOR[["income", "debt"]], target=1)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("kind", [WithChances, LikeSklearn, Numbered, SecondOnly])
def test_any_object_with_predict_is_a_black_box(kind):
    explainer = bf.Explainer(kind(), data=NUMBERS)
    row = NUMBERS[NUMBERS["income"] < 0].iloc[[0]]
    answer = explainer.explain(row, target=1)
    assert answer.certificate.status is bf.Status.VALID
    assert np.asarray(kind().predict(answer.point.to_numpy())).ravel()[0] == 1
    assert answer.score.after >= 0.5 > answer.score.before
    surer = explainer.explain(row, target=bf.probability(1, at_least=0.8))
    assert surer.certificate.status is bf.Status.VALID
    assert np.asarray(kind().predict_proba(surer.point)).reshape(1, -1)[0, -1] >= 0.8
    assert explainer.explain(row).after == 1
    assert bf.check(answer, kind()).passed


@pytest.mark.parametrize(
    "attributes",
    [
        {"steps": 5},
        {"steps": ["a", "b"]},
        {"threshold": {"a": 1}},
        {"threshold": 0.9},
        {"estimator_": "x"},
        {"transform": None},
    ],
    ids=str,
)
def test_an_object_may_have_attributes_of_any_meaning(attributes):
    row = NUMBERS[NUMBERS["income"] < 0].iloc[[0]]
    answer = found(type("Odd", (WithChances,), attributes)(), row=row)
    assert answer.score.of == "probability of 1"
    assert answer.score.threshold in (0.5, None)


def test_labels_without_classes_are_labels():
    answer = found(Named(), target="yes")
    assert (answer.before, answer.after) == ("no", "yes")
    with pytest.raises(bf.errors.InputError, match=r"bf\.black_box\(model\.predict_proba, classes=\[\.\.\.\]\)"):
        bf.Explainer(Named(), data=NUMBERS).explain(POOR[["income", "debt"]], target=bf.probability("yes", 0.8))
    with pytest.raises(bf.errors.InputError, match="gives no probabilities"):
        bf.Explainer(ByNames(), data=NUMBERS).explain(POOR[["income", "debt"]], target=bf.probability(1, 0.8))


def test_probabilities_whose_order_is_not_known_are_not_used():
    class Reversed(Numbered):
        def predict(self, rows):
            return 1 - super().predict(np.asarray(rows))

    assert bf.Explainer(Reversed(), data=NUMBERS).reading.source.classes == ()
    assert found(Reversed(), target=0, row=NUMBERS[NUMBERS["income"] < 0].iloc[[0]]).score is None


def test_clusters_can_be_asked_for():
    model = GaussianMixture(2, random_state=0).fit(NUMBERS.to_numpy())
    now = int(model.predict(NUMBERS.iloc[[0]].to_numpy())[0])
    answer = found(model, row=NUMBERS.iloc[[0]], target=1 - now)
    assert model.predict(answer.point.to_numpy())[0] == 1 - now


@pytest.mark.parametrize(
    "labels", [np.array([0.0, 1.0]), np.array([False, True]), np.array(["n", "y"]), np.array([3, 7])]
)
def test_functions_may_return_labels_of_any_type(labels):
    answer = found(with_ints(labels), target=labels[1], row=NUMBERS[NUMBERS["income"] < 0].iloc[[0]])
    assert (answer.before, answer.after) == tuple(labels.tolist())


def test_a_missing_label_is_no_fraction():
    def function(rows):
        income = np.asarray(rows)[:, 0]
        return np.where(income < -1, np.nan, (income > 0.3).astype(float))

    assert found(function, row=NUMBERS[NUMBERS["income"].between(-0.5, 0)].iloc[[0]]).after == 1


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    ("target", "model"),
    diagonal(
        [1, "other", [0, 1], {1: 0.5}, bf.probability(1, at_least=0.5)],
        [Chance(), Chance().predict, bf.black_box(Chance().predict)],
    ),
)
def test_a_class_of_a_model_that_predicts_a_probability_gets_an_error_with_what_to_write(target, model):
    row = NUMBERS[NUMBERS["income"] < 0].iloc[[0]]
    with pytest.raises(bf.errors.InputError, match=r"predicts numbers between 0 and 1\. It has no classes\.") as raised:
        bf.Explainer(model, data=NUMBERS).explain(row, target=target)
    said = str(raised.value)
    first, second = re.findall(r"bf\.value\(.*?\)|bf\.black_box\(.*\)", said)
    by_value = found(model, row=row, target=eval(first, {"bf": bf}))
    by_class = found(eval(second, {"bf": bf, "model": model}), row=row, target=1)
    assert by_value.after >= 0.5
    assert by_class.after == 1


def test_the_remedy_for_a_model_of_arrays_can_be_copied():
    class OnArrays:
        def predict(self, rows):
            assert isinstance(rows, np.ndarray)
            return 1 / (1 + np.exp(-rows[:, 0]))

    with pytest.raises(bf.errors.InputError) as raised:
        bf.Explainer(OnArrays(), data=NUMBERS).explain(POOR[["income", "debt"]], target=1)
    (written,) = re.findall(r"bf\.black_box\(.*\)", str(raised.value))
    found(eval(written, {"bf": bf, "model": OnArrays()}))


def test_a_scorecard_is_asked_by_its_value():
    class Scorecard:
        def predict(self, table):
            return 600 + 40.5 * table["income"] - 20.25 * table["debt"]

    answer = found(Scorecard(), target=bf.value(at_least=640))
    assert answer.after >= 640
    with pytest.raises(bf.errors.InputError, match=r"for a regressor. It has no classes. Use bf\.value\("):
        bf.Explainer(Scorecard(), data=NUMBERS).explain(POOR[["income", "debt"]], target=1)


def test_a_regressor_of_sklearn_has_no_classes_whatever_it_predicts():
    model = LinearRegression().fit(NUMBERS, X["income"] * 100)
    with pytest.raises(bf.errors.InputError, match=r"for a regressor\. It has no classes\. Use bf\.value\("):
        bf.Explainer(model, data=NUMBERS).explain(POOR[["income", "debt"]], target=1)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("interface", ["formula", "array", "generalized"])
def test_statsmodels(interface):
    pytest.importorskip("statsmodels")
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    y = (X["income"] + np.random.default_rng(1).normal(size=300) > 0).astype(int)
    data = NUMBERS if interface == "formula" else sm.add_constant(NUMBERS)
    if interface == "formula":
        model = smf.logit("y ~ income + np.log1p(abs(debt))", data=NUMBERS.assign(y=y)).fit(disp=0)
    elif interface == "array":
        model = sm.Logit(y, data).fit(disp=0)
    else:
        model = sm.GLM(y, data, family=sm.families.Binomial()).fit()
    row = data[(model.predict(data) < 0.4).to_numpy()].iloc[[0]]
    answer = found(model, data, row, bf.value(at_least=0.5))
    assert float(model.predict(answer.point).iloc[0]) >= 0.5
    assert bf.check(answer, model).passed
    with pytest.raises(bf.errors.InputError) as raised:
        bf.Explainer(model, data=data).explain(row, target=1)
    (written,) = re.findall(r"bf\.black_box\(.*\)", str(raised.value))
    by_class = found(eval(written, {"bf": bf, "model": model}), data, row)
    assert float(model.predict(by_class.point).iloc[0]) >= 0.5
