"""Small questions with their proofs, whose every row can be tried."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.proof.checker import checker
from tests.importers.samples import QUANTILES
from tests.proof import judge

KINDS = ("tree", "votes", "forest", "boosted", "histogram", "xgboost", "lost forest", "lost histogram", "lost xgboost",
         "three tree", "three votes", "three forest", "three boosted", "three histogram", "three xgboost",
         "three lost forest", "three lost xgboost", "voting", "steps", "lost bagging", "three steps", "means",
         "curves", "bent", "knots", "bent knots", "stack", "voters",
         "together forest", "together xgboost", "three together forest",
         "costly three forest", "costly xgboost", "odds three boosted", "odds three xgboost")  # fmt: skip
"""Those from "voting" on are proven of what butfor read of them."""


@dataclass(frozen=True)
class Case:
    """A proof with all that it is about: the shared question, the row's own, the steps, and the file of the model."""

    shared: dict[str, Any]
    own: dict[str, Any]
    steps: list[str]
    kind: str
    content: str
    name: str = ""

    def lines(self) -> list[str]:
        """The lines of the proof, signed as they are now."""
        return signed([json.dumps(self.own), *self.steps])

    def check(self, by: Any = None) -> str:
        """What the checker says; it raises an error if the proof is not accepted."""
        by = by or checker()
        said: str = by.verify(self.lines(), shared_of(by, self.kind, self.content, json.dumps(self.shared)))
        return said

    def accepted(self, by: Any = None) -> bool:
        by = by or checker()
        try:
            self.check(by)
        except Exception:
            return False
        return True

    def false(self) -> bool:
        """Whether the claim is false, by the judge."""
        least = judge.least_cost(self.shared, self.own, self.kind, self.content)
        below = self.own["below"]
        return least is not None and (below is None or least < judge.number(below))

    def bolder(self, factor: float) -> Case:
        """The same with a larger bound, and without an answer."""
        below = self.own["below"]
        raised = None if below is None else (float.fromhex(below) * factor).hex()
        return replace(self, own={**self.own, "below": raised, "answer": None})


def signed(body: list[str]) -> list[str]:
    """The lines of a proof, with its footer."""
    sha256 = hashlib.sha256("\n".join(body).encode()).hexdigest()
    return [*body, json.dumps({"steps": len(body) - 1, "sha256": sha256})]


@lru_cache(32)
def shared_of(by: Any, kind: str, content: str, shared: str) -> Any:
    """What rows of a question share, as a checker reads it: most attacks change something else."""
    return by.either(by.parsed(shared), by.Model(kind, content.encode()))


def estimator(kind: str) -> Any:
    import xgboost

    few: Any = GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=1)
    if "bent" in kind:
        few = xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1)
    learner: Any = {
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "votes": RandomForestClassifier(
            5, max_depth=None, min_samples_leaf=1, bootstrap=False, max_features=2, random_state=0
        ),
        "forest": RandomForestClassifier(6, max_depth=3, random_state=0),
        "boosted": GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0),
        "histogram": HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=4, min_samples_leaf=3),
        "xgboost": xgboost.XGBClassifier(n_estimators=8, max_depth=2, n_jobs=1),
        "voting": VotingClassifier(
            [
                ("forest", RandomForestClassifier(3, max_depth=3, random_state=0)),
                ("tree", DecisionTreeClassifier(max_depth=2)),
            ],
            voting="soft",
            weights=[2, 1],
        ),
        "voters": VotingClassifier(
            [
                ("boosted", xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1)),
                ("forest", RandomForestClassifier(3, max_depth=3, random_state=0)),
                ("tree", DecisionTreeClassifier(max_depth=2)),
                ("stump", DecisionTreeClassifier(max_depth=1)),
            ],
            voting="hard",
            weights=[2, 1, 1, 1],
        ),
        "stack": StackingClassifier(
            [
                ("boosted", GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0)),
                ("forest", RandomForestClassifier(3, max_depth=3, random_state=0)),
                ("tree", DecisionTreeClassifier(max_depth=2)),
            ],
            final_estimator=LogisticRegression(C=100.0),
            cv=3,
        ),
        "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=3), 6, random_state=0),
        "steps": LogisticRegression(),
        "curves": VotingClassifier(
            [
                ("boosted", xgboost.XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1)),
                ("forest", RandomForestClassifier(3, max_depth=3, random_state=0)),
            ],
            voting="soft",
            weights=[2, 1],
        ),
        "bent": CalibratedClassifierCV(xgboost.XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1), cv=2),
        "knots": VotingClassifier(  # with a sigmoid: isotonic steps alone have many ties
            [
                ("few", CalibratedClassifierCV(few, method="isotonic", cv=2, ensemble=False)),
                ("boosted", GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0)),
            ],
            voting="soft",
        ),
        "means": CalibratedClassifierCV(GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0), cv=2),
    }[kind.split()[-1]]
    if "steps" in kind:
        bins = KBinsDiscretizer(4, encode="onehot-dense", **QUANTILES)
        steps = make_column_transformer((bins, ["income", "age"]), (OneHotEncoder(sparse_output=False), ["job"]))
        return make_pipeline(steps, learner)
    return encoded(learner)


