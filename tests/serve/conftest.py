"""A server over a small table, with one process, whose names and levels try to break out of the page."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from starlette.testclient import TestClient

from butfor.cli.desk import opened
from butfor.datasets import loans
from butfor.serve.access import LOOPBACK, Keys
from butfor.serve.app import application
from butfor.serve.desk import Desk
from butfor.serve.plain import Json
from butfor.serve.team import Team

SCRIPT = "<script>alert(1)</script>"
RULES = f"""
constraints = ["income <= 90000"]
[columns.age]
frozen = true
label = "Age {SCRIPT}"
[columns.amount]
unit = "EUR"
"""
HERE = "http://127.0.0.1"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Json:
    folder: Path = tmp_path_factory.mktemp("served")
    X, y = loans.load()
    X = X[["age", "job", "income", "amount", "months"]].iloc[:300].rename(columns={"months": f"months{SCRIPT}"})
    X["job"] = X["job"].replace("unemployed", f"none {SCRIPT}")
    X.loc[7, "job"] = None
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]), remainder="passthrough")
    forest = RandomForestClassifier(10, max_depth=4, random_state=0)
    joblib.dump(make_pipeline(encoder, forest).fit(X, y[:300]), folder / "model.joblib")
    pd.DataFrame(X).to_parquet(folder / "data.parquet")
    (folder / "rules.toml").write_text(RULES)
    names = {"model": "model.joblib", "data": "data.parquet", "rules": "rules.toml"}
    return {
        "training": None,
        "words": None,
        "log": None,
        "unlogged": False,
        **{name: str(folder / file) for name, file in names.items()},
    }


@pytest.fixture(scope="session")
def desk(files: Json) -> Desk:
    return opened(files)


@pytest.fixture(scope="session")
def client(desk: Desk, files: Json) -> Iterator[TestClient]:
    team = Team([sys.executable, "-m", "butfor.cli.desk"], files, count=1, waiting=2)
    app = application(desk, team, LOOPBACK, Keys())
    with TestClient(app, base_url=HERE) as made:
        made.team = team  # type: ignore[attr-defined]
        yield made
