"""Small tables of whole numbers and levels, with every point listed. So statements about sets of points can be counted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.costs import price

MODELS = {
    "tree": lambda seed: DecisionTreeClassifier(max_depth=4, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(6, max_depth=4, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=seed),
    "linear": lambda seed: LogisticRegression(C=10.0 ** (seed % 3 - 1)),
}
NUMBERS = {"a": 5, "b": 4, "c": 3}
LEVELS = ("x", "y", "z")


@dataclass(frozen=True)
class World:
    """A fitted model, all points, and one row that is predicted 0."""

    explainer: bf.Explainer
    points: pd.DataFrame
    row: pd.DataFrame

    @property
    def probability(self) -> np.ndarray:
        """The probability of class 1 at each point."""
        return self.explainer.model.predict_proba(self.points)[:, 1]

    @property
    def met(self) -> np.ndarray:
        """Which points are predicted 1."""
        return self.explainer.model.predict(self.points) == 1

    def costs(self, cost) -> np.ndarray:
        """What each point costs as a change of the row."""
        space = self.explainer.space
        start = np.repeat(space.encode(self.row), len(self.points), axis=0)
        return price(cost, space).total(start, space.encode(self.points))

    @property
    def changed(self) -> np.ndarray:
        """Which columns each point changes."""
        return self.points.to_numpy() != self.row.to_numpy()

    def cheapest(self, allowed: np.ndarray, cost) -> float:
        """The least cost of the allowed points; infinite if there is none."""
        return float(self.costs(cost)[allowed].min(initial=np.inf))

    def sets(self, most: int):
        """All sets of at most so many columns."""
        names = list(self.points)
        return [one for size in range(most + 1) for one in combinations(names, size)]

    def within(self, columns) -> np.ndarray:
        """Which points change no other columns than these."""
        return ~self.changed[:, [name not in columns for name in self.points]].any(axis=1)


def world(kind: str, seed: int) -> World:
    """The world of a seed."""
    rng = np.random.default_rng(seed)
    points = pd.DataFrame(
        list(product(*(range(count) for count in NUMBERS.values()), LEVELS)), columns=[*NUMBERS, "level"]
    )
    weight = rng.normal(size=3)
    score = points[list(NUMBERS)].to_numpy() @ weight + rng.normal(size=3)[points["level"].map(LEVELS.index)]
    noisy = score + rng.normal(size=len(points)) * 0.8
    y = (noisy > np.quantile(noisy, 0.75)).astype(int)
    encode = ColumnTransformer([("level", OneHotEncoder(), ["level"])], remainder="passthrough")
    model = make_pipeline(encode, MODELS[kind](seed)).fit(points, y)
    rejected = np.flatnonzero(model.predict(points) == 0)
    return World(bf.Explainer(model, points), points, points.iloc[[int(rng.choice(rejected))]])
