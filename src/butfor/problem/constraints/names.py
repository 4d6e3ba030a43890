"""The constraints by the names that users call: what a change must respect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from butfor.errors import InputError, InputTypeError
from butfor.problem.constraints.candidates import Candidates
from butfor.problem.constraints.judged import Margin, Plausible
from butfor.problem.constraints.relations import AtMost, Event, Implication, LinearRelation
from butfor.problem.constraints.restrictions import (
    Allowed,
    AllowedMoves,
    Between,
    Direction,
    Fixed,
    Grid,
    MayVanish,
    Within,
)


def fixed(*names: str) -> Fixed:
    """These columns keep their value: what nobody can change, and what nobody should be told to change.

    >>> fixed("sex", "race")
    fixed('sex', 'race')
    """
    return Fixed(_names(names, "fixed"))


def only_up(*names: str) -> Direction:
    """These numbers (or ordered levels) do not fall: age, education.

    >>> only_up("age", "education")
    only_up('age', 'education')
    """
    return Direction(_names(names, "only_up"), up=True)


def only_down(*names: str) -> Direction:
    """These numbers (or ordered levels) do not rise: debts, late payments.

    >>> only_down("debt")
    only_down('debt')
    """
    return Direction(_names(names, "only_down"), up=False)


def between(name: str, low: Any, high: Any) -> Between:
    """This number (or ordered level) ends in `[low, high]`, ends included; moved there if it is not.

    >>> between("income", 0, 90_000)
    between('income', 0, 90000)
    """
    return Between(name, low, high)


def within(name: str, share: float) -> Within:
    """This number moves by at most `share` of its factual value: 0.1 is plus or minus 10 %. Choose it to keep steps small.

    >>> within("income", 0.1)
    within('income', 0.1)
    """
    return Within(name, share)


def step(name: str, step: float, anchor: float = 0.0) -> Grid:
    """This number, if it changes, becomes `anchor` plus a multiple of `step`.

    For one question; a column that always has steps is declared once, with `space={"months": bf.Step(6)}`.

    >>> step("amount", 500)
    step('amount', 500)
    """
    return Grid(name, step, anchor)


def whole(name: str) -> Grid:
    """This number, if it changes, becomes a whole one. Columns of whole numbers in the data are whole without it.

    >>> whole("rooms")
    whole('rooms')
    """
    return Grid(name, 1.0)


def allowed(name: str, values: Iterable[Any]) -> Allowed:
    """This category ends as one of `values`, moved there if it is not.

    >>> allowed("housing", ["rents", "owns"])
    allowed('housing', ['rents', 'owns'])
    """
    return Allowed(name, tuple(values))


def moves(name: str, table: Mapping[Any, Iterable[Any]]) -> AllowedMoves:
    """This category changes only as the table says, `{before: [after, ...]}`; it may always stay.

    Choose it for steps that people can take; to price them instead of forbidding the others, use `bf.Table`.

    >>> moves("job", {"unemployed": ["temporary"]})
    moves('job', {'unemployed': ['temporary']})
    """
    return AllowedMoves(name, tuple((before, tuple(after)) for before, after in table.items()))


def may_be_missing(*names: str) -> MayVanish:
    """These columns may also become missing (by default a known value stays known).

    Choose it to see whether withholding a value would pay, which says something about the model.

    >>> may_be_missing("savings")
    may_be_missing('savings')
    """
    return MayVanish(_names(names, "may_be_missing"))


def at_most_changes(count: int) -> AtMost:
    """At most `count` columns change: for answers that a person can remember.

    >>> at_most_changes(3)
    at_most_changes(3)
    """
    return AtMost(count)


def linear(weights: Mapping[str, float], sense: Literal["<=", ">=", "=="], bound: float) -> LinearRelation:
    """A linear relation between numbers of the answer: sums, budgets, shares.

    Met within 1e-8 of the size of its terms.

    >>> linear({"debt": 1.0, "income": -0.4}, "<=", 0.0)
    linear({'debt': 1.0, 'income': -0.4}, '<=', 0.0)
    """
    return LinearRelation(tuple((name, float(weight)) for name, weight in weights.items()), sense, float(bound))


def rises(name: str, by: float = 0.0) -> Event:
    """The event that a number rises (by at least `by`), or an ordered level (by ranks); for `bf.implies`.

    >>> rises("age", by=2)
    rises('age', by=2)
    """
    return Event("rises", name, by)


def falls(name: str, by: float = 0.0) -> Event:
    """The event that a number falls (by at least `by`), or an ordered level (by ranks); for `bf.implies`.

    >>> falls("hours")
    falls('hours')
    """
    return Event("falls", name, by)


def becomes(name: str, level: Any) -> Event:
    """The event that a category becomes `level`, having been another; for `bf.implies`.

    >>> becomes("job", "permanent")
    becomes('job', 'permanent')
    """
    return Event("becomes", name, level=level)


def implies(cause: Event, consequence: Event) -> Implication:
    """If the cause happens, so must the consequence: changes that bring others along.

    >>> implies(rises("education"), rises("age", by=2))
    implies(rises('education'), rises('age', by=2))
    """
    return Implication(cause, consequence)


def margin(eps: float) -> Margin:
    """Stay `eps` inside every boundary that decides, measured in ranges of the columns.

    A linear model: the distance to each deciding hyperplane, in range-scaled units. A tree: each deciding cut is at least
    `eps` ranges away; for a regressor or a probability, the cuts of the leaf decide. Choose it for answers that survive
    small changes of the data and of the model.

    >>> margin(0.01)
    margin(0.01)
    """
    return Margin(float(eps))


def plausible(forest: Any, path_length: float | None = None) -> Plausible:
    """The answer looks like the data: a fitted isolation forest needs at least `path_length` questions to single it out.

    `mean_t h_t(x) >= path_length`, h the depth of x's leaf plus what a tree of its size would add (Liu, Ting and Zhou, ICDM
    2008): a sum of trees, kept exactly. The default is the forest's own border between outliers and the rest. `forest` is
    an `IsolationForest`, or a pipeline that ends in one, fitted on the columns that the model reads.

    >>> from sklearn.ensemble import IsolationForest
    >>> plausible(IsolationForest(), path_length=8.0)
    plausible(IsolationForest, path_length=8.0)
    """
    return Plausible(forest, path_length)


def candidates(table: Any) -> Candidates:
    """The answer is one of these rows, of the kind the model reads; choose it for black boxes, or for answers that exist.

    As the What-If Tool does (Wexler et al., IEEE TVCG 26, 2020). Proven optimal means: among these rows.

    >>> candidates([[1.0, 2.0], [3.0, 4.0]])
    candidates(2 rows)
    """
    return Candidates(table)


def _names(names: tuple[str, ...], word: str) -> tuple[str, ...]:
    if not names:
        raise InputError(f"{word}() was given no column.", "Name at least one.")
    if any(not isinstance(name, str) for name in names):
        raise InputTypeError(f"{word}{names!r} was given.", "Columns are named by text, one argument each.")
    return names
