"""What the commands that ask have in common: the model and its rows, and the question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from butfor.cli.options import (
    AtLeast,
    AtMostValue,
    Condition,
    Constraint,
    Cost,
    Data,
    Forests,
    MeanGain,
    MedianGain,
    Model,
    Probability,
    ProbabilityAtMost,
    QuantileAtLeast,
    RelativeChange,
    RulesFile,
    Safety,
    SurvivalAt,
    Target,
    Training,
    Unit,
    Unmet,
    WordsFile,
)
from butfor.cli.printing import warned_in_lines
from butfor.errors import InputError

if TYPE_CHECKING:
    from butfor.explain.explainer import Explainer

ROWS_KNOWN = 20
"""Of fewer rows than this, the values that columns take are not known."""


@dataclass(frozen=True)
class QuestionOptions:
    """The options that say what is asked: a file of rules, or the question itself, or both."""

    rules: RulesFile = None
    words: WordsFile = None
    target: Target = None
    probability: Probability = None
    probability_at_most: ProbabilityAtMost = None
    at_least: AtLeast = None
    at_most: AtMostValue = None
    relative_change: RelativeChange = None
    mean_gain: MeanGain = None
    median_gain: MedianGain = None
    survival_at: SurvivalAt = None
    quantile_at_least: QuantileAtLeast = None
    unit: Unit = ""
    constraint: Constraint = None
    plausible: Forests = None
    cost: Cost = None
    safety: Safety = None

    def explainer(self, estimator: Any, data: Any) -> Explainer:
        """The explainer of a model, under the rules."""
        from butfor.cli.files import read_words
        from butfor.explain.explainer import Explainer
        from butfor.explain.rules import Rules, rules

        spoken = None if self.words is None else read_words(self.words)
        known = None if self.rules is None else rules(self.rules)
        if self.safety is not None:
            known = (known or Rules()).safer(self.safety)
        with warned_in_lines():
            return Explainer(estimator, data, words=spoken, rules=known)

    def aim(self, explainer: Explainer) -> Any:
        """The target that the options say; None if they say none."""
        from butfor.cli.parse import target_of

        names = (
            "at_least",
            "at_most",
            "relative_change",
            "mean_gain",
            "median_gain",
            "survival_at",
            "quantile_at_least",
        )
        numbers = {name: getattr(self, name) for name in ("probability", "probability_at_most", *names)}
        return target_of(explainer, self.target, unit=self.unit, **numbers)

    def under(self) -> dict[str, Any]:
        """The cost and the constraints that the options say."""
        from butfor.cli.files import load
        from butfor.problem.constraints import names as rule
        from butfor.problem.written.costs import read_cost

        return {
            "cost": None if self.cost is None else read_cost(self.cost, f"--cost {self.cost}"),
            "constraints": [*(self.constraint or ()), *(rule.plausible(load(path)) for path in self.plausible or ())],
        }

    def question(self, explainer: Explainer) -> dict[str, Any]:
        """The target, the cost and the constraints that the options say."""
        return {"target": self.aim(explainer), **self.under()}


@dataclass(frozen=True)
class RowOptions:
    """The options that say which rows of which file are explained, and by which model."""

    model: Model
    data: Data
    training: Training = None
    row: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="The rows of DATA to explain, counted from 0: 3, or 3,5, or 0:10."),
    ] = None
    id: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            metavar="COLUMN=VALUE",
            help="The rows with this value in a column, such as case=A17; several as A17,A18.",
        ),
    ] = None
    where: Condition = None
    unmet: Unmet = False

    def read(self, asked: QuestionOptions) -> tuple[Explainer, Any, list[int]]:
        """The explainer, the table of the rows to explain, and where they stand in DATA."""
        from butfor.cli.files import load, read_table
        from butfor.groups.asking import case_of, in_need
        from butfor.space import frames

        estimator = load(self.model)
        table = read_table(self.data, estimator)
        height = frames.height(table)
        if not height:
            raise InputError(f"{self.data} has no rows.", "At least one is needed.")
        rows = self._rows(table)
        if self.training is None and (height < ROWS_KNOWN or len(rows) == height > 1):
            every = f"all {height}" if len(rows) == height else f"{len(rows)} of {height}"
            raise InputError(
                f"{every} rows of {self.data} are to be explained, and no other table was given.",
                "The values that a column may take would be known from these rows alone.",
                f"Give the table that the model was trained on: --training FILE (--training {self.data} if it is this one).",
            )
        explainer = asked.explainer(estimator, table if self.training is None else read_table(self.training, estimator))
        if self.unmet:
            case = case_of(explainer, frames.take(table, rows), **asked.question(explainer))
            rows = [rows[k] for k in in_need(case)]
        return explainer, frames.take(table, rows), rows

    def _rows(self, table: Any) -> list[int]:
        """The rows that the options choose, in the order of DATA unless they are counted."""
        from butfor.cli.parse import positions, with_ids
        from butfor.space import frames
        from butfor.space.where import rows_where

        height = frames.height(table)
        found = positions(self.row, height) if self.row or not (self.id or self.where or self.unmet) else range(height)
        if self.id:
            found = _kept(
                found, {row for text in self.id for row in with_ids(table, text)}, f"--id {' '.join(self.id)}"
            )
        if self.where is not None:
            found = _kept(found, set(rows_where(table, self.where).tolist()), f"--where {self.where!r}")
        return list(found)


def _kept(rows: Iterable[int], wanted: set[int], option: str) -> list[int]:
    """The rows that are wanted, too. None is an error."""
    found = [row for row in rows if row in wanted]
    if not found:
        raise InputError(f"{option} was given.", "No row of DATA is left to explain.")
    return found
