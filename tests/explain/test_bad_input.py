"""What goes wrong at a user's desk: each case is a clear error (given, needed, what to do) or a stated outcome."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.decomposition import KernelPCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.errors import (
    InputError,
    InputTypeError,
    NotFittedError,
    UnknownColumnError,
    UnsupportedModelError,
    UnsupportedProblemError,
)

Status = bf.Status


def applicants(rows: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": rng.normal(30_000, 8_000, rows).round(2),
            "job": rng.choice(["clerk", "nurse", "pilot"], rows),
            "owns": rng.random(rows) < 0.5,
        }
    )


def columns(**options: Any) -> Any:
    return make_column_transformer(
        (StandardScaler(), ["age", "income"]), (OneHotEncoder(**options), ["job"]), remainder="passthrough"
    )


@pytest.fixture(scope="module")
def desk() -> SimpleNamespace:
    X = applicants()
    y = np.where(X["income"] + 200 * X["age"] + 5000 * X["owns"] > 42_000, "yes", "no")
    pipeline = make_pipeline(columns(), LogisticRegression()).fit(X, y)
    tree = make_pipeline(columns(), DecisionTreeClassifier(max_depth=4, random_state=0)).fit(X, y)
    R, r = load_diabetes(return_X_y=True)
    array = LogisticRegression().fit(X[["age", "income"]].to_numpy(), y)
    ask = bf.Explainer(pipeline, X)
    return SimpleNamespace(
        X=X, y=y, pipeline=pipeline, ask=ask, row=X[pipeline.predict(X) == "no"].iloc[[0]],
        tree=bf.Explainer(tree, X), svc=bf.Explainer(make_pipeline(columns(), LinearSVC()).fit(X, y), X),
        regressor=bf.Explainer(LinearRegression().fit(R, r), R), r=R[:1],
        forest=bf.Explainer(DecisionTreeRegressor(max_depth=3).fit(R, r), R),
        array=bf.Explainer(array, X[["age", "income"]].to_numpy()), a=X[["age", "income"]].to_numpy()[:1],
    )  # fmt: skip


def changed(row: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The row with some values replaced, whatever type they are."""
    return row.astype(dict.fromkeys(values, object)).assign(**values)


def explained(**given: Any) -> Callable[[SimpleNamespace], Any]:
    """Explain the fixture's row with these arguments."""
    return lambda desk: desk.ask.explain(desk.row, **given)


def by_tree(**given: Any) -> Callable[[SimpleNamespace], Any]:
    """The same, of the fixture's tree."""
    return lambda desk: desk.tree.explain(desk.row, **given)


def constrained(*constraints: Any) -> Callable[[SimpleNamespace], Any]:
    return explained(constraints=list(constraints))


