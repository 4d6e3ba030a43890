"""One call of a `Dice` as questions to `bf.Explainer`, and its answers in DiCE's form."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from butfor.compat.dice.columns import cells_of, feature_of, features_of, only
from butfor.compat.dice.configuration import DiceWish, check_row, inside
from butfor.compat.dice.constants import ModelTypes
from butfor.compat.dice.data import BaseData
from butfor.compat.dice.examples import CounterfactualExamples
from butfor.compat.dice.exceptions import UserConfigValidationException
from butfor.compat.dice.further import Ends, pool
from butfor.compat.dice.model import Model
from butfor.compiled.clock import now
from butfor.explain.explainer import Explainer
from butfor.explanation.explanation import Explanation
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.names import allowed, between, candidates
from butfor.problem.targets.names import probability, value
from butfor.problem.written.constraints import Constraints, as_constraints
from butfor.solvers.outcome import Status
from butfor.space.feature import Override
from butfor.space.space import Space

ALSO_FOR_FURTHER = ("cost", "seed", "time_limit_per_row", "n_jobs", "progress")
"""The options of a question that further answers are asked with, too."""


@dataclass(frozen=True)
class DiceQuestion:
    """What is wanted of some rows.

    - `data`, `model`: what was told of both;
    - `explainer_within`: whom it is asked, given wider declarations of some columns;
    - `from_data`: whether answers are rows of the data;
    - `wish`: what DiCE has words for;
    - `constraints`, `options`: what only butfor has words for.
    """

    data: BaseData
    model: Model
    explainer_within: Callable[[Mapping[str, Override]], Explainer]
    from_data: bool
    wish: DiceWish
    constraints: Constraints
    options: Mapping[str, Any]

    def answered(self, given: pd.DataFrame) -> list[CounterfactualExamples]:
        """The answers to each row."""
        data = self.data
        varied = [check_row(data, given.iloc[[i]], self.wish, self.ranges) for i in range(len(given))]
        rows = self.as_in_data(given)
        predicted = self.predict(rows)
        wanted = [self._wanted(one) for one in predicted]
        found: dict[int, list[Explanation]] = {}
        for target in dict.fromkeys(wanted):
            at = [i for i, one in enumerate(wanted) if one == target]
            if self.wish.total:
                its = self._distinct(rows.iloc[at], self._target(target), varied[0] if varied else [])
                found |= dict(zip(at, its, strict=True))
        return [self._examples(given.iloc[[i]], predicted[i], found.get(i, [])) for i in range(len(given))]

    @cached_property
    def until(self) -> float:
        """When the time is spent."""
        limit = self.options.get("time_limit")
        return np.inf if limit is None else now() + float(limit)

    @cached_property
    def ranges(self) -> dict[str, Sequence[Any]]:
        """The ranges that were asked for, now or with the data."""
        return {**self.data.asked_range, **(self.wish.permitted_range or {})}

    @cached_property
    def explainer(self) -> Explainer:
        """Who answers. A range of numbers that lies outside the data is declared."""
        plain, wider = self.explainer_within({}), dict[str, Override]()
        for name, ends in self.ranges.items():
            feature = feature_of(plain.space, name)
            number = name in self.data.continuous_feature_names and feature.levels is None
            if number and (ends[0] >= feature.high or ends[1] <= feature.low):
                low, high = min(feature.low, ends[0]), max(feature.high, ends[1])
                kind = "continuous" if not feature.step or feature.anchor % feature.step else "step"
                wider[name] = Override(kind, float(low), float(high), feature.step if kind == "step" else 0.0)
        return self.explainer_within(wider) if wider else plain

    @cached_property
    def space(self) -> Space:
        """Its columns. Those that the model drops are held to the rules of all others if they have a range."""
        reading = self.explainer.reading
        for name in self.ranges:
            feature = feature_of(reading.space, name)
            reading = reading.held(feature.name) if feature.unread else reading
        return reading.space

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of a classifier, in order."""
        return self.explainer.reading.source.classes

    @property
    def classifies(self) -> bool:
        """Whether a class is wanted."""
        return self.model.model_type == ModelTypes.Classifier

    def predict(self, rows: pd.DataFrame) -> list[Any]:
        """What the model predicts: classes, or numbers."""
        source = self.explainer.reading.source
        if not self.classifies:
            return source.values(rows).tolist() if len(rows) else []
        if not self.classes:
            raise UserConfigValidationException(
                "the model predicts no classes.", "", "Call it Model(model_type='regressor'), and give a desired_range."
            )
        return source.labels(rows) if len(rows) else []

    def predictions(self, examples: CounterfactualExamples) -> list[Any]:
        """What the model predicts for the answers to a row: the positions of classes, or numbers."""
        if examples.final_cfs_df is None:
            return []
        found = examples.final_cfs_df[self.data.outcome_name].tolist()
        return [self.classes.index(one) for one in found] if self.classifies else found

    def as_in_data(self, given: pd.DataFrame) -> pd.DataFrame:
        """Rows with the columns and the levels of the data. Scripts may write a level 2 as "2"."""
        data = self.data
        rows = given[list(data.feature_names)].copy()
        for name in data.categorical_feature_names:
            known = {str(level): level for level in data.rows[name].dropna().unique().tolist()}
            if not set(rows[name].tolist()) <= set(known.values()):
                rows[name] = pd.Series([known[str(level)] for level in rows[name]], index=rows.index)
        return rows

    def _wanted(self, predicted: Any) -> int | None:
        """The position of the class that is wanted for a row; None for a regressor."""
        return self.wish.position(self.classes.index(predicted), self.classes) if self.classifies else None

    def _target(self, wanted: int | None) -> Any:
        if wanted is None:
            if self.wish.desired_range is None:
                raise UserConfigValidationException("The desired_range parameter should be set for regression task")
            low, high = self.wish.desired_range
            return value(at_least=low, at_most=high)
        certain = self.wish.certainty
        return self.classes[wanted] if certain == 0.5 else probability(self.classes[wanted], at_least=certain)

    def _kept(self, varied: Sequence[str]) -> list[AbstractConstraint]:
        """What answers must keep."""
        kept = [*as_constraints(self.constraints, self.space), *only(self.space, varied)]
        kept += [self._within(name, ends) for name, ends in self.ranges.items() if name in varied]
        if self.from_data:
            kept.append(candidates(self.data.rows))
        return kept

    def _within(self, name: str, ends: Sequence[Any]) -> AbstractConstraint:
        """A column stays within its range. If it holds levels, alone or with others, these are the levels that may be."""
        feature = feature_of(self.space, name)
        if feature.levels is None:
            return between(feature.name, *ends)
        cells = cells_of(feature, name)
        levels = [x for x, cell in zip(feature.levels, cells, strict=True) if inside(self.data, name, cell, ends)]
        if not levels:
            raise UserConfigValidationException(
                f"permitted_range={{{name!r}: {ends!r}}} permits no value.",
                f"The column holds {', '.join(map(repr, dict.fromkeys(cells)))}.",
            )
        return allowed(feature.name, levels)

    def _distinct(self, rows: pd.DataFrame, target: Any, varied: Sequence[str]) -> list[list[Explanation]]:
        """Different answers to each row, which has as many as were asked for if so many are known."""
        total, kept, until = self.wish.total, self._kept(varied), self.until
        options = {**self.options, "time_limit": max(until - now(), 0.0)} if np.isfinite(until) else self.options
        found = self.explainer.explain(rows, target, constraints=kept, k=total, **options)
        each = [list(found[found.rows == i]) for i in range(len(rows))]
        if self.from_data:
            return each
        return [self._filled(rows.iloc[[i]], target, kept, varied, its) for i, its in enumerate(each)]

    def _filled(
        self,
        row: pd.DataFrame,
        target: Any,
        kept: Sequence[AbstractConstraint],
        varied: Sequence[str],
        its: list[Explanation],
    ) -> list[Explanation]:
        """The answers that change something, and further rows that meet the target, up to as many as were asked for."""
        total, space = self.wish.total, self.space
        chosen = [one for one in its if one.point is not None and one.changes]
        if len(chosen) >= total or its[0].certificate.status is Status.PROVEN_INFEASIBLE:
            return chosen or its
        points = [space.encode(one.point)[0] for one in chosen]
        ends: Ends = {str(n): tuple(e) for n, e in self.ranges.items() if feature_of(space, n).levels is None}
        names = [feature.name for feature in features_of(space, varied)]
        table = pool(space, row, points, names, ends, self.explainer.reading.data)
        if table is None or now() > self.until:
            return chosen or its
        options = {name: self.options[name] for name in ALSO_FOR_FURTHER if name in self.options}
        if np.isfinite(self.until):
            options["time_limit"] = self.until - now()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about the row, and said before
            more = self.explainer.explain(
                row, target, constraints=[*kept, candidates(table)], k=total + len(chosen), conflicts=False, **options
            )
        known = {tuple(point) for point in points}
        for one in more:
            code = None if one.point is None else tuple(space.encode(one.point)[0])
            if code is not None and code not in known and len(chosen) < total:
                known.add(code)
                chosen.append(one)
        return chosen or its

    def _examples(self, given: pd.DataFrame, predicted: Any, its: Sequence[Explanation]) -> CounterfactualExamples:
        """The answers to a row in DiCE's form."""
        data, wish = self.data, self.wish
        outcome, found = data.outcome_name, [one for one in its if one.point is not None and one.changes]
        row = given.assign(**{outcome: [predicted]})
        table = None
        if found:
            table = data.ensure_consistent_type(pd.concat([one.point for one in found], ignore_index=True), given)
            table = table[list(given.columns)]
            if self.from_data:
                table.index = self._labels(found)
            table[outcome] = self.predict(self.as_in_data(table))
        return CounterfactualExamples(
            data_interface=data,
            final_cfs_df=table,
            test_instance_df=row,
            final_cfs_df_sparse=None if table is None else table.copy(),
            posthoc_sparsity_param=wish.posthoc_sparsity_param,
            desired_range=wish.desired_range,
            desired_class=wish.desired_class,
            model_type=self.model.model_type,
            answers=tuple(found or its[:1]),
        )

    def _labels(self, found: Sequence[Explanation]) -> list[Any]:
        """The labels of rows of the data."""
        space, rows = self.explainer.space, self.data.rows
        first: dict[tuple[float, ...], Any] = {}
        for label, code in zip(rows.index, np.nan_to_num(space.encode(rows), nan=np.inf).tolist(), strict=True):
            first.setdefault(tuple(code), label)
        codes = [np.nan_to_num(space.encode(one.point)[0], nan=np.inf).tolist() for one in found]
        return [first[tuple(code)] for code in codes]
