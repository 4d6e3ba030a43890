"""What a dossier is made of: the answers to a sample of rows, asked one by one, and what other modules say about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor import groups
from butfor.arrays import IntArray
from butfor.audit.drawn import drawn
from butfor.errors import ButforError, InputError
from butfor.estimator.inside import is_pipeline
from butfor.explain.arguments import budget_of, seed_of
from butfor.explain.explainer import Explainer
from butfor.explanation.changes import PLAIN_WORDS, shown
from butfor.explanation.concat import concat
from butfor.explanation.explanations import Explanations
from butfor.groups.asking import case_of, in_need
from butfor.groups.firsts import Firsts, firsts, groups_of
from butfor.importers.faithful import Faithful, faithful
from butfor.proof.provable import why_none
from butfor.report.lines import Line, lines_of
from butfor.solvers.outcome import Stopped
from butfor.solvers.solver import Budget
from butfor.space import frames
from butfor.views.progress import bar

MOST_ROWS_COMPARED = 10_000
"""On so many rows of the data, at most, the model that was read is compared with the estimator."""

MOST_GROUPS = 50
"""A column with more values than this makes no groups that anybody compares."""

SHORTEST_TURN = 1e-3
"""The seconds that a row gets at least, when the time is over. So it still gets an outcome."""


@dataclass(frozen=True)
class DossierWish:
    """What a dossier is asked for.

    - `question`: target, cost and constraints, as for `explain`;
    - `sample`: how many rows are drawn: a share, or a number;
    - `groups`: the columns by which rows are compared;
    - `files`: the files that model and data come from, by what they are;
    - `command`: what makes the dossier again.
    """

    question: Mapping[str, Any]
    sample: Any
    groups: tuple[str, ...]
    seed: int
    time_limit: float | None
    time_limit_per_row: float | None
    files: Mapping[str, Any]
    command: str


@dataclass(frozen=True, eq=False)
class Material:
    """What a dossier is made of.

    - `rows`: how many rows were given; `needing`: how many of them do not meet the target;
    - `drawn`: how many of these were drawn; fewer answers mean that Ctrl-C ended it;
    - `faithful`: how faithfully the model was read (None: it was not read);
    - `bias`: for each column that makes groups, the lines of the bias check, or why there are none.
    """

    explainer: Explainer
    wish: DossierWish
    rows: int
    needing: int
    drawn: int
    answers: Explanations
    faithful: Faithful | None
    bias: Mapping[str, list[Line] | str]

    @cached_property
    def firsts(self) -> Firsts:
        """The answers in columns, as `bf.groups` counts them."""
        return firsts(self.answers)

    @cached_property
    def seconds(self) -> list[float]:
        """How long each row took."""
        return [one.seconds for one in self.answers.certificates]

    @cached_property
    def unprovable(self) -> list[str]:
        """Why no proof is made of each answer; empty if one may be made."""
        return why_none(self.answers, self.explainer.model)

    @property
    def model(self) -> str:
        """The class of the estimator. A pipeline is called by its last step, too."""
        model, name = self.explainer.model, self.answers.model
        return f"{name} with {type(model.steps[-1][1]).__name__}" if is_pipeline(model) else name

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return len(self.answers) < self.drawn

    def label(self, name: str) -> str:
        """The name of a column for people."""
        words = self.answers.words.columns.get(name) if self.answers.words else None
        return words.label if words and words.label else name

    def show(self, name: str, value: Any) -> str:
        """A value of a column for people."""
        words = self.answers.words.columns.get(name) if self.answers.words else None
        return shown(value, words or PLAIN_WORDS)


def gathered(explainer: Explainer, X: Any, wish: DossierWish, progress: bool | None) -> Material:
    """Ask, compare and count. What is wrong is said before the first row is asked."""
    budget, seed = budget_of(wish.time_limit, wish.time_limit_per_row, None), seed_of(wish.seed)
    case = case_of(explainer, X, **wish.question)
    table, needing = case.before.table, in_need(case)
    rows = needing[drawn(len(needing), wish.sample, seed)]
    _check_groups(table, wish.groups)
    compared = faithful(explainer.reading, frames.take(table, drawn(frames.height(table), MOST_ROWS_COMPARED, seed)))
    with bar(len(rows), progress, "asking") as advance:
        answers = _answers(explainer, table, rows, wish, budget, advance)
    made = Material(explainer, wish, frames.height(table), len(needing), len(rows), answers, compared, {})
    if made.interrupted:
        return made
    some = frames.take(table, rows)
    return replace(made, bias={name: _flips(explainer, some, name, wish, budget) for name in wish.groups})


def _check_groups(table: Any, names: Sequence[str]) -> None:
    """Each column must be there, and have few values."""
    for name in names:
        values = {str(one) for one in frames.named_column(table, name, f"groups={name!r}")}
        if len(values) > MOST_GROUPS:
            raise InputError(
                f"groups={name!r} was given, and the column has {len(values):,} values.",
                f"At most {MOST_GROUPS} groups are compared.",
                "Add a column of bands, such as under 25, 25 to 60, over 60.",
            )


def _answers(
    explainer: Explainer, table: Any, rows: IntArray, wish: DossierWish, budget: Budget, advance: Callable[[int], None]
) -> Explanations:
    """The answer to each row, asked alone, so that its time is known. Ctrl-C ends with those that are done."""
    found = list[Explanations]()
    for place, row in enumerate(rows.tolist()):
        limits = [max(budget.left() / (len(rows) - place), SHORTEST_TURN), budget.per_row]
        limit = None if np.isinf(min(limits)) else min(limits)
        try:
            one = explainer.explain(
                frames.take(table, [row]), **wish.question, time_limit=limit, seed=wish.seed, progress=False
            )  # fmt: skip
        except KeyboardInterrupt:
            if not found:
                raise
            break
        if one.only.certificate.stopped is Stopped.INTERRUPTED:
            if not found:
                raise KeyboardInterrupt
            break
        found.append(replace(one, rows=np.array([row]), table_rows=np.array([0])))
        advance(1)
    return concat(found)


def _flips(explainer: Explainer, table: Any, name: str, wish: DossierWish, budget: Budget) -> list[Line] | str:
    """The lines of the bias check about a column, or why there are none."""
    limit = None if np.isinf(budget.left()) else max(budget.left(), SHORTEST_TURN)
    try:
        return lines_of(groups.flips(explainer, table, name, target=wish.question.get("target"), time_limit=limit))
    except ButforError as error:
        return error.given


def several(material: Material, name: str) -> bool:
    """Whether a column makes at least two groups of the rows that were asked."""
    return len(groups_of(material.firsts, name)) > 1
