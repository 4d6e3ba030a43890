"""Common actions: a few changes that serve most rows of a group, or one that all of them share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, number
from butfor.experimental import experimental
from butfor.explain.arguments import budget_of, count_of
from butfor.explain.explainer import Explainer
from butfor.explanation.changes import word
from butfor.groups.action import Action, action_of
from butfor.groups.asking import POINTS_AT_ONCE, answered, case_of, in_need, labels, tried
from butfor.groups.cover import widest_cover
from butfor.groups.propose import proposals, smaller
from butfor.problem.costs import AbstractCost
from butfor.problem.written.constraints import Constraints
from butfor.solvers.outcome import Outcome
from butfor.space import frames
from butfor.views.text import plain, table

ROUNDED_SHARE = 1e-9
"""A share of the rows that exceeds a whole number by less than this is meant to be that number."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Actions that were tried on every row.

    - `serves`, `costs` (rows, actions): which rows each action serves, and what it costs them.
    """

    actions: tuple[Action, ...]
    serves: BoolArray
    costs: FloatArray

    def beside(self, other: Trials) -> Trials:
        """These actions and others, tried on the same rows."""
        return Trials(
            self.actions + other.actions,
            np.hstack([self.serves, other.serves]),
            np.hstack([self.costs, other.costs]),
        )

    def within(self, cost: float) -> Trials:
        """The same, but an action serves only the rows that it costs no more than this."""
        return replace(self, serves=self.serves & (self.costs <= cost))

    def prices(self) -> FloatArray:
        """The mean cost of each action for the rows that it serves; infinite if it serves none."""
        total = np.where(self.serves, self.costs, 0.0).sum(axis=0)
        return np.asarray(np.where(self.serves.any(axis=0), total / np.maximum(self.serves.sum(axis=0), 1), np.inf))

    def totals(self, rows: int) -> FloatArray:
        """What each action costs so many of the rows that it serves, the cheapest ones; infinite if it serves fewer."""
        return np.asarray(np.sort(np.where(self.serves, self.costs, np.inf), axis=0)[:rows].sum(axis=0))


@experimental
@dataclass(frozen=True, eq=False)
class ChosenActions:
    """Some actions for the rows of a group. They print as a table, with what is proven of them.

    - `actions`: the chosen ones, those that serve most first. None may be chosen;
    - `serves`, `costs` (rows, actions): which rows each action serves, and what it costs them;
    - `bound`: of `most`, no more rows than these can be served by as many candidates; of `shared`, the rows that must
      be served cost at least this together, whatever they do;
    - `why`: in words, what is known of the choice;
    - `labels`: of each row, as the user's table has them.
    """

    actions: tuple[Action, ...]
    serves: BoolArray
    costs: FloatArray
    bound: float
    why: str
    labels: tuple[Any, ...]
    sample: Any

    @property
    def served(self) -> BoolArray:
        """Which rows at least one action serves."""
        return np.asarray(self.serves.any(axis=1))

    def to_frame(self) -> Any:
        """One line per action: `action`, `rows` served, those for which it is the `cheapest`, and its `mean_cost`."""
        return frames.framed(self.sample, self._lines)

    def rows(self) -> Any:
        """One line per row: its label, whether it is `served`, the cheapest `action` that does, and its `cost`."""
        cheapest = self._cheapest
        at = list(enumerate(cheapest.tolist()))
        return frames.framed(
            self.sample,
            {
                "row": list(self.labels),
                "served": self.served.tolist(),
                "action": [str(self.actions[a]) if a >= 0 else None for _, a in at],
                "cost": [float(self.costs[i, a]) if a >= 0 else None for i, a in at],
            },
        )

    @property
    def _cheapest(self) -> FloatArray:
        """The cheapest action that serves each row; -1 if none does."""
        if not self.actions:
            return np.full(len(self.labels), -1)
        return np.where(self.served, np.where(self.serves, self.costs, np.inf).argmin(axis=1), -1)

    @property
    def _lines(self) -> dict[str, list[Any]]:
        return {
            "action": [str(action) for action in self.actions],
            "rows": self.serves.sum(axis=0).tolist(),
            "cheapest": [int((self._cheapest == a).sum()) for a in range(len(self.actions))],
            "mean_cost": [float(self.costs[its, a].mean()) for a, its in enumerate(self.serves.T)],
        }

    def __repr__(self) -> str:
        lines = [tuple(map(word, line)) for line in zip(*self._lines.values(), strict=True)]
        shown = [plain(table(("action", "rows", "cheapest for", "mean cost"), lines))] if lines else []
        return "\n".join([*shown, self.why])


@experimental
class Actions:
    """Actions that could serve many rows, each of them tried on every row.

    Choose it for advice that holds for a group: "income +3000" instead of 254 single answers. Every action is applied
    to every row, written into your own table, predicted by your own estimator, and checked against all constraints. So
    who is served is a count, not an estimate. What is best is best *among the actions tried*.

    - `explainer`, `target`, `cost`, `constraints`: as for `explain`;
    - `X`: the rows. Those that meet the target already are left out;
    - `actions`: what to try: dicts from column to what is added to a number, or to the level that it becomes. By
      default, up to 500 actions are made of the rows' own cheapest answers. They change the sets of columns that these
      change. Each amount suffices for a quarter, half, three quarters or all of the answers that move the column this
      way, and is rounded up to two digits;
    - `time_limit`: seconds for these answers.

    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> explainer = Explainer(loans.pipeline().fit(X, y), data=X)
    >>> tried = [{"income": 3000}, {"income": 6000}, {"late_payments": -1}]
    >>> some = Actions(explainer, X.iloc[:60], target="approved", actions=tried)
    >>> some.most(1)
    action            rows  cheapest for  mean cost
    late_payments -1  5     5             0.111111
    1 action serves 5 of 14 rows (35 %); proven: of the 3 tried, no action serves more
    """

    def __init__(
        self,
        explainer: Explainer,
        X: Any,
        *,
        target: Any = None,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        actions: Sequence[Action | Mapping[str, Any]] | None = None,
        time_limit: float | None = None,
    ) -> None:
        budget_of(time_limit, None, None)  # refused now if it makes no sense; its time starts with the search
        self._time_limit = time_limit
        whole = case_of(explainer, X, target, cost, constraints)
        rows = in_need(whole)
        self._case = whole.take(rows)
        every = labels(whole)
        self._labels = tuple(every[row] for row in rows.tolist())
        self._given = None if actions is None else tuple(action_of(one, explainer.space) for one in actions)
        if self._given is not None and not self._given:
            raise InputError("actions=[] was given.", "At least one is needed.", "Leave it out to have them proposed.")

    def __len__(self) -> int:
        return len(self.tried)

    def __repr__(self) -> str:
        return f"<{len(self)} actions, tried on {len(self._labels)} rows>"

    @cached_property
    def tried(self) -> tuple[Action, ...]:
        """The actions that are tried."""
        if self._given is not None:
            return tuple(dict.fromkeys(self._given))
        return tuple(proposals(self._case.referee.space, self._case.factuals, self._alone.points))

    def to_frame(self) -> Any:
        """One line per action that was tried: `action`, `rows` served, their `share`, and the `mean_cost` of these."""
        trials = self._trials
        rows = trials.serves.sum(axis=0)
        columns: dict[str, list[Any]] = {
            "action": [str(action) for action in self.tried],
            "rows": rows.tolist(),
            "share": (rows / len(self._labels)).tolist(),
            "mean_cost": [float(price) if np.isfinite(price) else None for price in trials.prices()],
        }
        return frames.framed(self._case.before.table, columns)

    def most(self, count: int, *, cost_at_most: float | None = None, time_limit: float | None = 10.0) -> ChosenActions:
        """At most `count` of the actions, which together serve most rows.

        - `cost_at_most`: an action serves only the rows for which it costs no more than that. Without it, the action
          that changes everything as far as possible often serves most;
        - `time_limit`: seconds for the proof.

        They are chosen greedily, and a bound is computed from what every further action would gain. If they differ, a
        mixed-integer program decides (Nemhauser, Wolsey and Fisher, Mathematical Programming 14, 1978). Among equal
        choices, cheaper actions are preferred.
        """
        most, budget = count_of("count", count), budget_of(time_limit, None, None)
        dearest = np.inf
        if cost_at_most is not None:
            dearest = number(cost_at_most, f"cost_at_most={cost_at_most!r} was given.", "A number is needed.")
        trials = self._trials.within(dearest)
        cover = widest_cover(trials.serves, trials.prices(), most, budget.left())
        served = int(trials.serves[:, cover.chosen].any(axis=1).sum())
        others = "no action serves" if most == 1 else f"no {most} actions serve"
        beyond = "more" if served == cover.bound else f"more than {cover.bound}"
        why = f"{self._serving(len(cover.chosen), served)}; proven: of the {len(self)} tried, {others} {beyond}"
        if not served:
            why = f"none of the {len(self)} actions tried serves any of {len(self._labels)} rows"
        return self._chosen(trials, cover.chosen, float(cover.bound), why)

    def shared(self, share: float = 1.0) -> ChosenActions:
        """The one action that serves at least this share of the rows, at the least total cost.

        The total is over as many rows as must be served, the cheapest ones. It cannot be less than what their own
        cheapest answers cost together, and this bound is proven for all actions, tried or not. Actions that were
        proposed are also tried with smaller amounts, as long as that makes the cheapest one cheaper.
        """
        asked = number(share, f"share={share!r} was given.", "A number above 0 and up to 1 is needed.")
        if not 0 < asked <= 1:
            raise InputError(f"share={share!r} was given.", "It must be above 0, and at most 1.")
        n = len(self._labels)
        need = max(1, ceil(asked * n - ROUNDED_SHARE))
        least = np.minimum(self._alone.bound, self._alone.cost)
        bound = float(np.sort(least)[:need].sum())
        trials = self._trials if self._given is not None else self._refined(self._trials, need)
        totals, tried = trials.totals(need), len(trials.actions)
        if np.isfinite(totals).any():
            best = int(totals.argmin())
            why = (
                f"{self._serving(1, int(trials.serves[:, best].sum()))}, the cheapest {need} of them at a total cost of "
                f"{word(float(totals[best]))}; proven: least of the {tried} tried"
            )
            if bound > 0:
                why += f", and no action at all costs less than {word(bound)}"
            return self._chosen(trials, (best,), bound, why)
        if np.isinf(bound):
            impossible = int(np.isinf(least).sum())
            why = f"proven: no action serves {need} of {n} rows, because {impossible} of them have no answer at all"
        else:
            widest = int(trials.serves.sum(axis=0).max(initial=0))
            why = f"none of the {tried} actions tried serves {need} of {n} rows; at most {widest} are served by one"
        return self._chosen(trials, (), bound, why)

    @cached_property
    def _alone(self) -> Outcome:
        """The cheapest answer to each row alone."""
        return answered(self._case, budget_of(self._time_limit, None, None))

    @cached_property
    def _trials(self) -> Trials:
        """All actions, tried on every row."""
        return self._on_every_row(self.tried)

    def _on_every_row(self, actions: tuple[Action, ...]) -> Trials:
        """The actions, some at a time, because each of them makes a table as long as that of the rows."""
        start, space = self._case.factuals, self._case.referee.space
        n, at_once = len(start), max(1, POINTS_AT_ONCE // len(start))
        trials = Trials((), np.zeros((n, 0), dtype=np.bool_), np.zeros((n, 0)))
        for begin in range(0, len(actions), at_once):
            some = actions[begin : begin + at_once]
            points = np.concatenate([action.taken(start, space) for action in some])
            fine, price = tried(self._case, np.tile(np.arange(n), len(some)), points)
            shape = (len(some), n)
            trials = trials.beside(Trials(some, fine.reshape(shape).T, price.reshape(shape).T))
        return trials

    def _refined(self, trials: Trials, need: int) -> Trials:
        """The trials, and those of smaller amounts of the cheapest action, until none of these is cheaper."""
        while True:
            totals = trials.totals(need)
            if not np.isfinite(totals).any():
                return trials
            best = trials.actions[int(totals.argmin())]
            new = tuple(one for one in smaller(best, self._case.referee.space) if one not in trials.actions)
            trials = trials.beside(self._on_every_row(new))
            if not trials.totals(need).min() < totals.min():
                return trials

    def _serving(self, actions: int, rows: int) -> str:
        n = len(self._labels)
        verb = "action serves" if actions == 1 else "actions serve"
        return f"{actions} {verb} {rows} of {n} rows ({100 * rows // n} %)"

    def _chosen(self, trials: Trials, at: Sequence[int], bound: float, why: str) -> ChosenActions:
        chosen = list(at)
        return ChosenActions(
            actions=tuple(trials.actions[a] for a in chosen),
            serves=trials.serves[:, chosen],
            costs=trials.costs[:, chosen],
            bound=bound,
            why=why,
            labels=self._labels,
            sample=self._case.before.table,
        )
