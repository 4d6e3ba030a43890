"""The Explainer: from a row to a certified answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

from butfor.arrays import FloatArray
from butfor.compiled.saying import silence
from butfor.errors import InputError, suggests
from butfor.experimental import experimental
from butfor.explain.agreement import agreement
from butfor.explain.arguments import budget_of, count_of, limits_of, meta_of, seed_of, solver_of
from butfor.explain.asking import Asking
from butfor.explain.contributions import contributions_of
from butfor.explain.decision_map import decision_map
from butfor.explain.different import difference_of
from butfor.explain.given_rows import GivenRows
from butfor.explain.grid import VALUES_PER_COLUMN
from butfor.explain.improving import IMPROVING_SECONDS, improving
from butfor.explain.many_rows import ManyRows
from butfor.explain.notices import log_solved, point_out_mismatch, point_out_rows_outside, point_out_unread
from butfor.explain.plan import plan
from butfor.explain.rules import Rules, rules_given, spoken
from butfor.explain.several import SeveralAnswers
from butfor.explain.solve import Search, confirm, solve
from butfor.explain.solve import compare as with_exact_bounds
from butfor.explain.supports import Supports
from butfor.explain.surroundings import Robustness, radii, surroundings
from butfor.explain.tree_path import tree_path
from butfor.explanation.column_words import Words, words_over
from butfor.explanation.contributions import Contributions
from butfor.explanation.decision_map import DecisionMap
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.region import Region
from butfor.explanation.tree_path import TreePath
from butfor.importers.read import OnMismatch, Reading, read
from butfor.ledger.log import Log, log_of, logged
from butfor.problem.constraints.names import robust
from butfor.problem.costs import AbstractCost
from butfor.problem.question import ask
from butfor.problem.written.constraints import Constraints
from butfor.solvers.choose import supports
from butfor.solvers.solver import AbstractSolver
from butfor.space.infer import Declaration
from butfor.space.space import Space
from butfor.views.progress import bar

CLASSES_SHOWN = 5
"""How many classes the short text of an explainer names."""


@suggests
class Explainer(SeveralAnswers, ManyRows, GivenRows):
    """Finds the cheapest change to a row that makes a fitted model answer differently.

    Every answer has a certificate.

    - `model`: a fitted estimator or pipeline, any object with `predict`, or a function of rows. It may also be the path
      of a file that holds no code: of XGBoost, LightGBM, CatBoost, ONNX, PMML, skops or treelite. It is read here: make
      another explainer if you fit it again;
    - `data`: the rows that the model was trained on. They say which values each column takes;
    - `space`: declarations of single columns, which override what is inferred from the data, and of columns that are one
      feature (`bf.one_hot`);
    - `words`: how the answers call columns and predictions (see `bf.describe`);
    - `rules`: what is asked in every question (see `bf.rules`). A call may add constraints to theirs. Whatever else they
      have (a target, a cost, a safety, words, a column's declaration) must not be given again;
    - `on_mismatch`: what to do if the model that was read predicts something else than the estimator on up to 200 rows
      of the data. "raise": an error says why. "search": the estimator is searched like any function, and nothing is proven.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
    >>> answer = explainer.explain(X.iloc[[60]], target=2)
    >>> answer.certificate.status.name
    'PROVEN_OPTIMAL'
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        space: Mapping[str, Declaration] | None = None,
        words: Words | None = None,
        rules: Rules | None = None,
        on_mismatch: OnMismatch = "raise",
    ) -> None:
        self._rules = rules_given(rules)
        self._reading = self._rules.check(read(model, data, self._rules.declared(space), on_mismatch))
        told = spoken(self._rules, words)
        told = None if told is None else words_over(told, self.space)
        self._asking = Asking(self._reading, told, self._rules.noted)
        point_out_unread(self._reading)
        point_out_mismatch(self._reading)

    def __repr__(self) -> str:
        classes = self._reading.source.classes
        shown = ", ".join(map(repr, classes[:CLASSES_SHOWN])) + (", ..." if len(classes) > CLASSES_SHOWN else "")
        count = sum(not feature.unread for feature in self.space)
        predicts = f"predicts {shown}" if classes else "predicts a number"
        return f"<Explainer of a {type(self.model).__name__} that reads {count} columns and {predicts}>"

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
    @experimental
    def words(self) -> Words | None:
        """How the answers call columns and predictions; None if by their own names. See `bf.describe`."""
        return self._asking.words

    @property
    def rules(self) -> Rules:
        """What is asked in every question. See `bf.rules`."""
        return self._rules

    @property
    def fingerprint(self) -> str:
        """A hash of what the model computes. Equal models have the same hash in every process."""
        return self._asking.fingerprint

    @property
    def data_fingerprint(self) -> str:
        """A hash of the values of the data. Equal tables have the same hash, whichever library holds them."""
        return self._asking.data_fingerprint

    def explain(
        self,
        X: Any,
        target: Any = None,
        *,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        safety: float | None = None,
        k: int = 1,
        different: Literal["columns", "leaves"] | float | None = None,
        solver: str | AbstractSolver = "auto",
        time_limit: float | None = None,
        time_limit_per_row: float | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: bool | None = None,
        compare: Literal["exact"] | None = None,
        conflicts: int | Literal["all"] | None = None,
        meta: Mapping[str, Any] | None = None,
        log: Log | str | PathLike[str] | None = None,
    ) -> Explanations:
        """The cheapest admissible change of each row of `X` that meets the target.

        - `X`: rows as a table of any kind, one row as a dict from column to value or as a series (`X.iloc[0]`), or a
          list of such dicts;
        - `target`: a class, a collection of classes, a dict of class costs, "other" (the default, unless the rules of the
          explainer say another), or one of `bf.probability`, `bf.value`, `bf.relative_change`, `bf.survival`;
        - `cost`: what a change costs (default: `bf.L1()`), also as text: "L1+0.5*L0";
        - `constraints`: what a change must respect: a list of constraints, or of texts such as "income <= 90000";
        - `safety`: by how much more than the target is asked for, on its own scale: with 0.05, a class is to have a
          probability of 0.55 where 0.5 decides. For a value it is in the unit of the value;
        - `k`: how many answers per row, at most;
        - `different`: what makes the next answer a different one. "columns": it leaves at least one column alone that an
          earlier one changes. "leaves": it lies in another leaf of the tree, and does not just go farther than an earlier
          one. A number such as 0.1: in some column it is that share of the range, or a level, away from each earlier one.
          Default: leaves for a tree, the cheapest rows among given rows, columns for everything else;
        - `solver`: a name, or a solver with its own settings, such as `bf.Swarm(particles=200)`;
        - `time_limit`: seconds for the whole call, shared fairly among the rows. What was found by then is returned
          with its bound. Ctrl-C does the same. The first call of its kind also compiles, and that is not counted;
        - `time_limit_per_row`: seconds for each row, alone or together with `time_limit`, and as many again for the
          search for its conflict;
        - `seed`: the seed of random draws;
        - `n_jobs`: how many threads share rows that take long, if the solver can use several (None: one; -1: one per processor).
          The answers do not depend on it;
        - `progress`: whether to show a bar (default: on a terminal, when the work takes long). False also leaves out
          the line that says that loops are compiled;
        - `compare`: "exact" adds the bound of an exact solver to answers of a solver that proves nothing;
        - `conflicts`: in how many impossible rows to look for a smallest set of constraints that makes them so: False (in
          none, for the shortest wait), a number, or "all". Default: in the first ten, with a third of the effort;
        - `meta`: what to note with the answers, such as the number of a case: a dict of plain values. It is kept in every
          record of them;
        - `log`: where the answers are logged before they are returned: a path, a URL, or a `bf.Log`. If they cannot be, an
          error is raised.

        A single answer prints as a card and has the attributes `.point`, `.cost`, `.changes` and `.certificate`.
        """
        search = Search(
            count_of("k", k),
            solver_of(solver, self.space),
            seed_of(seed),
            difference_of(different),
            limits_of(conflicts),
        )
        if compare not in (None, "exact"):
            raise InputError(f"compare={compare!r} was given.", "Give 'exact', or leave it out.")
        noted, budget = meta_of(meta), budget_of(time_limit, time_limit_per_row, n_jobs)
        case = self._asking.case(X, *self._rules.asked(target, cost, constraints, safety))
        point_out_rows_outside(case.referee.space, case.factuals)
        with log_of(log) as ledger, silence(progress is False):
            with bar(len(case), progress) as advance:
                outcome = solve(case, search, budget, advance)
            outcome, verdict = confirm(outcome, case, search, budget)
            if compare:
                outcome = with_exact_bounds(outcome, case, budget)
            answers = self._asking.answers(case, outcome, verdict, search, budget)
            answers = replace(answers, meta={**answers.meta, **noted})
            if ledger is not None:
                ledger.append(answers)
        log_solved(answers, budget)
        return answers

    def __call__(self, X: Any, target: Any = None, **options: Any) -> Explanations:
        """The same as `explain`."""
        return self.explain(X, target, **options)

    def improving(
        self,
        X: Any,
        target: Any = None,
        *,
        time_limit: float = IMPROVING_SECONDS,
        log: Log | str | PathLike[str] | None = None,
        **options: Any,
    ) -> Iterator[Explanations]:
        """The answers as they are found: a first one soon, then cheaper ones and higher bounds.

        Choose it where a person waits: each answer is whole and has its certificate, and the bound closes in on the cost.
        It ends when all are proven, when more time does not help, or after `time_limit` seconds. Every step asks again
        with more time, so all of them take longer than `explain` alone. The options are those of `explain`. Whoever stops
        listening stops the search.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> for answers in explainer.improving(X.iloc[[60]], target=2):
        ...     print(answers.only.certificate.status.name)
        PROVEN_OPTIMAL
        """
        seconds = budget_of(time_limit, None, None).seconds
        steps = improving(lambda step: self.explain(X, target, time_limit=step, **options), seconds)
        return steps if log is None else logged(steps, log)

    def region(self, row: Any, target: Any, *, whole_numbers: bool = True, time_limit: float | None = None) -> Region:
        """The widest box around a row that meets the target, in which the target is met everywhere.

        Choose it to say "anything from 50,000 to 54,200" instead of "50,000". No side of the box can be moved out
        further: behind each stands a row that misses the target, or the end of the column's range. Levels stay as they
        are, and so do whole numbers if `whole_numbers` is False.

        `row` is one row as a table or a dict, or an answer. The box of an answer is around its point, and contains the one
        that `bf.robust` promised. The sides of linear models, oblique trees and networks end within a millionth of a
        column's range. Networks of many units, and forests around a row that is far from every border, may take minutes:
        give a `time_limit` in seconds. When it ends, the target is met in the box so far, and `.widest` is False.
        """
        radius, budget = radii(self._reading, whole_numbers), budget_of(time_limit, None, None)
        around = surroundings(self._asking.one(row), target, self._asking.referee(), robust(radius))
        promised = row.region if isinstance(row, Explanation | Explanations) else None
        found = around.region(budget.until, promised)
        return replace(found, words=self._asking.words)

    def robustness(
        self,
        row: Any,
        target: Any,
        *,
        norm: Literal["linf", "l2", "l1"] = "linf",
        slips: Mapping[str, Any] | None = None,
        time_limit: float | None = None,
    ) -> Robustness:
        """The largest radius around a row within which the target is met everywhere, and a row just outside.

        Choose it to see how firm an answer is. `bf.robust` asks for an answer that is as firm as you say. The radius is
        measured in ranges of the columns, as in `bf.robust`. Whole numbers, levels and numbers that the model reads in
        bins stay as they are. With `slips`, as `bf.robust` takes them, levels may slip at any radius. `row` is one row
        as a table or a dict, or an answer (then it is its point). When a `time_limit` in seconds ends, the radius is
        the largest that is proven.
        """
        radius, budget = radii(self._reading, whole_numbers=False), budget_of(time_limit, None, None)
        if not radius:
            raise InputError(
                "the model reads no column as real numbers.",
                "A radius is about shifts of these.",
                "Explainer.region widens whole numbers, too.",
            )
        ball = robust(radius, norm, slips)
        return surroundings(self._asking.one(row), target, self._asking.referee(), ball).robustness(budget)

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
        - `region`: a region to draw, such as `explainer.region(answer, target)`;
        - `steps`: how many values of each column are asked about, at most.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> explainer = Explainer(LogisticRegression(max_iter=1000).fit(X, y), data=X)
        >>> explainer.decision_map(explainer.explain(X[:1], target=1), ("x2", "x3"), steps=20).met.shape
        (20, 20)
        """
        return decision_map(answers, columns, others, region, steps, self._reading)

    def tree_path(self, answer: Explanation | Explanations) -> TreePath:
        """The way of an answer through the model, if that is one decision tree, and which splits it crosses.

        Choose it to say where in the tree the answer leaves the way of the row. The changes are those that the crossed
        splits ask for.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y), data=X)
        >>> explainer.tree_path(explainer.explain(X.iloc[[60]], target=2))
        question                 row  answer
        petal width (cm) ≤ 0.8   no   no
        petal width (cm) ≤ 1.75  yes  no      crossed
        """
        return tree_path(answer.only, self._reading)

    def solvers(
        self,
        X: Any = None,
        target: Any = None,
        *,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
    ) -> Supports:
        """Every solver, with whether it takes such a problem, and why.

        Choose it to see ahead whether answers will be proven, and what stands in the way if not. The problem is that of
        the rows `X` (default: one typical row).
        """
        reading, question = ask(self._reading, *self._rules.asked(target, cost, constraints))
        before = self._asking.predicted(self._asking.typical() if X is None else X)
        referee = self._asking.referee(question.target, reading)
        part = next(plan(question, referee, reading.space.encode(before.table), before))
        return Supports(supports(part.problem.form()))