ERRORS: list[tuple[str, Callable[[SimpleNamespace], Any], type, type, str]] = [
    # the model
    ("a class", lambda d: bf.Explainer(LogisticRegression, d.X), InputTypeError, TypeError, "class LogisticRegression"),
    ("not fitted", lambda d: bf.Explainer(LogisticRegression(), d.X), NotFittedError, ValueError, "not fitted.*Call fit"),
    ("pipeline not fitted", lambda d: bf.Explainer(make_pipeline(columns(), LogisticRegression()), d.X), NotFittedError,
     AttributeError, "not fitted.*Call fit"),
    ("no model", lambda d: bf.Explainer(None, d.X), InputTypeError, TypeError, "NoneType was given as the model"),
    ("a word", lambda d: bf.Explainer("model.pkl", d.X), InputTypeError, TypeError, r"model\.pkl.*may run code.*pickle\.load"),
    ("several outputs", lambda d: bf.Explainer(
        DecisionTreeClassifier().fit(d.X[["age"]], np.column_stack([d.y, d.y])), d.X[["age"]]).explain(d.X[["age"]].iloc[:1]),
     UnsupportedModelError, TypeError, "2 outputs"),
    ("an unknown step", lambda d: bf.Explainer(
        make_pipeline(KernelPCA(2), LogisticRegression()).fit(d.X[["age", "income"]], d.y), d.X[["age", "income"]]
    ).explain(d.row[["age", "income"]], solver="milp"), UnsupportedProblemError, ValueError, "black box"),
    ("answers one row for many", lambda d: bf.Explainer(lambda rows: np.zeros(3), d.a).explain(
        d.a, constraints=[bf.candidates(d.a)]), InputError, ValueError, "returned 3 rows for 1"),
    # the data
    ("no rows", lambda d: bf.Explainer(d.pipeline, d.X.iloc[:0]), InputError, ValueError, "no rows.*Training rows"),
    ("a list of numbers", lambda d: bf.Explainer(d.array.model, [1.0, 2.0]), InputError, ValueError, "two dimensions"),
    ("a series", lambda d: bf.Explainer(d.pipeline, d.X["age"]), InputTypeError, TypeError, "single series.*double brackets"),
    ("a polars series", lambda d: bf.Explainer(d.pipeline, pl.Series([1])), InputTypeError, TypeError, "single series"),
    ("a dict", lambda d: bf.Explainer(d.pipeline, {"age": [1]}), InputTypeError, TypeError, "dict was given.*pandas"),
    ("nothing", lambda d: bf.Explainer(d.pipeline, None), InputTypeError, TypeError, "NoneType was given"),
    ("a sparse matrix", lambda d: bf.Explainer(d.array.model, sparse.eye(3).tocsr()), InputTypeError, TypeError, "toarray"),
    ("a lazy frame", lambda d: bf.Explainer(d.pipeline, pl.from_pandas(d.X).lazy()), InputTypeError, TypeError, "LazyFrame"),
    ("three dimensions", lambda d: bf.Explainer(d.array.model, np.zeros((2, 2, 2))), InputError, ValueError, "two dimensions"),
    ("a column is missing", lambda d: bf.Explainer(d.pipeline, d.X.drop(columns="job")), InputError, ValueError,
     "lacks the columns.*job"),
    ("array for a frame", lambda d: bf.Explainer(d.pipeline, d.X.to_numpy()), InputTypeError, TypeError, "Give a data frame"),
    ("too few columns", lambda d: bf.Explainer(d.array.model, d.a[:, :1]), InputError, ValueError, "1 columns.*fitted on 2"),
    ("an empty column", lambda d: bf.Explainer(d.pipeline, d.X.assign(income=np.nan)), InputError, ValueError,
     "'income' holds no value"),
    ("an infinite value", lambda d: bf.Explainer(d.pipeline, d.X.assign(income=np.inf)), InputError, ValueError, "infinite"),
    ("lists", lambda d: bf.Explainer(d.pipeline, d.X.assign(job=[["clerk"]] * len(d.X))), InputTypeError, TypeError,
        "column 'job' holds values of type list"),
    ("dates", lambda d: bf.Explainer(d.pipeline, d.X.assign(age=pd.Timestamp("2020-01-01"))), InputTypeError, TypeError,
     "days since"),
    ("a column twice", lambda d: bf.Explainer(d.pipeline, pd.concat([d.X, d.X[["age"]]], axis=1)), InputError, ValueError,
     "more than once"),
    ("text where numbers are filled in", lambda d: bf.Explainer(
        make_pipeline(SimpleImputer(), LogisticRegression()).fit(d.X[["age", "income"]], d.y),
        d.X[["age", "income"]].astype(object).replace({d.X["age"].iloc[0]: "old"})),
     InputError, ValueError, "holds 'old' where the model needs numbers.*OneHotEncoder"),
    ("data of another model", lambda d: bf.Explainer(d.pipeline, d.X.assign(job="judge")), InputError, ValueError, "judge"),
    # what is said of the space
    ("an unknown column", lambda d: bf.Explainer(d.pipeline, d.X, space={"agee": bf.Integer()}), UnknownColumnError, KeyError,
     "'agee'"),
    ("no declaration", lambda d: bf.Explainer(d.pipeline, d.X, space={"age": "integer"}), InputTypeError, TypeError,
     "bf.Continuous"),
    ("ends in the wrong order", lambda d: bf.Explainer(d.pipeline, d.X, space={"age": bf.Integer(60, 20)}), InputError,
     ValueError, "from 60 to 20.*low must not exceed high"),
    ("ends that are no numbers", lambda d: bf.Explainer(d.pipeline, d.X, space={"age": bf.Integer("a", "b")}), InputError,
     ValueError, "'a'.*finite"),
    ("an end that is NaN", lambda d: bf.Explainer(d.pipeline, d.X, space={"age": bf.Continuous(np.nan, 3)}), InputError,
     ValueError, "finite"),
    ("text as a number", lambda d: bf.Explainer(d.pipeline, d.X, space={"job": bf.Continuous()}), InputError, ValueError,
     "declared continuous.*bf.Categorical"),
    ("levels without one of the data", lambda d: bf.Explainer(d.pipeline, d.X, space={"job": bf.Categorical(["clerk"])}),
     InputError, ValueError, "not seen before"),
    ("a level twice", lambda d: bf.Categorical(["a", "a"]), InputError, ValueError, "each once"),
    ("no level", lambda d: bf.Ordinal([]), InputError, ValueError, "at least one"),
    ("a word as levels", lambda d: bf.Categorical("abc"), InputError, ValueError, "list"),
    ("a negative step", lambda d: bf.Step(-1), InputError, ValueError, "positive"),
    ("a step of no number", lambda d: bf.Step("x"), InputError, ValueError, "finite number"),
    ("a level the encoder does not know", lambda d: bf.Explainer(
        d.pipeline, d.X, space={"job": bf.Categorical(["clerk", "nurse", "pilot", "judge"])}).explain(d.row),
     InputError, ValueError, "OneHotEncoder does not know 'judge'"),
    # the rows to explain
    ("a row with a column twice", lambda d: d.ask.explain(pd.concat([d.row, d.row[["age"]]], axis=1)), InputError, ValueError,
     r"\['age'\] occur more than once.*Rename"),
    ("no row", lambda d: d.ask.explain(d.X.iloc[:0]), InputError, ValueError, "no row"),
    ("a column as a row", lambda d: d.ask.explain(d.X["age"]), InputTypeError, TypeError, r"Write X.iloc\[0\]"),
    ("one dimension", lambda d: d.array.explain(d.a[0][:1]), InputError, ValueError, "reshape"),
    ("a number", lambda d: d.array.explain(3), InputTypeError, TypeError, "int was given"),
    ("rows lack a column", lambda d: d.ask.explain(d.row.drop(columns="age")), UnknownColumnError, KeyError, "missing.*age"),
    ("an array of other width", lambda d: d.array.explain(d.a[:, :1]), InputError, ValueError, "1 columns.*reads 2"),
    ("a missing number", lambda d: d.ask.explain(changed(d.row, age=np.nan)), InputError, ValueError,
     "'age' is missing in row 0.*SimpleImputer"),
    ("a missing category", lambda d: d.ask.explain(changed(d.row, job=None)), InputError, ValueError, "'job' is missing"),
    ("an unseen category", lambda d: d.ask.explain(changed(d.row, job="judge")), InputError, ValueError,
     "'judge'.*clerk, nurse, pilot"),
    ("text for a number", lambda d: d.ask.explain(changed(d.row, age="forty")), InputError, ValueError, "'forty'.*Convert"),
    ("digits as text", lambda d: d.ask.explain(changed(d.row, age="40")), InputError, ValueError, "'40'.*Convert"),
    ("a number for a category", lambda d: d.ask.explain(changed(d.row, job=3)), InputError, ValueError, "holds 3"),
    ("an infinite number", lambda d: d.ask.explain(changed(d.row, income=np.inf)), InputError, ValueError, "infinite"),
    ("a list in a cell", lambda d: d.ask.explain(changed(d.row, job=[["clerk"]])), InputError, ValueError, "clerk"),
    ("an array for a frame's model", lambda d: d.ask.explain(d.row.to_numpy()), InputError, ValueError,
     "array was given, but the data has named columns.*age"),
    # the target
    ("no such class", explained(target="maybe"), InputError, ValueError, "'maybe'.*'no', 'yes'"),
    ("no class", explained(target=[]), InputError, ValueError, "names no class"),
    ("probability none", lambda d: bf.probability("yes", None), InputTypeError, TypeError, "takes one of"),
    ("value of words", lambda d: bf.value("much"), InputTypeError, TypeError, "Both ends must be numbers"),
    ("change of a list", lambda d: bf.relative_change([1]), InputTypeError, TypeError, "0.2 is 20 % up"),
    ("class costs as a list", lambda d: bf.class_costs([1]), InputTypeError, TypeError, "takes a dict"),
    ("bf.classes()", lambda d: bf.classes(), InputError, ValueError, "at least one"),
    ("one of the classes does not exist", explained(target=["yes", "maybe"]), InputError, ValueError, "'maybe'"),
    ("an unhashable target", explained(target=object()), InputError, ValueError, "not a class of the model"),
    ("a negative class cost", explained(target={"yes": -1.0}), InputError, ValueError, "at least 0"),
    ("an endless class cost", explained(target={"yes": np.inf}), InputError, ValueError, "finite"),
    ("a class cost in words", explained(target={"yes": "cheap"}), bf.ButforError, Exception, "cheap"),
    ("probability above one", explained(target=bf.probability("yes", 1.5)), InputError, ValueError, "from 0 to 1"),
    ("probability of zero", lambda d: bf.probability("yes", 0.0), InputError, ValueError, "above 0"),
    ("probability of no class", explained(target=bf.probability("maybe", 0.7)), InputError, ValueError, "'maybe'"),
    ("probability of a model without", lambda d: d.svc.explain(d.row, target=bf.probability("yes", 0.7)), InputError,
     ValueError, "no probabilities"),
    ("a value of a classifier", explained(target=bf.value(at_least=3)), InputError, ValueError, "classifier"),
    ("a class of a regressor", lambda d: d.regressor.explain(d.r, target="yes"), InputError, ValueError, "regressor"),
    ("other of a regressor", lambda d: d.regressor.explain(d.r), InputError, ValueError, "regressor.*bf.value"),
    ("no end", lambda d: bf.value(), InputTypeError, TypeError, "at_least"),
    ("ends in disorder", lambda d: d.regressor.explain(d.r, target=bf.value(9, 3)), InputError, ValueError, "must not exceed"),
    ("a change of nothing", lambda d: d.regressor.explain(d.r, target=bf.relative_change(0.0)), InputError, ValueError,
     "share"),
    # the cost
    ("a cost in words", explained(cost="cheap"), InputError, ValueError, "cost='cheap'.*L1, L2.*L1\\+0.5\\*L0"),
    ("a cost not made", explained(cost=bf.L1), InputTypeError, TypeError, r"Call it: bf.L1\(\)"),
    ("a list of costs", explained(cost=[bf.L1()]), InputTypeError, TypeError, r"bf.L1\(\)"),
    ("a number as cost", explained(cost=3), InputTypeError, TypeError, "cost=3.*'L1\\+0.5\\*L0'"),
    ("a cost with an unknown part", explained(cost="L1+2*L7"), InputError, ValueError, "The costs are L1"),
    ("a weight in words times a cost", lambda d: "x" * bf.L1(), InputTypeError, TypeError, "weight 'x'"),
    ("a negative weight", explained(cost=bf.L1({"age": -1.0})), InputError, ValueError, "weight of 'age'.*not negative"),
    ("a NaN weight", explained(cost=bf.L2({"age": np.nan})), InputError, ValueError, "weight of 'age'"),
    ("a weight in words", explained(cost=bf.L1({"age": "high"})), bf.ButforError, Exception, "weight of 'age'"),
    ("a weight of no column", explained(cost=bf.L1({"agee": 1.0})), UnknownColumnError, KeyError, "'agee'.*age"),
    ("a negative multiple", lambda d: -2 * bf.L1(), InputError, ValueError, "not negative"),
    ("an unknown scale", explained(cost=bf.L1(scale="iqr")), InputError, ValueError, "'range', 'mad'"),
    ("a scale of zero", explained(cost=bf.L1(scale={"age": 0.0})), InputError, ValueError, "positive"),
    ("weights that are no dict", explained(cost=bf.L1(["age"])), InputTypeError, TypeError, "weights=.*{column: weight}"),
    ("weights of L0 in words", explained(cost=bf.L0("age")), InputTypeError, TypeError, "weights='age'"),
    ("a number added to a cost", lambda d: bf.L1() + 3, InputTypeError, TypeError, "3 was added.*0.5"),
    ("a scale in words", explained(cost=bf.L1(scale={"age": "x"})), InputTypeError, TypeError, "scale of 'age' is 'x'"),
    ("a scale of no column", explained(cost=bf.L1(scale={"agee": 2.0})), UnknownColumnError, KeyError, "'agee'.*age"),
    ("a table of no columns", explained(cost=bf.Table(3)), InputTypeError, TypeError, r"bf.Table\(3\).*{column: prices}"),
    ("prices that are no table", explained(cost=bf.Table({"job": 3})), InputTypeError, TypeError, "'job' are 3.*callable"),
    ("a price in words", explained(cost=bf.Table({"job": {"nurse": "x"}})), InputTypeError, TypeError, "is 'x'"),
    ("a callable that says words", explained(cost=bf.Table({"job": lambda b, a: "x"})), InputTypeError, TypeError, "is 'x'"),
    ("Q of words", explained(cost=bf.Quadratic([["x"]], ("age",))), InputTypeError, TypeError, "hold numbers"),
    ("Q of a number", explained(cost=bf.Quadratic(3, ("age",))), InputError, ValueError, "square"),
    ("Q over one word", explained(cost=bf.Quadratic(np.eye(1), "age")), InputTypeError, TypeError, "columns='age'"),
    ("Q over a column twice", explained(cost=bf.Quadratic(np.eye(2), ("age", "age"))), InputTypeError, TypeError, "each once"),
    ("a negative price", explained(cost=bf.Table({"job": {"nurse": -1.0}})), InputError, ValueError, "at least 0"),
    ("a price of no level", explained(cost=bf.Table({"job": {"judge": 1.0}})), InputError, ValueError, "'judge'"),
    ("a table for a number", explained(cost=bf.Table({"age": {30: 1.0}})), InputTypeError, TypeError, "callable"),
    ("a price that falls", by_tree(cost=bf.Table({"age": lambda b, a: 99 - np.abs(a - b)})), InputError, ValueError, "falls"),
    ("a negative callable", by_tree(cost=bf.Table({"age": lambda b, a: -np.abs(a - b)})), InputError, ValueError, "negative"),
    ("a callable of wrong shape", by_tree(cost=bf.Table({"age": lambda b, a: np.ones(7)})), InputError, ValueError,
     "one price"),
    ("Q of wrong size", explained(cost=bf.Quadratic(np.eye(2))), InputError, ValueError, "square"),
    ("Q that rewards", explained(cost=bf.Quadratic(-np.eye(1), ("age",))), InputError, ValueError, "semidefinite"),
    ("Q over text", explained(cost=bf.Quadratic(np.eye(1), ("job",))), InputError, ValueError, "job"),
    # the constraints
    ("a word for a constraint", explained(constraints=["fixed"]), InputError, ValueError, r"bf.fixed\(\) says nothing"),
    ("words for constraints", explained(constraints="be nice"), InputError, ValueError,
     "'be nice' cannot be read.*'income <= 90000'"),
    ("a text about no column", explained(constraints="agee <= 40"), UnknownColumnError, KeyError, "'agee'.*age"),
    ("a number for a constraint", explained(constraints=[3]), InputTypeError, TypeError, "contains 3.*bf.fixed"),
    ("a dict of constraints", explained(constraints={"age": 3}), InputTypeError, TypeError, "must be a list"),
    ("a constraint not made", explained(constraints=[bf.fixed]), InputTypeError, TypeError, r"Call it: bf.fixed"),
    ("text that excludes its end", explained(constraints=["age < 40"]), InputError, ValueError, "write <= for <"),
    ("not a list", explained(constraints=3), bf.ButforError, Exception, "constraint"),
    ("fixed an unknown column", constrained(bf.fixed("agee")), UnknownColumnError, KeyError,
     r"^fixed\('agee'\) was given, but there is no column 'agee'.*Did you mean .age"),
    ("fixed nothing", lambda d: bf.fixed(), InputError, ValueError, "Name at least one"),
    ("up nothing", lambda d: bf.only_up(), InputError, ValueError, r"bf.only_up\(\) says nothing"),
    ("fixed an empty list", lambda d: bf.fixed([]), InputError, ValueError, r"bf.fixed\(\) says nothing"),
    ("fixed no name", lambda d: bf.fixed(["age", None]), InputTypeError, TypeError, r"was given None\..*as text"),
    ("down a dict", lambda d: bf.only_down({"age": 1}), InputTypeError, TypeError, "was given {'age': 1}.*as text"),
    ("fixed none", lambda d: bf.fixed(None), InputTypeError, TypeError, "was given None"),
    ("between and NaN", constrained(bf.between("age", np.nan, 3)), InputError, ValueError, "must not be NaN"),
    ("at most a text", constrained(bf.at_most_changes("2")), InputTypeError, TypeError, r"at_most_changes\('2'\)"),
    ("between no ends", lambda d: bf.between("age"), InputError, ValueError, "says nothing.*low=, high= or both"),
    ("between levels in disorder", constrained(bf.between("owns", True, False)), InputError, ValueError,
     "must not exceed"),
    ("allowed a word", lambda d: bf.allowed("job", "clerk"), InputTypeError, TypeError, r"Write \['clerk'\]"),
    ("moves of words", lambda d: bf.moves("job", {"clerk": "nurse"}), InputTypeError, TypeError, r"'clerk': \['nurse'\]"),
    ("moves of no dict", lambda d: bf.moves("job", ["nurse"]), InputTypeError, TypeError, "must be a dict"),
    ("at most NaN", constrained(bf.at_most_changes(np.nan)), InputError, ValueError, "whole number"),
    ("at most without end", constrained(bf.at_most_changes(np.inf)), InputError, ValueError, "whole number"),
    ("linear with weights in words", lambda d: bf.linear({"age": "x"}, "<=", 1), InputTypeError, TypeError,
     "weight 'x' for 'age'"),
    ("linear with a bound in words", lambda d: bf.linear({"age": 1}, "<=", "x"), InputTypeError, TypeError, "bound 'x'"),
    ("linear of a list", lambda d: bf.linear(["age"], "<=", 1), InputTypeError, TypeError, "must be a dict"),
    ("linear with weights of zero", constrained(bf.linear({"age": 0}, "<=", 1)), InputError, ValueError, "says nothing"),
    ("a margin in words", lambda d: bf.margin("wide"), InputTypeError, TypeError, "'wide'"),
    ("rises by a word", constrained(bf.implies(bf.rises("age", by="x"), bf.rises("income", by=1))), InputTypeError,
     TypeError, "by must be"),
    ("up without order", constrained(bf.only_up("job")), InputError, ValueError, "no order.*bf.Ordinal"),
    ("between words", constrained(bf.between("age", "a", "b")), InputTypeError, TypeError, "two numbers"),
    ("between in disorder", constrained(bf.between("age", 50, 20)), InputError, ValueError, "must not exceed"),
    ("between of text", constrained(bf.between("job", "a", "b")), InputError, ValueError, "bf.allowed"),
    ("within a negative share", constrained(bf.within("age", -0.1)), InputError, ValueError, "not negative"),
    ("within of text", constrained(bf.within("job", 0.1)), InputError, ValueError, "not a number"),
    ("within a word", constrained(bf.within("age", "ten")), bf.ButforError, Exception, "share"),
    ("a step of zero", constrained(bf.step("age", 0)), InputError, ValueError, "positive"),
    ("a step in words", constrained(bf.step("age", "one")), bf.ButforError, Exception, "positive number"),
    ("allowed of a number", constrained(bf.allowed("age", [30])), InputError, ValueError, "bf.between"),
    ("allowed nothing", lambda d: bf.allowed("job", []), InputError, ValueError, "At least one"),
    ("allowed unseen", constrained(bf.allowed("job", ["judge"])), InputError, ValueError, "'judge'"),
    ("moves of unseen", constrained(bf.moves("job", {"judge": ["clerk"]})), InputError, ValueError, "'judge'"),
    ("moves of a number", constrained(bf.moves("age", {30: [40]})), InputError, ValueError, "is a number"),
    ("at most none", constrained(bf.at_most_changes(0)), InputError, ValueError, "at least 1"),
    ("at most half", constrained(bf.at_most_changes(1.5)), InputError, ValueError, "whole number"),
    ("at most a word", constrained(bf.at_most_changes("two")), bf.ButforError, Exception, "whole number"),
    ("linear over text", constrained(bf.linear({"job": 1.0}, "<=", 1)), InputError, ValueError, "not a number"),
    ("linear with a strange sense", constrained(bf.linear({"age": 1.0}, "<", 1)), InputError, ValueError, "'<='"),
    ("linear over nothing", lambda d: bf.linear({}, "<=", 1), InputError, ValueError, "at least one"),
    ("linear without end", constrained(bf.linear({"age": 1.0}, "<=", np.inf)), InputError, ValueError, "finite"),
    ("linear with a weight beyond sums", constrained(bf.linear({"age": 1e-320}, "<=", 1)), InputError, ValueError,
     "lie between"),
    ("linear with a bound beyond sums", constrained(bf.linear({"age": 1.0}, "<=", 1e308)), InputError, ValueError,
     "lie between"),
    ("implies words", constrained(bf.implies("age", "income")), InputTypeError, TypeError, "bf.rises"),
    ("implies a fall without amount", constrained(bf.implies(bf.rises("age"), bf.rises("income"))), InputError,
     ValueError, "by="),
    ("becomes a number", constrained(bf.implies(bf.becomes("age", 3), bf.rises("owns"))), InputError, ValueError,
     "is a number"),
    ("a negative margin", constrained(bf.margin(-1)), InputError, ValueError, "not negative"),
    ("may be missing where the model takes none", constrained(bf.may_be_missing("age")), InputError, ValueError,
     "takes no missing"),
    ("candidates without rows", lambda d: d.ask.explain(d.row, constraints=[bf.candidates(d.X.iloc[:0])]), InputError,
     ValueError, "no rows"),
    ("candidates of another table", lambda d: d.ask.explain(d.row, constraints=[bf.candidates(d.X[["age"]])]),
     UnknownColumnError, KeyError, "missing"),
    ("candidates of nothing", constrained(bf.candidates(None)), InputTypeError, TypeError, "NoneType"),
    # the rest
    ("k of zero", explained(k=0), InputError, ValueError, "at least 1"),
    ("k of a half", explained(k=1.5), InputError, ValueError, "whole number"),
    ("k of True", explained(k=True), InputError, ValueError, "whole number"),
    ("an unknown solver", explained(solver="gurobi"), InputError, ValueError, "'gurobi'.*'milp'"),
    ("a solver for other models", explained(solver="tree_exact"), UnsupportedProblemError, ValueError, "does not take"),
    ("a solver of no name", explained(solver=None), InputError, ValueError, "solver=None"),
    ("no time", explained(time_limit=0), InputError, ValueError, "positive"),
    ("negative time", explained(time_limit=-1), InputError, ValueError, "positive"),
    ("time in words", explained(time_limit="1 min"), bf.ButforError, Exception, "positive"),
    ("time that is NaN", explained(time_limit=np.nan), InputError, ValueError, "positive"),
    ("a seed in words", explained(seed="lucky"), bf.ButforError, Exception, "seed"),
    ("a seed of none", explained(seed=None), bf.ButforError, Exception, "seed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "error", "builtin", "words"), [pytest.param(*case[1:], id=case[0]) for case in ERRORS]
)
def test_a_clear_error(desk, call, error, builtin, words) -> None:
    with pytest.raises(error, match=f"(?s){words}") as caught:
        call(desk)
    assert isinstance(caught.value, builtin)
    assert caught.value.given
    assert caught.value.needed or caught.value.remedy
    assert caught.value.__cause__ is None or isinstance(caught.value.__cause__, bf.ButforError)


def test_what_a_model_raises_is_its_word_on_the_rows(desk) -> None:
    def model(rows):
        raise RuntimeError("out of coffee")

    with pytest.raises(
        InputError, match=r"function refuses these rows \(RuntimeError: out of coffee\).*predict"
    ) as caught:
        bf.Explainer(model, desk.a).explain(desk.a[:1], constraints=[bf.candidates(desk.a)])
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("call", [lambda before: 0.0, lambda before, after: "x"], ids=["one argument", "words"])
def test_what_a_price_raises_is_told(desk, call) -> None:
    with pytest.raises(InputError, match=r"price callable failed.*price\(before, after\)") as caught:
        desk.tree.explain(desk.row, cost=bf.Table({"age": call}))
    assert isinstance(caught.value.__cause__, TypeError | ValueError)


def same(one: Any, other: Any) -> bool:
    return (one.cost, one.after, one.certificate.status) == (other.cost, other.after, other.certificate.status)


def columns_in_another_order(d: SimpleNamespace) -> bool:
    found = d.ask.explain(d.row[["owns", "job", "income", "age"]])
    return same(found, d.ask.explain(d.row)) and list(found.point.columns) == ["owns", "job", "income", "age"]


def a_column_too_many(d: SimpleNamespace) -> bool:
    found = d.ask.explain(d.row.assign(name="Ada"))
    return same(found, d.ask.explain(d.row)) and found.point["name"].tolist() == ["Ada"]


def met_already(d: SimpleNamespace) -> bool:
    found = d.ask.explain(d.row, target="no")
    return found.cost == 0 and not found.changes and "already met" in found.certificate.why


def contradiction(d: SimpleNamespace) -> bool:
    wishes = [bf.between("age", 20, 30), bf.between("age", 40, 50)]
    found = d.ask.explain(d.row, constraints=wishes)
    return found.certificate.status is Status.PROVEN_INFEASIBLE and set(found.certificate.conflict) == set(
        map(repr, wishes)
    )


def range_without_the_factual(d: SimpleNamespace) -> bool:
    wish = bf.between("age", d.row["age"].item() + 1, 90)
    found = d.ask.explain(d.row, constraints=[wish])
    return found.found and found.point["age"].item() > d.row["age"].item()


def fixed_outside_a_range(d: SimpleNamespace) -> bool:
    wishes = [bf.fixed("age"), bf.between("age", d.row["age"].item() + 1, 90)]
    found = d.ask.explain(d.row, constraints=wishes)
    return found.certificate.status is Status.PROVEN_INFEASIBLE and len(found.certificate.conflict) == 2


def declared_range_without_the_factual(d: SimpleNamespace) -> bool:
    ask = bf.Explainer(d.pipeline, d.X, space={"age": bf.Integer(30, 40)})
    return ask.explain(changed(d.row, age=90)).certificate.status is Status.PROVEN_OPTIMAL


def all_fixed(d: SimpleNamespace) -> bool:
    return d.ask.explain(d.row, constraints=[bf.fixed(*d.X.columns)]).certificate.status is Status.PROVEN_INFEASIBLE


def out_of_reach(d: SimpleNamespace) -> bool:
    found = d.forest.explain(d.r, target=bf.value(at_least=1e9))
    return found.certificate.status is Status.PROVEN_INFEASIBLE and found.point is None


def spent_at_once(d: SimpleNamespace) -> bool:
    found = d.ask.explain(d.X, time_limit=1e-9, solver="milp")
    return len(found) == len(d.X) and Status.NOT_FOUND in found.statuses


def one_row_is_one_answer(d: SimpleNamespace) -> bool:
    found = d.ask.explain(d.row)
    return isinstance(found, bf.Explanations) and len(found) == 1 and found.only.cost == found.cost


def more_answers_than_there_are(d: SimpleNamespace) -> bool:
    found = d.tree.explain(d.row, k=500, constraints=[bf.fixed("age", "income")])
    return isinstance(found, bf.Explanations) and 1 <= len(found) < 500


def a_whole_number_as_float(d: SimpleNamespace) -> bool:
    return same(d.ask.explain(d.row.astype({"age": float})), d.ask.explain(d.row))


def truth_as_a_number(d: SimpleNamespace) -> bool:
    return same(d.ask.explain(d.row.astype({"owns": int})), d.ask.explain(d.row))


def an_integer_that_is_none(d: SimpleNamespace) -> bool:
    found = d.ask.explain(changed(d.row, age=40.5))
    return found.certificate.status is Status.PROVEN_OPTIMAL


def a_missing_value_where_the_model_takes_one(d: SimpleNamespace) -> bool:
    fitted = make_pipeline(SimpleImputer(), LogisticRegression()).fit(
        d.a.repeat(20, 0) + np.arange(40).reshape(20, 2), [0, 1] * 10
    )
    ask = bf.Explainer(fitted, d.a.repeat(20, 0) + np.arange(40).reshape(20, 2))
    return ask.explain(np.array([[np.nan, d.a[0, 1] + 1]])).certificate.status in (
        Status.PROVEN_OPTIMAL,
        Status.PROVEN_INFEASIBLE,
    )


def a_class_as_numpy(d: SimpleNamespace) -> bool:
    return same(d.ask.explain(d.row, target=np.str_("yes")), d.ask.explain(d.row, target="yes"))


def no_progress(d: SimpleNamespace) -> bool:
    return all(same(d.ask.explain(d.row, progress=said), d.ask.explain(d.row)) for said in (True, False, None))


def a_lone_constraint(d: SimpleNamespace) -> bool:
    return same(d.ask.explain(d.row, constraints=bf.fixed("job")), d.ask.explain(d.row, constraints=[bf.fixed("job")]))


def constant_column(d: SimpleNamespace) -> bool:
    X = d.X[["age", "income"]].assign(one=1.0)
    ask = bf.Explainer(LogisticRegression().fit(X, d.y), X)
    found = ask.explain(X.iloc[[0]])
    return ask.space["one"].kind == "constant" and "one" not in [change.name for change in found.changes]


OUTCOMES = [
    columns_in_another_order, a_column_too_many, met_already, contradiction, range_without_the_factual, fixed_outside_a_range,
    declared_range_without_the_factual, all_fixed, out_of_reach, spent_at_once, one_row_is_one_answer,
    more_answers_than_there_are, a_whole_number_as_float, truth_as_a_number, an_integer_that_is_none,
    a_missing_value_where_the_model_takes_one, a_class_as_numpy, no_progress, a_lone_constraint, constant_column,
]  # fmt: skip


@pytest.mark.parametrize("case", OUTCOMES, ids=lambda case: case.__name__)
def test_a_stated_outcome(desk, case) -> None:
    assert case(desk)


def test_there_are_enough_cases() -> None:
    names = [name for name, *_ in ERRORS] + [case.__name__ for case in OUTCOMES]
    assert len(names) == len(set(names))
    assert len(names) >= 60
