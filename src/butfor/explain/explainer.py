"""The Explainer: from a row to a certified answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from butfor.compiled.saying import silence
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.experimental import experimental
from butfor.explain.arguments import budget_of, count_of, seed_of
from butfor.explain.blame import conflicts
from butfor.explain.contributions import contributions_of
from butfor.explain.decision_map import decision_map
from butfor.explain.grid import VALUES_PER_COLUMN
from butfor.explain.notices import point_out_rows_outside, point_out_unread
from butfor.explain.plan import plan
from butfor.explain.solve import Search, confirm, solve
from butfor.explain.solve import compare as with_exact_bounds
from butfor.explain.surroundings import Robustness, surroundings
from butfor.explain.tree_path import tree_path
from butfor.explanation.column_words import Words
from butfor.explanation.contributions import Contributions
from butfor.explanation.decision_map import DecisionMap
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.question_record import record
from butfor.explanation.region import Region
from butfor.explanation.tree_path import TreePath
from butfor.importers.read import Reading, read
from butfor.log import LOG
from butfor.model.fingerprint import fingerprint
from butfor.problem.constraints.robust import read_in_bins
from butfor.problem.costs import AbstractCost
from butfor.problem.question import ask
from butfor.problem.referee import Referee
from butfor.problem.written.constraints import Constraints
from butfor.solvers.choose import supports
from butfor.solvers.outcome import Outcome
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.space import frames
from butfor.space.feature import Override
from butfor.space.space import Space
from butfor.space.writing import one_row
from butfor.verdict.certificate import Certificates
from butfor.verdict.verify import CHECKS, Verdict, Verifier
from butfor.verdict.versions import library_versions
from butfor.views.progress import bar
from butfor.views.text import plain, table

CLASSES_SHOWN = 5
"""How many classes the short text of an explainer names."""


class Supports(list[tuple[AbstractSolver, Support]]):
    """Every solver, with whether it takes a problem. It prints one line per solver."""

    def __repr__(self) -> str:
        lines = [(solver.name, "yes" if support else "no", support.why) for solver, support in self]
        return plain(table(("solver", "takes it", "why"), lines))


class Explainer:
    """Finds the cheapest change to a row that makes a fitted model answer differently.

    Every answer has a certificate.

    - `model`: a fitted scikit-learn estimator or pipeline, or an object of a class taught with `register_importer`;
    - `data`: the rows that the model was trained on. They say which values each column takes;
    - `space`: declarations of single columns, which override what is inferred from the data;
    - `words`: how the answers call columns and predictions (see `bf.describe`).

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
    >>> answer = explainer.explain(X.iloc[[60]], target=2)
    >>> answer.certificate.status.name
    'PROVEN_OPTIMAL'
    """

    def __init__(
        self, model: Any, data: Any, *, space: Mapping[str, Override] | None = None, words: Words | None = None
    ) -> None:
        self._reading = read(model, data, space)
        self._words = words
        if words is not None:
            words.validate(self.space)
        point_out_unread(self._reading, stacklevel=2)

    def __repr__(self) -> str:
        classes = self._reading.source.classes
        shown = ", ".join(map(repr, classes[:CLASSES_SHOWN])) + (", ..." if len(classes) > CLASSES_SHOWN else "")
        predicts = f"predicts {shown}" if classes else "predicts a number"
        return f"<Explainer of a {type(self.model).__name__} that reads {len(self.space)} columns and {predicts}>"

    @classmethod
    def from_reading(cls, reading: Reading) -> Explainer:
        """An explainer over a model that was read before."""
        made = cls.__new__(cls)
        made._reading = reading
        made._words = None
        return made

    @property
    @experimental
    def reading(self) -> Reading:
        """All that was read: the estimator, its columns, the model, and its readout."""
        return self._reading

    @property
    def space(self) -> Space:
        """What is known about each column: kind, range, levels. Print it to see."""
        return self._reading.space

    @property
    def model(self) -> Any:
        """The estimator as it was given."""
        return self._reading.source.estimator

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the model computes. Equal models have the same hash in every process."""
        return fingerprint(self._reading.model, self._reading.readout.classes)

    def explain(
        self,
        X: Any,
        *,
        target: Any = "other",
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        k: int = 1,
        solver: str | AbstractSolver = "auto",
        time_limit: float | None = None,
        time_limit_per_row: float | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: bool | None = None,
        compare: Literal["exact"] | None = None,
    ) -> Explanations:
        """The cheapest admissible change of each row of `X` that meets the target.

        - `X`: rows as a table of any kind, or one row as a dict from column to value;
        - `target`: a class, a collection of classes, a dict of class costs, "other", or one of `bf.probability`,
          `bf.value`, `bf.relative_change`, `bf.survival`;
        - `cost`: what a change costs (default: `bf.L1()`), also as text: "L1+0.5*L0";
        - `constraints`: what a change must respect: a list of constraints, or of texts such as "income <= 90000";
        - `k`: how many answers per row, at most;
        - `solver`: a name, or a solver with its own settings, such as `bf.Swarm(particles=200)`;
        - `time_limit`: seconds for the whole call, shared fairly among the rows. What was found by then is returned
          with its bound. Ctrl-C does the same;
        - `time_limit_per_row`: seconds for each row, alone or beside `time_limit`;
        - `seed`: the seed of random draws;
        - `n_jobs`: how many threads share the rows, if the solver can use several (None: one; -1: one per processor).
          The answers do not depend on it;
        - `progress`: whether to show a bar (default: on a terminal, when the work takes long). False also leaves out
          the line that says that loops are compiled;
        - `compare`: "exact" adds the bound of an exact solver to answers of a solver that proves nothing.

        A single answer prints as a card and has the attributes `.point`, `.cost`, `.changes` and `.certificate`.
        """
        question = ask(self.space, self._reading.source, target, cost, constraints)
        search = Search(count_of(k), self._checked(solver), seed_of(seed))
        if compare not in (None, "exact"):
            raise InputError(f"compare={compare!r} was given.", "Give 'exact', or leave it out.")
        budget = budget_of(time_limit, time_limit_per_row, n_jobs)
        before = self._predicted(X)
        question = question.settled(self._reading.readout, before)
        referee = Referee(self._reading, question.target, self._known)
        verifier = Verifier(question, referee, self.space.encode(before.table), before)
        point_out_rows_outside(self.space, verifier.factuals, stacklevel=2)
        with silence(progress is False):
            with bar(before.height, progress) as advance:
                outcome = solve(verifier, search, budget, advance)
            outcome, verdict = confirm(outcome, verifier, search, budget)
            if compare:
                outcome = with_exact_bounds(outcome, verifier, budget)
            answers = self._answers(verifier, outcome, verdict, search, budget)
        if budget.spent():
            LOG.info(answers.summary)
        return answers

    def region(self, row: Any, *, target: Any, whole_numbers: bool = True) -> Region:
        """The widest box around a row that meets the target, in which the target is met everywhere.

        Choose it to say "anything from 50,000 to 54,200" instead of "50,000". No side of the box can be moved out
        further: behind each stands a row that misses the target, or the end of the column's range. Levels stay as they
        are, and so do whole numbers if `whole_numbers` is False.

        `row` is one row as a table or a dict, or an answer (then it is its point).
        """
        binned = read_in_bins(self._reading.model)
        radius: dict[str, float] = {
            feature.name: feature.range
            for j, feature in enumerate(self.space)
            if feature.levels is None and (whole_numbers or not feature.step) and j not in binned
        }
        return surroundings(self._one(row), target, self._referee(), "linf", radius).region()

    def robustness(self, row: Any, *, target: Any, norm: Literal["linf", "l2", "l1"] = "linf") -> Robustness:
        """The largest radius around a row within which the target is met everywhere, and a row just outside.

        The radius is measured in ranges of the columns, as in `bf.robust`. `row` is one row as a table or a dict, or an
        answer (then it is its point).
        """
        return surroundings(self._one(row), target, self._referee(), norm, 1.0).robustness()

    def contributions(self, answer: Explanation | Explanations, *, seed: int = 0) -> Contributions:
        """What each change of an answer contributes to its score and its cost.

        Choose it to say which of several changes matters how much. The parts of the score are Shapley values: the mean
        of what a change adds, over all orders in which the changes can be made. With v(S) the score after the changes
        S, change i contributes the mean of v(S + i) - v(S). The parts add up to the whole difference.

        The model is asked once, about all 2^k subsets of k changes. Of more than 10 changes, the subsets lie along
        random orders, which depend on `seed`. `rule` says which was done.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> explainer = Explainer(LogisticRegression(max_iter=1000).fit(X, y), data=X)
        >>> parts = explainer.contributions(explainer.explain(X[:1], target=1))
        >>> bool(abs(sum(parts.score) - (parts.answer.score.after - parts.answer.score.before)) < 1e-9)
        True
        """
        return contributions_of(answer.only, self._reading, seed)

    def decision_map(
        self,
        answers: Explanation | Sequence[Explanation],
        columns: tuple[str, str] | None = None,
        *,
        others: Literal["row", "answer"] = "row",
        region: Region | None = None,
        steps: int = VALUES_PER_COLUMN,
    ) -> DecisionMap:
        """What the model decides over two columns, around a row and its answers.

        Choose it to see how far away the boundary is, and why an answer lies where it does. All rows of the map are
        predicted in one batch.

        - `answers`: an answer, or several to one row;
        - `columns`: the column across and the one upwards (default: those that the first answer moves most);
        - `others`: whether all other columns are as in the row, or as in the first answer. If that changes more than
          two columns, the target is met around it only with "answer";
        - `region`: a region to draw, such as `explainer.region(answer, target=...)`;
        - `steps`: how many values of each column are asked about, at most.
        """
        return decision_map(answers, columns, others, region, steps, self._reading)

    def tree_path(self, answer: Explanation | Explanations) -> TreePath:
        """The way of an answer through the model, if that is one decision tree, and which splits it crosses."""
        return tree_path(answer.only, self._reading)

    def _one(self, row: Any) -> Any:
        """One row as a table. An answer stands for its point."""
        if isinstance(row, Explanations):
            row = row.only
        if isinstance(row, Explanation):
            if row.point is None:
                raise InputError("an answer without a point was given.", "It must be found.", "Give a row.")
            row = row.point
        return self._predicted(row).table

    def _referee(self) -> Referee:
        return Referee(self._reading, None, self._known)

    def solvers(
        self,
        target: Any = "other",
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        X: Any = None,
    ) -> Supports:
        """Every solver, with whether it takes such a problem, and why.

        The problem is that of the rows `X` (default: one typical row).
        """
        question = ask(self.space, self._reading.source, target, cost, constraints)
        before = self._predicted(self._typical() if X is None else X)
        referee = Referee(self._reading, question.target, self._known)
        part = next(plan(question, referee, self.space.encode(before.table), before))
        return Supports(supports(part.problem.form()))

    def _typical(self) -> Any:
        typical = np.array([[feature.typical for feature in self.space.features]])
        return self.space.decode(typical, self._reading.sample)

    @cached_property
    def _known(self) -> dict[Any, Any]:
        """What was read for constraints: once, for all questions."""
        return {}

    def _predicted(self, X: Any) -> Prediction:
        """The rows as a table, and what the estimator predicts for them.

        One row may be a dict. It becomes a table of the kind of the data.
        """
        table = one_row(self._reading.data, X) if isinstance(X, Mapping) else frames.as_table(X)
        if frames.height(table) == 0:
            raise InputError("no row was given to explain.", "At least one is needed.")
        self.space.check_columns(table)
        return Prediction(self._reading.source, table)

    def _checked(self, solver: str | AbstractSolver) -> str | AbstractSolver:
        if isinstance(solver, AbstractSolver):
            solver.validate(self.space)
        return solver

    def _answers(
        self, verifier: Verifier, outcome: Outcome, verdict: Verdict, search: Search, budget: Budget
    ) -> Explanations:
        """The answers with their certificates. An answer that failed a check is not shown as found."""
        target = verifier.question.target
        blamed, stopped = conflicts(outcome, verifier, budget)
        certificates = Certificates(
            target=repr(target),
            cost=verdict.cost,
            bound=outcome.bound,
            stopped=stopped,
            checks=tuple(check.format(target=target) for check in CHECKS.values()),
            passed=verdict.passed,
            credit=outcome.credit,
            notes=outcome.notes,
            conflict=blamed,
            seconds=(time.perf_counter() - budget.start) / len(outcome),
            seed=search.seed,
            fingerprint=self.fingerprint,
            versions=library_versions(),
        )
        found = np.array([status.found for status in certificates.statuses], dtype=np.bool_)
        outputs = target.outputs(verifier.before)
        return Explanations(
            space=self.space,
            rows=outcome.row,
            factual_codes=verifier.factuals,
            point_codes=outcome.points,
            table=verifier.before.table,
            outputs_before=[outputs[row] for row in outcome.row],
            outputs_after=verdict.after,
            scores=verifier.scores(outcome, verdict),
            costs=np.where(found, verdict.cost, np.inf),
            certificates=certificates,
            question=record(verifier.question),
            model=type(self.model).__name__,
            words=self._words,
        )
