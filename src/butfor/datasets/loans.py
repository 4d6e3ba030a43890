"""A synthetic table of loan applications. A sensible rule approves or rejects them, with some noise.

It is nobody's data: every number is drawn from a seeded generator. The rule looks at income, savings, amount, duration,
late payments, job, education, housing and, mildly, age. It never looks at sex, which is there to be held fixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from butfor.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

EDUCATION = ("none", "school", "college", "master")
"""The levels of `education`, from lowest to highest."""

JOBS = ("unemployed", "temporary", "self-employed", "permanent")
HOUSING = ("rents", "with family", "owns")

CATEGORIES = ["sex", "job", "housing"]
NUMBERS = ["age", "income", "savings", "amount", "months", "late_payments"]


def load(rows: int = 1000, seed: int = 0) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Loan applications and their outcomes.

    The result is a pandas frame of ten raw columns, and a series of "approved" and "rejected". `age`, `income`,
    `amount`, `months` and `late_payments` are whole numbers. `savings` can be any number; one in twenty is missing.
    `education` is ordered. `sex`, `job` and `housing` are categories.

    >>> X, y = load()
    >>> X.shape, sorted(set(y))
    ((1000, 10), ['approved', 'rejected'])
    """
    if rows < 1:
        raise InputError(f"rows={rows!r} was given.", "At least one row is needed.")
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError(
            "the loan table is a pandas frame and pandas is not installed.", "", 'Run: pip install "butfor[demo]"'
        ) from None
    rng = np.random.default_rng(seed)
    age = rng.integers(19, 75, rows)
    education = rng.choice(len(EDUCATION), rows, p=[0.1, 0.45, 0.3, 0.15])
    job = rng.choice(len(JOBS), rows, p=[0.1, 0.2, 0.15, 0.55])
    housing = rng.choice(len(HOUSING), rows, p=[0.5, 0.2, 0.3])
    earning = 9.9 + 0.16 * education + 0.22 * np.array([-2.0, -0.5, 0.5, 1.0])[job] + 0.004 * (age - 45)
    income = np.round(np.exp(rng.normal(earning, 0.3)), -2).astype(int)
    savings = np.round(rng.gamma(1.2, 0.25, rows) * income, 2)
    amount = np.round(rng.gamma(2.0, 4500, rows) + 1000, -2).astype(int)
    months = rng.choice(np.arange(12, 73, 6), rows)
    late = np.minimum(rng.poisson(rng.gamma(0.8, 1.0, rows)), 9)
    strain = 12 * amount / months / income
    score = (
        1.6
        - 5.0 * strain
        + 0.9 * np.log1p(savings / 4000)
        - 0.8 * late
        + np.array([-1.6, -0.4, 0.0, 0.6])[job]
        + 0.25 * education
        + np.array([-0.2, 0.0, 0.5])[housing]
        - 0.3 * (age < 25)
    )
    approved = score + rng.logistic(0, 0.35, rows) > 0.6
    X = pd.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["female", "male"], rows),
            "education": np.take(EDUCATION, education),
            "job": np.take(JOBS, job),
            "housing": np.take(HOUSING, housing),
            "income": income,
            "savings": np.where(rng.random(rows) < 0.05, np.nan, savings),
            "amount": amount,
            "months": months,
            "late_payments": late,
        }
    )
    return X, pd.Series(np.where(approved, "approved", "rejected"), name="outcome")


def pipeline() -> Pipeline:
    """A pipeline for the raw table, not yet fitted.

    It has encoders, an imputer and a scaler, and then a decision tree of readable size.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    columns = ColumnTransformer(
        [
            ("categories", OneHotEncoder(handle_unknown="ignore"), CATEGORIES),
            ("ordered", OrdinalEncoder(categories=[list(EDUCATION)]), ["education"]),
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), NUMBERS),
        ]
    )
    return Pipeline(
        [("columns", columns), ("tree", DecisionTreeClassifier(max_depth=5, min_samples_leaf=10, random_state=0))]
    )
