"""Pictures of answers, and of what an explainer says about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from butfor.explanation.alternatives import alternatives as side_by_side
from butfor.explanation.contributions import Contributions
from butfor.explanation.decision_map import DecisionMap
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.front import Front
from butfor.explanation.ladder import Ladder
from butfor.explanation.menu import Menu
from butfor.explanation.region import Region
from butfor.explanation.trade_off import TradeOff
from butfor.explanation.tree_path import TreePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def changes(answer: Explanation | Explanations, ax: Axes | None = None) -> Axes:
    """Draw the changes of one answer, each on the range of its column. The facts are `answer.to_frame()`."""
    return answer.only.plot(ax)  # type: ignore[no-any-return]


def alternatives(answers: Explanation | Sequence[Explanation], ax: Axes | None = None) -> Axes:
    """Draw several answers to one row side by side. The facts are `answers.alternatives().to_frame()`."""
    return side_by_side(answers).plot(ax)  # type: ignore[no-any-return]


def waterfall(parts: Contributions, ax: Axes | None = None, *, of: Literal["score", "cost"] = "score") -> Axes:
    """Draw what each change contributes to the score (or the cost), as `explainer.contributions(answer)` found it."""
    return parts.plot(ax, of)  # type: ignore[no-any-return]


def decision_map(found: DecisionMap, ax: Axes | None = None) -> Axes:
    """Draw what the model decides over two columns, as `explainer.decision_map(answer)` found it."""
    return found.plot(ax)  # type: ignore[no-any-return]


def tree_path(path: TreePath, ax: Axes | None = None) -> Axes:
    """Draw the way of an answer through a decision tree, as `explainer.tree_path(answer)` found it."""
    return path.plot(ax)  # type: ignore[no-any-return]


def region(found: Region, ax: Axes | None = None) -> Axes:
    """Draw the intervals of a region, as `explainer.region(answer, target=...)` found it."""
    return found.plot(ax)  # type: ignore[no-any-return]


def menu(found: Menu, ax: Axes | None = None) -> Axes:
    """Draw which sets of columns suffice, as `explainer.menu(row, target)` found them."""
    return found.plot(ax)  # type: ignore[no-any-return]


def ladder(found: Ladder, ax: Axes | None = None) -> Axes:
    """Draw what each of several goals costs, as `explainer.ladder(row, goals)` found it."""
    return found.plot(ax)  # type: ignore[no-any-return]


def trade_off(front: TradeOff, ax: Axes | None = None) -> Axes:
    """Draw a proven front, as `explainer.cost_against_changes` or `cost_against_score` found it."""
    return front.plot(ax)  # type: ignore[no-any-return]


def pareto(front: Front, ax: Axes | None = None) -> Axes:
    """Draw what robustness costs, as `explainer.pareto(row, target=...)` found it."""
    return front.plot(ax)  # type: ignore[no-any-return]
