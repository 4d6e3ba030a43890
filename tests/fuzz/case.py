"""A case: a table, a model and one question, as plain data that can be built, asked, shrunk and written down."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.explain.explainer import Explainer
from tests.fuzz.balls import neighbours, random_ball
from tests.fuzz.columns import Known, Random, known
from tests.fuzz.models import TWO_CLASSES, Recipe, evaluated, fits_levels, fitted, random_recipe
from tests.fuzz.questions import Aim, Price, Said, price_of, random_aim, random_prices, say
from tests.fuzz.rules import Rule, admissible, random_rules
from tests.fuzz.tables import MOST_POINTS, TrainingTable, grid, random_sheet, read_row


@dataclass(frozen=True)
class Inquiry:
    """What is asked: a target, the terms of a cost, constraints, and in which narrower types the row is given."""

    aim: Aim
    prices: tuple[Price, ...]
    rules: tuple[Rule, ...] = ()
    narrow: str = ""

    @property
    def ball(self) -> Rule | None:
        """The ball around the answer, if one is asked for."""
        return next((rule for rule in self.rules if rule.word == "robust"), None)

    def texts(self) -> dict[str, str]:
        """The arguments as source text."""
        constraints = "[" + ", ".join(rule.text() for rule in self.rules) + "]"
        return {
            "target": self.aim.text(),
            "cost": " + ".join(price.text() for price in self.prices),
            "constraints": constraints,
        }


@dataclass(frozen=True)
class Setting:
    """A table with its labels, and a pipeline to fit on it."""

    sheet: TrainingTable
    labels: tuple[Any, ...]
    recipe: Recipe

    def model_text(self) -> str:
        """The unfitted pipeline as source text."""
        columns = tuple(column for column in self.sheet.columns if column.name not in self.sheet.spread)
        return self.recipe.text(columns, sorted(set(self.labels)))


@dataclass(frozen=True)
class Case:
    """One row and one question to one model."""

    setting: Setting
    inquiry: Inquiry
    row: int


BALLS = 0.12
"""The share of questions that ask for a ball around the answer."""

WITHOUT_BALLS = frozenset({"StackedTrees"})
"""Models whose balls butfor refuses to judge."""

LIMIT = 60.0
"""Seconds for a question. Few questions about whole numbers take HiGHS for ever, and then an answer counts as missed."""


class Bench:
    """A setting that was built: the model fitted, the grid enumerated and predicted once."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.facts: tuple[Known, ...] = tuple(known(column) for column in setting.sheet.columns)
        self.table = evaluated(setting.sheet.text())
        self.model = fitted(setting.model_text(), self.table, np.array(setting.labels))
        self.points = grid(self.facts)
        self.said = self.ask(self.points)
        self.codes = np.array([read_row(self.table, self.facts, row) for row in range(setting.sheet.rows)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.explainer: Any = Explainer(self.model, data=self.table, space=evaluated(setting.sheet.space()))

    def ask(self, points: FloatArray, narrow: str = "") -> Said:
        """What the estimator says about points, in the types of the table or in narrower ones."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = self.setting.sheet.written(self.facts, points)
            return say(self.model, evaluated(f"X{narrow}", X=table) if narrow else table)

    def rows_text(self, rows: Sequence[int], narrow: str) -> str:
        """The rows to explain, as source text."""
        if self.setting.sheet.kind == "array":
            return f"X[{list(rows)!r}]"
        return f"X.iloc[{list(rows)!r}]{narrow}"

    def rows(self, rows: Sequence[int], narrow: str) -> Any:
        """The rows to explain."""
        return evaluated(self.rows_text(rows, narrow), X=self.table)

    def explain(self, inquiry: Inquiry, rows: Sequence[int]) -> Any:
        """Butfor's answers. Errors are raised."""
        given = {name: evaluated(text) for name, text in inquiry.texts().items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.explainer.explain(self.rows(rows, inquiry.narrow), progress=False, time_limit=LIMIT, **given)

    def totals(self, inquiry: Inquiry, start: FloatArray, points: FloatArray, after: Said) -> FloatArray:
        """What each point costs, the class included."""
        return price_of(inquiry.prices, self.facts, start, points) + inquiry.aim.surcharge(after)

    def accepted(self, inquiry: Inquiry, before: Said, start: FloatArray, points: FloatArray, after: Said) -> BoolArray:
        """Which points are admissible and meet the target."""
        fine = inquiry.aim.met(before, after) & admissible(inquiry.rules, self.facts, start, points)
        if inquiry.ball and fine.any():
            after = self._around(inquiry.ball, points[fine])
            within = _everywhere(inquiry.aim.met(before, after), int(fine.sum()))
            if inquiry.aim.word in ("other", "classes", "costs"):  # no promise if neighbours are of several classes
                classes = np.asarray(after.values).reshape(int(fine.sum()), -1)
                within &= (classes == classes[:, :1]).all(axis=1)
            fine[fine] = within
        return fine

    def firm(self, inquiry: Inquiry, before: Said, point: FloatArray) -> bool:
        """Whether a point meets the target with every neighbour in the ball of the question, if there is one.

        Each is asked about alone, because the last digits may depend on the rows beside it.
        """
        if inquiry.ball is None:
            return True
        near = neighbours(inquiry.ball, self.facts, point[None])[0]
        return all(inquiry.aim.met(before, self.ask(one[None]))[0] for one in near)

    def _around(self, ball: Rule, points: FloatArray) -> Said:
        """What the estimator says about all neighbours of some points."""
        near = neighbours(ball, self.facts, points)
        return self.ask(near.reshape(-1, near.shape[2]))


def _everywhere(met: BoolArray, points: int) -> BoolArray:
    return np.asarray(met.reshape(points, -1).all(axis=1)) if points else np.ones(0, dtype=np.bool_)


def random_setting(rng: Random, estimator: str) -> Setting:
    """A random table and a pipeline that can be fitted on it."""
    recipe, wants = random_recipe(rng, estimator, 1)
    sheet = random_sheet(rng, **wants)
    sheet = fits_levels(sheet, recipe)
    columns = list(sheet.columns)
    while prod(len(known(column).grid) for column in columns) > MOST_POINTS:
        columns.pop()
    sheet = replace(sheet, columns=tuple(columns))
    labels = _labels(rng, sheet, recipe)
    if _may_be_dummies(sheet, recipe):
        sheet, recipe = sheet.as_dummies(), replace(recipe, encoder="")
    if "label" in dict(recipe.settings):
        recipe = recipe.with_setting("label", labels[-1])
    return Setting(sheet, labels, recipe)


def _may_be_dummies(sheet: TrainingTable, recipe: Recipe) -> bool:
    """Whether the table, and not the pipeline, is to encode the categories: so in some tables in place of an encoder."""
    levels = [column for column in sheet.columns if column.has_levels and isinstance(column.levels[0], str)]
    several = all(len(set(column.values)) > 1 and not column.gaps for column in levels)
    return bool(levels) and several and recipe.encoder.startswith("OneHotEncoder(") and sheet.rows % 4 == 0


def _labels(rng: Random, sheet: TrainingTable, recipe: Recipe) -> tuple[Any, ...]:
    score = np.zeros(sheet.rows)
    for column in sheet.columns:
        fact = known(column)
        x = np.array([fact.code(value) for value in column.values])
        x = np.nan_to_num((x - np.nanmean(x)) / (np.nanstd(x) or 1.0), nan=1.5)
        score += rng.normal() * x + 0.5 * rng.normal() * (x > 0.3)
    score += 0.3 * rng.normal(size=len(score))
    if not recipe.classifies:
        return tuple((np.round(score, 2) * float(rng.choice([1, 1, 1, 100, 1e-9]))).tolist())
    two = recipe.estimator in TWO_CLASSES or rng.random() < 0.6
    cuts = np.quantile(score, [0.5] if two else [0.33, 0.67])
    classes = np.searchsorted(cuts, score)
    words = rng.random() < 0.5 and not recipe.estimator.startswith("XGB")
    names: list[Any] = (["no", "yes"] if two else ["low", "mid", "top"]) if words else [0, 1, 2]
    return tuple(names[k] for k in classes.tolist())


def random_inquiry(rng: Random, bench: Bench) -> Inquiry:
    """A question that makes sense for a model."""
    aim = random_aim(rng, bench.said).settled(bench.said)
    inquiry = Inquiry(aim, random_prices(rng, bench.facts), random_rules(rng, bench.facts))
    ball = random_ball(rng, bench.facts) if rng.random() < BALLS else None
    if ball and bench.setting.recipe.estimator not in WITHOUT_BALLS:
        inquiry = replace(inquiry, rules=(*inquiry.rules, ball))
    if bench.setting.sheet.kind != "array" and rng.random() < 0.08:
        return replace(inquiry, narrow=_narrow(rng, bench))
    return inquiry


def _narrow(rng: Random, bench: Bench) -> str:
    """A narrower type for the whole-number columns of the row that is given."""
    sheet = bench.setting.sheet
    names = {}
    for column, fact in zip(sheet.columns, bench.facts, strict=True):
        seen = [value for value in column.values if value is not None]
        fits = all(isinstance(value, int | float) and 0 <= value <= 255 for value in seen)
        if not fact.levels and fact.step == 1 and not fact.gaps and fits:
            names[sheet.label(column)] = str(rng.choice(["uint8", "int16"]))
    return f".astype({names!r})" if names else ""
