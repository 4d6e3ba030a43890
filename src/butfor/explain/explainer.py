"""The Explainer: from a row to a certified answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.saying import silence
from butfor.errors import InputError
from butfor.experimental import experimental
from butfor.explain.agreement import agreement
from butfor.explain.arguments import budget_of, count_of, seed_of, solver_of
from butfor.explain.asking import Asking
from butfor.explain.contributions import contributions_of
from butfor.explain.ladder import rungs, shares
from butfor.explain.menu import menu
from butfor.explain.notices import log_solved, point_out_rows_outside, point_out_unread
from butfor.explain.plan import plan
from butfor.explain.refuse import refused
from butfor.explain.solve import Search, confirm, solve
from butfor.explain.solve import compare as with_exact_bounds
from butfor.explain.supports import Supports
from butfor.explain.surroundings import Robustness, radii, surroundings
from butfor.explain.trade_off import against_changes, against_score
from butfor.explanation.column_words import Words
from butfor.explanation.contributions import Contributions
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.ladder import Ladder
from butfor.explanation.menu import Menu
from butfor.explanation.region import Region
from butfor.explanation.trade_off import TradeOff
from butfor.importers.read import Reading, read
from butfor.problem.costs import AbstractCost
from butfor.problem.question import ask
from butfor.problem.written.constraints import Constraints
from butfor.solvers.choose import supports
from butfor.solvers.solver import AbstractSolver
from butfor.space.feature import Override
from butfor.space.space import Space
from butfor.views.progress import bar

CLASSES_SHOWN = 5
"""How many classes the short text of an explainer names."""


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

    @property
    def fingerprint(self) -> str:
        """A hash of what the model computes. Equal models have the same hash in every process."""
        return self._asking.fingerprint

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self._reading, self._words)

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
          with its bound. Ctrl-C does the same. The first call of its kind also compiles, and that is not counted;
        - `time_limit_per_row`: seconds for each row, alone or beside `time_limit`;
        - `seed`: the seed of random draws;
        - `n_jobs`: how many threads share the rows, if the solver can use several (None: one; -1: one per processor).
          The answers do not depend on it;
        - `progress`: whether to show a bar (default: on a terminal, when the work takes long). False also leaves out
          the line that says that loops are compiled;
        - `compare`: "exact" adds the bound of an exact solver to answers of a solver that proves nothing.

        A single answer prints as a card and has the attributes `.point`, `.cost`, `.changes` and `.certificate`.
        """
        search = Search(count_of("k", k), solver_of(solver, self.space), seed_of(seed))
        if compare not in (None, "exact"):
            raise InputError(f"compare={compare!r} was given.", "Give 'exact', or leave it out.")
        budget = budget_of(time_limit, time_limit_per_row, n_jobs)
        verifier = self._asking.verifier(X, target, cost, constraints)
        point_out_rows_outside(self.space, verifier.factuals, stacklevel=2)
        with silence(progress is False):
            with bar(len(verifier), progress) as advance:
                outcome = solve(verifier, search, budget, advance)
            outcome, verdict = confirm(outcome, verifier, search, budget)
            if compare:
                outcome = with_exact_bounds(outcome, verifier, budget)
            answers = self._asking.answers(verifier, outcome, verdict, search, budget)
        log_solved(answers, budget)
        return answers

    def __call__(self, X: Any, **options: Any) -> Explanations:
        """The same as `explain`."""
        return self.explain(X, **options)

    def refuse(
        self, answer: Explanation | Explanations, *columns: str, time_limit: float | None = None
    ) -> Explanations:
        """The cheapest change that leaves some columns alone which an answer changes: "and if I refuse this?"

        The question is that of the answer, with the columns fixed: the same row, target, cost and constraints.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> answer = explainer.explain(X.iloc[[60]], target=2)
        >>> [change.name for change in answer.changes]
        ['petal length (cm)']
        >>> [change.name for change in explainer.refuse(answer, "petal length (cm)").changes]
        ['petal width (cm)']
        """
        budget = budget_of(time_limit, None, None)
        return self._asking.solved(refused(self._asking, answer.only, columns), budget)

    def menu(
        self,
        row: Any,
        target: Any = "other",
        *,
        most: int = 3,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        time_limit: float | None = None,
    ) -> Menu:
        """Every set of at most `most` columns that is worth changing, with its cheapest answer; and the other sets.

        Choose it to let a person choose. A set is worth changing if its change suffices, and if each part of it either
        does not suffice or costs more. The other sets provably do not suffice, or a part of each is as cheap.

        `row` is one row as a table or a dict. The other arguments are those of `explain`.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> menu = explainer.menu(X.iloc[[60]], target=2, most=2)
        >>> [[change.name for change in option.changes] for option in menu]
        [['petal length (cm)'], ['petal width (cm)']]
        >>> len(menu.impossible), len(menu.lines)
        (4, 11)
        """
        budget = budget_of(time_limit, None, None)
        verifier = self._asking.verifier(row, target, cost, constraints).of_one_row("a menu")
        point_out_rows_outside(self.space, verifier.factuals, stacklevel=2)
        return menu(verifier, most, budget, self._asking.solved)

    def ladder(
        self,
        row: Any,
        goals: Sequence[Any] | Mapping[str, Any],
        *,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        time_limit: float | None = None,
    ) -> Ladder:
        """The cheapest change of a row for each of several goals, and which goal comes next.

        Choose it for grades, or to see what more certainty costs. The goals are targets: probabilities of one class that
        increase, values or intervals that move one way, or classes in the order of the grades. A dict names them.

        `row` is one row as a table or a dict. The other arguments are those of `explain`.

        >>> from sklearn.datasets import load_iris
        >>> import butfor as bf
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(LogisticRegression(max_iter=1000).fit(X, y == 2), data=X)
        >>> ladder = explainer.ladder(X.iloc[[60]], [bf.probability(True, p) for p in (0.5, 0.7, 0.9)])
        >>> [round(rung.cost, 3) for rung in ladder]
        [0.275, 0.324, 0.402]
        """
        budget = budget_of(time_limit, None, None)
        named = rungs(goals, self._reading.source)
        asked = [self._asking.verifier(row, goal, cost, constraints).of_one_row("a ladder") for goal in named.values()]
        point_out_rows_outside(self.space, asked[0].factuals, stacklevel=2)
        found = [
            self._asking.solved(one, part).only for one, part in zip(asked, shares(budget, len(asked)), strict=True)
        ]
        return Ladder(tuple(named), tuple(found), asked[0].before.table, asked[0].before.outputs()[0])

    def cost_against_changes(
        self,
        row: Any,
        target: Any = "other",
        *,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        time_limit: float | None = None,
    ) -> TradeOff:
        """The cheapest change of a row with at most 1, 2, 3, ... changed columns, up to the cheapest of all.

        Choose it to see whether one more change is worth its while. The front is complete: with any limit on the number
        of changes, one of these answers is the cheapest.

        `row` is one row as a table or a dict. The other arguments are those of `explain`.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(LogisticRegression(max_iter=1000).fit(X, y), data=X)
        >>> front = explainer.cost_against_changes(X.iloc[[60]], target=2, cost="L2")
        >>> [(changes, round(answer.cost, 3)) for changes, answer in zip(front.numbers, front)]
        [(3, 0.07), (2, 0.071), (1, 0.083)]
        """
        budget = budget_of(time_limit, None, None)
        verifier = self._asking.verifier(row, target, cost, constraints).of_one_row("a trade-off")
        point_out_rows_outside(self.space, verifier.factuals, stacklevel=2)
        return against_changes(self._asking, verifier, budget)

    def cost_against_score(
        self,
        row: Any,
        target: Any,
        *,
        up_to: float | None = None,
        questions: int = 20,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        time_limit: float | None = None,
    ) -> TradeOff:
        """The cheapest change of a row for each score from the target on: what does it cost to be on the safe side?

        The score is the probability of a class, or the value of a regressor, and the target is where it starts, such as
        `bf.probability("approved", 0.5)`. Each answer is the cheapest one with its score. For scores between two
        answers, bounds of the cost are proven. Where the scores of a model are finitely many, enough questions find
        the whole front.

        - `row`: one row as a table or a dict;
        - `up_to`: the score where the front ends (default: the best score of a row in the data);
        - `questions`: how many scores are asked for, at most.

        The other arguments are those of `explain`.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> front = explainer.cost_against_score(X.iloc[[60]], bf.probability(2, 0.5))
        >>> [(round(score, 3), round(answer.cost, 3)) for score, answer in zip(front.numbers, front)]
        [(0.667, 0.246), (1.0, 0.541)]
        >>> front.complete
        True
        """
        questions = count_of("questions", questions)
        budget = budget_of(time_limit, None, None)
        verifier = self._asking.verifier(row, target, cost, constraints).of_one_row("a trade-off")
        point_out_rows_outside(self.space, verifier.factuals, stacklevel=2)
        return against_score(self._asking, verifier, up_to, questions, budget)

    def region(self, row: Any, *, target: Any, whole_numbers: bool = True) -> Region:
        """The widest box around a row that meets the target, in which the target is met everywhere.

        Choose it to say "anything from 50,000 to 54,200" instead of "50,000". No side of the box can be moved out
        further: behind each stands a row that misses the target, or the end of the column's range. Levels stay as they
        are, and so do whole numbers if `whole_numbers` is False.

        `row` is one row as a table or a dict, or an answer (then it is its point).
        """
        radius = radii(self._reading, whole_numbers)
        return surroundings(self._asking.one(row), target, self._asking.referee(), "linf", radius).region()

    def robustness(self, row: Any, *, target: Any, norm: Literal["linf", "l2", "l1"] = "linf") -> Robustness:
        """The largest radius around a row within which the target is met everywhere, and a row just outside.

        The radius is measured in ranges of the columns, as in `bf.robust`. `row` is one row as a table or a dict, or an
        answer (then it is its point).
        """
        return surroundings(self._asking.one(row), target, self._asking.referee(), norm, 1.0).robustness()

    def agreement(self, answers: Explanation | Explanations, models: Iterable[Any]) -> FloatArray:
        """The share of other models by whose prediction each answer meets its target, too.

        Choose it to see whether answers survive retraining: give refits that were not in `bf.robust_to`. The models are
        only called, so they may be of any kind that reads the same columns. Where no answer was found, it is NaN.
        """
        return agreement(answers, models, self._reading.source)

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
        before = self._asking.predicted(self._typical() if X is None else X)
        referee = self._asking.referee(question.target)
        part = next(plan(question, referee, self.space.encode(before.table), before))
        return Supports(supports(part.problem.form()))

    def _typical(self) -> Any:
        typical = np.array([[feature.typical for feature in self.space.features]])
        return self.space.decode(typical, self._reading.sample)