def encoded(learner: Any) -> Any:
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough")
    return make_pipeline(encoder, learner)


def with_holes(X: pd.DataFrame) -> pd.DataFrame:
    """A table in which some numbers are missing."""
    X = X.assign(age=X["age"].astype(float))
    X.loc[X.index % 4 == 0, "income"] = np.nan
    X.loc[X.index % 7 == 0, "age"] = np.nan
    return X


def table(seed: int = 0, rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.normal(size=rows).round(2),
            "age": rng.integers(18, 60, size=rows),
            "job": rng.choice(["clerk", "cook", "judge"], size=rows),
        }
    )
    y = X["income"] + (X["age"] - 40) / 20 + (X["job"] == "judge") + rng.normal(scale=0.4, size=rows) > 0.3
    return X, y.astype(int).to_numpy()


def three_classes() -> tuple[pd.DataFrame, np.ndarray]:
    """A table whose classes are tied by votes here and there."""
    X, _ = table()
    worth = X["income"] + (X["age"] - 40) / 20 + (X["job"] == "judge")
    return X, np.digitize(worth, [-0.4, 0.7])


def asked_too(X: pd.DataFrame, y: np.ndarray) -> tuple[Any, Any]:
    """A model that must agree, and an isolation forest that finds most rows plausible."""
    tree = encoded(DecisionTreeClassifier(max_depth=3, random_state=1)).fit(X[10:], y[10:])
    return tree, encoded(IsolationForest(n_estimators=4, max_samples=16, random_state=0)).fit(X)


QUESTIONS: tuple[tuple[int, tuple[Any, ...]], ...] = (
    (1, ()),
    (0, ()),
    (1, (bf.at_most_changes(1),)),
    (1, (bf.only_up("age"), bf.fixed("job"))),
    (0, (bf.fixed("income", "age"),)),
)
"""The class that is wanted, and the constraints."""

TARGETS = bf.classes(2), bf.classes(0), bf.classes(1), "other", bf.classes(0, 2)
"""What is wanted of three classes, under the same constraints."""


@cache
def cases(kind: str, rows: int = 2) -> tuple[Case, ...]:
    """Proofs about a model of this kind. All of them are accepted, which others test."""
    X, y = three_classes() if "three" in kind else table()
    X, holes = (with_holes(X), [bf.may_be_missing("age")]) if "lost" in kind else (X, [])
    model = estimator(kind).fit(X, y)
    asked = asked_too(X, y) if "together" in kind else ()
    holes += [bf.robust_to(asked[0]), bf.plausible(asked[1])] if asked else []
    explainer, predicted = bf.Explainer(model, data=X), model.predict(X)
    found = []
    for number, (wanted, constraints) in enumerate(QUESTIONS):
        target: Any = TARGETS[number] if "three" in kind else bf.classes(wanted)
        chosen = X[~np.isin(predicted, getattr(target, "labels", ()))].iloc[:rows]
        if "odds" in kind:
            target = bf.probability(number % 3, **[{"at_least": 0.45}, {"at_most": 0.3}][number % 2])
            chance = model.predict_proba(X)[:, number % 3]
            chosen = X[chance > 0.3 if number % 2 else chance < 0.45].iloc[:rows]
        if "costly" in kind:
            target = {label: 0.25 + 0.5 * k for k, label in enumerate(explainer.model.classes_.tolist())}
        answers = explainer.explain(chosen, target=target, constraints=[*constraints, *holes])
        with TemporaryDirectory() as folder:
            proofs = bf.prove(answers, model, folder, models=asked)
            found += [read(one.file, f"{kind} {number}") for one in proofs if one.file is not None]
    return tuple(found)


def read(file: Path, name: str = "") -> Case:
    """A proof in a folder."""
    own, *steps, _ = file.read_text().splitlines()
    shared = json.loads((file.parent / json.loads(own)["question"][0]).read_text())
    content = (file.parent / shared["model"]["file"]).read_text()
    return Case(shared, json.loads(own), steps, shared["model"]["kind"], content, name)
