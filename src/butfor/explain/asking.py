"""A model that can be asked: from rows and a question to certified answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from butfor.compiled.clock import now
from butfor.errors import InputError, UnknownColumnError, choice
from butfor.estimator.prediction import Prediction
from butfor.explain.blame import conflicts
from butfor.explain.evidence import EVIDENCE_NOTED, evidence_of
from butfor.explain.notices import point_out_rows_outside
from butfor.explain.solve import Search, confirm, solve
from butfor.explanation.column_words import Words
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations, ranks_of
from butfor.explanation.question_record import record
from butfor.importers.read import Reading
from butfor.problem.costs import AbstractCost
from butfor.problem.question import ask
from butfor.problem.referee import Referee
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.written.constraints import Constraints
from butfor.solvers.outcome import LEFT_OPEN, Outcome
from butfor.solvers.solver import Budget
from butfor.space import frames
from butfor.space.data_fingerprint import data_fingerprint
from butfor.space.given import rows_given
from butfor.space.space import Space
from butfor.verdict.case import Case
from butfor.verdict.certificate import Certificates
from butfor.verdict.verify import CHECKS, Verdict, scores
from butfor.verdict.versions import versions_of

ONE_EACH = Search()
"""One answer to each row, by the first solver that fits."""


@dataclass(eq=False)
class Asking:
    """A model that was read, and what is kept for all questions to it.

    - `words`: how the answers call columns and predictions;
    - `noted`: what is noted with each answer;
    - `known`: what was read for constraints, by the columns that nothing reads.
    """

    reading: Reading
    words: Words | None = None
    noted: dict[str, Any] = field(default_factory=dict)
    known: dict[tuple[str, ...], dict[Any, Any]] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """A hash of what the model computes."""
        return self.reading.fingerprint

    @cached_property
    def data_fingerprint(self) -> str:
        """A hash of the values of the data."""
        return data_fingerprint(self.reading.data)

    @cached_property
    def versions(self) -> dict[str, str]:
        """The versions of the libraries that the answers depend on."""
        return versions_of(self.reading.source.estimator)

    def referee(self, target: AbstractTarget | None = None, reading: Reading | None = None) -> Referee:
        """Who helps constraints, given what is wanted. A question may hold more columns to the rules than the model reads."""
        reading = reading or self.reading
        return Referee(reading, target, self.known.setdefault(reading.space.unread, {}))

    def predicted(self, X: Any) -> Prediction:
        """The rows as a table, and what the estimator predicts for them."""
        table = rows_given(self.reading.data, X, self.reading.space.unread)
        if frames.height(table) == 0:
            raise InputError("no row was given to explain.", "At least one is needed.")
        self.reading.space.check_columns(table)
        return Prediction(self.reading.source, table)

    def one(self, row: Any) -> Any:
        """One row as a table. An answer stands for its point."""
        if isinstance(row, Explanations):
            row = row.only
        if isinstance(row, Explanation):
            if row.point is None:
                raise InputError("an answer without a point was given.", "It must be found.", "Give a row.")
            row = row.point
        return self.predicted(row).table

    def case(self, X: Any, target: Any, cost: AbstractCost | str | None = None, constraints: Constraints = ()) -> Case:
        """The question as the user wrote it, and its rows."""
        reading, question = ask(self.reading, target, cost, constraints)
        before = self.predicted(X)
        _check_named(self.reading.space, reading.space, before.table)
        question = question.settled(reading.readout, before)
        codes = reading.space.encode(before.table)
        for constraint in question.constraints:
            constraint.check_rows(reading.space, codes)
        return Case(question, self.referee(question.target, reading), codes, before).begun()

    def one_row(
        self, what: str, row: Any, target: Any, cost: AbstractCost | str | None, constraints: Constraints
    ) -> Case:
        """The question about a single row, of which a public method makes something."""
        case = self.case(row, target, cost, constraints)
        if len(case) != 1:
            raise InputError(f"{len(case)} rows were given.", f"It takes one row to make {what}.", "Choose one.")
        point_out_rows_outside(case.referee.space, case.factuals)
        return case

    def typical(self) -> Any:
        """A row that is like many, as a table."""
        codes = np.array([[feature.typical for feature in self.reading.space.features]])
        return self.reading.space.decode(codes, self.reading.sample)

    def solved(
        self,
        case: Case,
        budget: Budget,
        search: Search = ONE_EACH,
        advance: Callable[[int], None] = lambda rows: None,
    ) -> Explanations:
        """The answers to each row of a case (default: one). `advance` is told how many more rows are done."""
        outcome, verdict = confirm(solve(case, search, budget, advance), case, search, budget)
        return self.answers(case, outcome, verdict, search, budget)

    def answers(self, case: Case, outcome: Outcome, verdict: Verdict, search: Search, budget: Budget) -> Explanations:
        """The answers with their certificates. An answer that failed a check is not shown as found."""
        target = case.question.target
        blamed, stopped = conflicts(outcome, case, budget, search.blame)
        certificates = Certificates(
            target=repr(target),
            cost=verdict.cost,
            bound=outcome.bound,
            stopped=stopped,
            checks=tuple(check.format(target=target) for check in CHECKS.values()),
            passed=verdict.passed,
            credit=outcome.credit,
            notes={name: note for name, note in outcome.notes.items() if name not in EVIDENCE_NOTED},
            evidence=evidence_of(outcome, case, verdict, budget, blamed),
            left_open=outcome.notes.get(LEFT_OPEN),
            conflict=blamed,
            seconds=(now() - budget.start) / len(outcome),
            seed=search.seed,
            fingerprint=case.referee.reading.fingerprint,
            versions=self.versions,
            coin=case.question.prices.coin,
            ranks=ranks_of(outcome.row),
        )
        found = np.array([status.found for status in certificates.statuses], dtype=np.bool_)
        outputs = target.outputs(case.before)
        return Explanations(
            space=case.referee.space,
            rows=outcome.row,
            factual_codes=case.factuals,
            point_codes=outcome.points,
            table=case.before.table,
            outputs_before=[outputs[row] for row in outcome.row],
            outputs_after=verdict.after,
            scores=scores(case, outcome, verdict),
            costs=np.where(found, verdict.cost, np.inf),
            certificates=certificates,
            question=record(case.question, search.different),
            model=type(self.reading.source.estimator).__name__,
            data_fingerprint=self.data_fingerprint,
            words=self.words,
            meta=self.noted,
        )


def _check_named(read: Space, asked: Space, table: Any) -> None:
    """Refuse rows that lack a column which only the question names. The model drops it, so rows may come without it."""
    absent = set(read.unread) - set(asked.unread) - set(frames.names(table))
    if absent:
        raise UnknownColumnError(
            choice("the question names columns that the rows lack:", None, sorted(absent))[0],
            "The model drops them, but the question is about what they hold.",
            "Give rows with these columns, or leave them out of the question.",
        )
