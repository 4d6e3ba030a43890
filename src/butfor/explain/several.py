"""The questions of an explainer that have several answers: menus, ladders, trade-offs, and the best of many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from butfor.errors import suggests
from butfor.experimental import experimental
from butfor.explain.arguments import budget_of
from butfor.explain.asking import Asking
from butfor.explain.best import RESPECTS, best
from butfor.explain.ladder import rungs, shares
from butfor.explain.menu import menu
from butfor.explain.rules import Rules
from butfor.explain.trade_off import trade_off
from butfor.explain.without import left_alone
from butfor.explanation.best import Best
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.ladder import Ladder
from butfor.explanation.menu import Menu
from butfor.explanation.trade_off import TradeOff
from butfor.problem.costs import AbstractCost
from butfor.problem.written.constraints import Constraints


@suggests
class SeveralAnswers:
    """The methods of an explainer that show more than one way."""

    _asking: Asking
    _rules: Rules

    def without(
        self, answer: Explanation | Explanations, *columns: str, time_limit: float | None = None
    ) -> Explanations:
        """The cheapest change that leaves some columns alone which an answer changes: "and if I refuse this?"

        Choose it when a person rejects a part of an answer. The question is that of the answer, with the columns fixed:
        the same row, target, cost and constraints.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> answer = explainer.explain(X.iloc[[60]], target=2)
        >>> [change.name for change in answer.changes]
        ['petal length (cm)']
        >>> [change.name for change in explainer.without(answer, "petal length (cm)").changes]
        ['petal width (cm)']
        """
        budget = budget_of(time_limit, None, None)
        return self._asking.solved(left_alone(self._asking, answer.only, columns), budget)

    def menu(
        self,
        row: Any,
        target: Any = None,
        *,
        most: int = 3,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        safety: float | None = None,
        time_limit: float | None = None,
    ) -> Menu:
        """Every set of at most `most` columns that is worth changing, with its cheapest answer; and the other sets.

        Choose it to let a person choose. A set is worth changing if its change suffices, and if each part of it either
        does not suffice or costs more. Of the other sets, some provably do not suffice, and of some a part is as cheap.
        Some may be open: where the time ended, or where nothing is proven of the model (see `bf.Standing`).

        `row` is one row as a table or a dict. The other arguments are those of `explain`.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> menu = explainer.menu(X.iloc[[60]], target=2, most=2)
        >>> [[change.name for change in option.changes] for option in menu]
        [['petal length (cm)'], ['petal width (cm)']]
        >>> len(menu.impossible), len(menu.lines)
        (4, 11)
        """
        budget = budget_of(time_limit, None, None)
        case = self._asking.one_row("a menu", row, *self._rules.asked(target, cost, constraints, safety))
        return menu(case, most, budget, self._asking.solved)

    def ladder(
        self,
        row: Any,
        goals: Sequence[Any] | Mapping[str, Any],
        *,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        safety: float | None = None,
        time_limit: float | None = None,
    ) -> Ladder:
        """The cheapest change of a row for each of several goals, and which goal comes next.

        Choose it for grades, or to see what more certainty costs. The goals are targets that move one way (probabilities
        of one class, values or intervals), or classes in the order of the grades. A dict names them.

        `row` is one row as a table or a dict. The other arguments are those of `explain`. A target of the rules is left
        aside: the goals take its place.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(LogisticRegression(max_iter=1000).fit(X, y == 2), data=X)
        >>> ladder = explainer.ladder(X.iloc[[60]], [bf.probability(True, p) for p in (0.5, 0.7, 0.9)])
        >>> [round(rung.cost, 3) for rung in ladder]
        [0.275, 0.324, 0.402]
        """
        budget = budget_of(time_limit, None, None)
        named = rungs(goals, self._asking.reading.source)
        under = replace(self._rules, target=None)
        asked = [
            self._asking.one_row("a ladder", row, *under.asked(goal, cost, constraints, safety))
            for goal in named.values()
        ]
        found = [
            self._asking.solved(one, part).only for one, part in zip(asked, shares(budget, len(asked)), strict=True)
        ]
        return Ladder(tuple(named), tuple(found), asked[0].before.table, asked[0].before.outputs()[0])

    @experimental
    def trade_off(
        self,
        row: Any,
        target: Any = None,
        *,
        against: Literal["changes", "radius", "score"],
        radii: Iterable[float] | None = None,
        norm: Literal["linf", "l2", "l1"] | None = None,
        up_to: float | None = None,
        questions: int | None = None,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        safety: float | None = None,
        time_limit: float | None = None,
    ) -> TradeOff:
        """The cheapest change of a row for harder and harder demands: what does it cost to want more?

        - `against="changes"`: with at most 1, 2, 3, ... changed columns, up to the cheapest of all. Choose it to see
          whether one more change is worth it;
        - `against="radius"`: valid in balls of several `radii`, as `bf.robust` means them (default: 0, 0.01, 0.02, 0.05
          and 0.1 ranges), in a `norm` (default: "linf"). Choose it to see how much firmness is cheap;
        - `against="score"`: with each score from the target on, such as `bf.probability("approved", 0.5)` or
          `bf.value(at_least=10)`, `up_to` some score (default: the best one of up to 5,000 rows of the data). At
          most so many `questions` are asked (default: 20). Choose it to be on the safe side.

        Between two answers, bounds of the cost are proven. Against changes, or where a model has few scores, all is known
        if each answer is proven: see `TradeOff.complete`.

        `row` is one row as a table or a dict. The other arguments are those of `explain`.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> safer = explainer.trade_off(X.iloc[[60]], bf.probability(2, 0.5), against="score")
        >>> [(round(score, 3), round(answer.cost, 3)) for score, answer in zip(safer.numbers, safer)]
        [(0.667, 0.246), (1.0, 0.541)]
        >>> safer.complete
        True
        """
        budget = budget_of(time_limit, None, None)
        case = self._asking.one_row("a trade-off", row, *self._rules.asked(target, cost, constraints, safety))
        options = {"radii": radii, "norm": norm, "up_to": up_to, "questions": questions}
        return trade_off(self._asking, case, against, options, budget)

    @experimental
    def best(self, answers: Iterable[Explanation], by: Sequence[str] = tuple(RESPECTS)) -> Best:
        """The best of several answers to one row in each respect: a choice of a few that differ in what they are good at.

        - "cost" and "number of changes": the smallest;
        - "certainty": how far the model's score is on the wanted side;
        - "similarity to the data": the mean distance to the five nearest rows of up to 5,000 of the data, in ranges;
        - "robustness": how far the numbers can move together and the target is still met, as a share of their ranges.
          It is left out if the model cannot say. It takes a second or two per answer for a hundred trees.

        `answers` are the options of a menu, of a trade-off, or `k` answers. Each answer keeps its own proof; what is best is
        said of these answers only.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> choice = explainer.best(explainer.menu(X.iloc[[60]], target=2))
        >>> [change.name for change in choice["cost"].changes]
        ['petal length (cm)']
        >>> len(choice), choice.compared
        (1, 2)
        """
        return best(self._asking, answers, by)
