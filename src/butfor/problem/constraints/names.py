"""The constraints by the names that users call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from numbers import Real
from typing import Any, Literal

import numpy as np

from butfor.arrays import plain, plain_within
from butfor.errors import InputError, InputTypeError, number, suggests
from butfor.problem.constraints.candidates import Candidates
from butfor.problem.constraints.implications import Event, Implication, Part
from butfor.problem.constraints.judged import Margin, Plausible
from butfor.problem.constraints.relations import AtMost, LinearRelation
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
from butfor.problem.constraints.robust import Robust
from butfor.problem.constraints.robust_to import RobustTo, refits
from butfor.problem.constraints.slipping import as_written


@suggests
def fixed(*names: str | Iterable[str]) -> Fixed:
    """These columns keep their values.

    Choose it for what nobody can change, and for what nobody should be told to change. The names may also be given as
    one list.

    >>> fixed("sex", "race")
    fixed('sex', 'race')
    """
    return Fixed(as_names(names, "fixed"))


@suggests
def only_up(*names: str | Iterable[str]) -> Direction:
    """These numbers (or ordered levels) do not fall; for example age or education.

    >>> only_up("age", "education")
    only_up('age', 'education')
    """
    return Direction(as_names(names, "only_up"), up=True)


@suggests
def only_down(*names: str | Iterable[str]) -> Direction:
    """These numbers (or ordered levels) do not rise; for example debts or late payments.

    >>> only_down("debt")
    only_down('debt')
    """
    return Direction(as_names(names, "only_down"), up=False)


@suggests
def between(name: str, low: Any = None, high: Any = None) -> Between:
    """This number (or ordered level) ends in `[low, high]`, ends included. Of levels that are numbers, the numbers count.

    A value outside must move there, and a missing one may stay missing. An end that is left out does not limit it. For a
    range that holds in every question, declare the column: `space={"income": bf.Integer(0, 90_000)}`.

    >>> between("income", 0, 90_000)
    between('income', 0, 90000)
    >>> between("income", high=90_000)
    between('income', high=90000)
    """
    if low is None and high is None:
        raise InputError(f"bf.between({name!r}) says nothing.", "It was given no end.", "Give low=, high= or both.")
    return Between(plain(name), -np.inf if low is None else plain(low), np.inf if high is None else plain(high))


@suggests
def within(name: str, share: float) -> Within:
    """This number moves by at most `share` of its factual value.

    0.1 is plus or minus 10 %, and a 0 stays 0. Choose it to keep steps small.

    >>> within("income", 0.1)
    within('income', 0.1)
    """
    return Within(plain(name), plain(share))


@suggests
def step(name: str, step: float, anchor: float = 0.0) -> Grid:
    """This number becomes `anchor` plus a multiple of `step`, if it changes.

    It is for one question. If a column always has steps, declare it once, with `space={"months": bf.Step(6)}`.

    >>> step("amount", 500)
    step('amount', 500)
    """
    return Grid(plain(name), plain(step), plain(anchor))


@suggests
def whole(name: str) -> Grid:
    """This number becomes a whole number, if it changes.

    Columns that hold whole numbers in the data need no such constraint.

    >>> whole("rooms")
    whole('rooms')
    """
    return Grid(plain(name), 1.0)


@suggests
def allowed(name: str, values: Iterable[Any]) -> Allowed:
    """This category ends as one of `values`. Any other value must change to one of them.

    A missing value may stay missing. For rules about where a level may lead, use `bf.moves`.

    >>> allowed("housing", ["rents", "owns"])
    allowed('housing', ['rents', 'owns'])
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputTypeError(
            f"bf.allowed({name!r}, {values!r}) was given.", "The values must be a list.", f"Write [{values!r}]."
        )
    listed = tuple(map(plain, values))
    if not listed:
        raise InputError(f"bf.allowed({name!r}, []) allows nothing.", "At least one value must be allowed.")
    return Allowed(plain(name), listed)


@suggests
def moves(name: str, table: Mapping[Any, Iterable[Any]]) -> AllowedMoves:
    """This category changes only as the table `{before: [after, ...]}` says. It may always stay.

    Choose it for steps that people can take. To price these steps instead of forbidding all others, use `bf.Table`.

    >>> moves("job", {"unemployed": ["temporary"]})
    moves('job', {'unemployed': ['temporary']})
    """
    table = plain_within(table)
    if not isinstance(table, Mapping):
        raise InputTypeError(
            f"bf.moves({name!r}, {table!r}) was given.", "The moves must be a dict {before: [after, ...]}."
        )
    for before, after in table.items():
        if isinstance(after, str) or not isinstance(after, Iterable):
            raise InputTypeError(
                f"bf.moves({name!r}, ...) was given {after!r} for {before!r}.",
                "What a value may become must be a list.",
                f"Write {before!r}: [{after!r}].",
            )
    return AllowedMoves(
        plain(name), tuple((plain(before), tuple(map(plain, after))) for before, after in table.items())
    )


@suggests
def may_be_missing(*names: str | Iterable[str]) -> MayVanish:
    """These columns may also become missing. By default a known value stays known.

    Choose it to see whether withholding a value would pay, which says something about the model.

    >>> may_be_missing("savings")
    may_be_missing('savings')
    """
    return MayVanish(as_names(names, "may_be_missing"))


@suggests
def at_most_changes(count: int) -> AtMost:
    """At most `count` columns change. Choose it for answers that a person can remember.

    >>> at_most_changes(3)
    at_most_changes(3)
    """
    return AtMost(plain(count))


@suggests
def linear(weights: Mapping[str, float], sense: Literal["<=", ">=", "=="], bound: float) -> LinearRelation:
    """A linear relation between numbers of the answer. It may be a sum, a budget or a share.

    It is kept exactly, in the numbers that are printed: 0.1 and 0.2 add up to 0.3. An equation of real numbers may be off by
    the rounding of one of them.

    >>> linear({"debt": 1.0, "income": -0.4}, "<=", 0.0)
    linear({'debt': 1.0, 'income': -0.4}, '<=', 0.0)
    """
    weights = plain_within(weights)
    if not isinstance(weights, Mapping):
        raise InputTypeError(f"bf.linear({weights!r}, ...) was given.", "The weights must be a dict {column: weight}.")
    if not weights:
        raise InputError(f"bf.linear({{}}, {sense!r}, {bound!r}) says nothing.", "It must name at least one column.")
    found = {
        name: number(weight, f"bf.linear was given the weight {weight!r} for {name!r}.", "A weight must be a number.")
        for name, weight in weights.items()
    }
    end = number(bound, f"bf.linear was given the bound {bound!r}.", "It must be a number.")
    return LinearRelation(tuple(found.items()), plain(sense), end)


@suggests
def rises(name: str, by: float = 0.0) -> Event:
    """The event that a number or an ordered level rises, by at least `by`. For `bf.implies`.

    The rise of a level is counted in ranks. As the consequence for a real number, it needs `by`.

    >>> rises("age", by=2)
    rises('age', by=2)
    """
    return Event("rises", plain(name), plain(by))


@suggests
def falls(name: str, by: float = 0.0) -> Event:
    """The event that a number or an ordered level falls, by at least `by`. For `bf.implies`.

    The fall of a level is counted in ranks. As the consequence for a real number, it needs `by`.

    >>> falls("hours")
    falls('hours')
    """
    return Event("falls", plain(name), plain(by))


@suggests
def becomes(name: str, level: Any) -> Event:
    """The event that a category becomes `level` after it was another one. For `bf.implies`.

    As a consequence it is kept also where the category was `level` before.

    >>> becomes("job", "permanent")
    becomes('job', 'permanent')
    """
    return Event("becomes", plain(name), level=plain(level))


@suggests
def implies(cause: Part, consequence: Part) -> Implication:
    """If the cause holds, the consequence must hold, too.

    Choose it for changes that bring others along: `bf.rises`, `bf.falls`, `bf.becomes`. And choose it for rules about
    where columns end: `bf.allowed`, or `bf.between` with one end.

    >>> implies(rises("education"), rises("age", by=2))
    implies(rises('education'), rises('age', by=2))
    >>> implies(allowed("job", ["permanent"]), between("income", 20_000))
    implies(allowed('job', ['permanent']), between('income', 20000))
    """
    return Implication(cause, consequence)


@suggests
def margin(eps: float) -> Margin:
    """No shift up to the length `eps` leads across a deciding boundary.

    The length is Euclidean, and a column counts in its ranges. For a linear model this is `w'x >= b + eps |w|`. For a
    tree, every number may be off by `eps` ranges and stays in its leaf; in a sum of trees, in its leaf of each tree. A
    shift of just `eps` counts, as in `robust`, so an answer with a margin is robust, too: in a round ball, and for
    trees in a box. Whole numbers are shifted like real ones. Choose it for answers that survive small changes of the
    data and of the model, and if `robust` takes too long.

    >>> margin(0.01)
    margin(0.01)
    """
    return Margin(number(eps, f"bf.margin({eps!r}) was given.", "A margin must be a number."))


@suggests
def robust(
    radius: float | Mapping[str, float],
    norm: Literal["linf", "l2", "l1"] = "linf",
    slips: Mapping[str, Any] | None = None,
) -> Robust:
    """The target is met in a whole ball around the answer: for all `s` with `||s|| <= radius`, measured in ranges.

    Choose it if the advice will not be followed exactly, or if values are known only roughly. `margin` is the stronger
    promise to stay in one leaf of a tree. If a target has several classes, one of them holds everywhere; and
    for "other", one class beats the old one everywhere.

    - `radius`: a share of the range of each column of real numbers, or a dict from column to a radius in its own units.
      Whole numbers are perturbed only if they are named there. 0 shifts nothing;
    - `norm`: "linf" is a box, "l2" and "l1" are balls. Balls around sums of trees are experimental;
    - `slips`: the columns whose level may be taken for another, or fall to it, beside any shift. For each, groups of levels
      that may be taken for each other, a dict from level to the levels that it may be seen as, "any", or a number of
      steps up or down for ordered levels. A missing value does not slip. Oblique trees refuse it.

    Maragno et al., "Finding regions of counterfactual explanations via robust optimization", INFORMS Journal on
    Computing 36 (2024).

    >>> robust(0.05)
    robust(0.05, norm='linf')
    >>> robust({"income": 2_000}, norm="l2")
    robust({'income': 2000}, norm='l2')
    >>> robust(0, slips={"job": [["clerk", "sales"]], "rating": 1})
    robust(0, norm='linf', slips={'job': [['clerk', 'sales']], 'rating': 1})
    """
    return Robust(radius, norm) if slips is None else Robust(radius, norm, as_written(slips))


@suggests
def robust_to(models: Any) -> RobustTo:
    """The target is met by all of these models, and by the explained one: at once, and exactly.

    Choose it if the model will be trained again: give refits on bootstrap samples, or with other seeds. Every model
    must be read, over the same columns: trees and linear models, also one beside the other, or networks of the same
    depth. The score of each becomes one more inequality. `Explainer.agreement` tells which share of other models agrees.

    - `models`: fitted estimators or pipelines. "Another class" means another one than the explained model predicts.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> robust_to([RandomForestClassifier(random_state=seed) for seed in range(5)])
    robust_to(5 models: RandomForestClassifier)
    """
    return refits(models)


@suggests
def plausible(forest: Any, path_length: float | None = None) -> Plausible:
    """The answer looks like the data, as judged by a fitted isolation forest.

    The forest must need at least `path_length` questions to single the answer out: `mean_t h_t(x) >= path_length`,
    where h_t(x) is the depth of x's leaf in tree t, plus what a tree of the leaf's size would add (Liu, Ting and
    Zhou, ICDM 2008). This is a sum of trees: trees and sums of trees keep it exactly, black boxes are searched with it,
    and other models refuse it. Choose it if answers must not be outliers.

    - `forest`: an `IsolationForest`, or a pipeline that ends in one, fitted on the columns that the model reads;
    - `path_length`: default: the forest's own border between outliers and the rest.

    >>> from sklearn.ensemble import IsolationForest
    >>> plausible(IsolationForest(), path_length=8.0)
    plausible(IsolationForest, path_length=8.0)
    """
    return Plausible(forest, path_length)


@suggests
def candidates(table: Any) -> Candidates:
    """The answer is one of these rows. They are of the kind that the model reads.

    Choose it for black boxes, or if answers must be cases that exist. The What-If Tool does this, too (Wexler et al.,
    IEEE TVCG 26, 2020). Proven optimal then means: among these rows.

    >>> candidates([[1.0, 2.0], [3.0, 4.0]])
    candidates(2 rows)
    """
    return Candidates(table)


def as_names(given: tuple[Any, ...], word: str) -> tuple[str, ...]:
    """The names in the arguments, as text. Each argument is a name or a collection of names.

    A data frame may call a column by a number or by a tuple, so a tuple is one name, as in pandas.
    """
    found: list[Any] = []
    for one in given:
        if isinstance(one, str | bytes | tuple | Mapping) or not isinstance(one, Iterable):
            found.append(one)
        else:
            found.extend(sorted(one, key=str) if isinstance(one, Set) else one)
    wrong = [name for name in found if isinstance(name, bool) or not isinstance(name, str | Real | tuple)]
    if wrong:
        raise InputTypeError(
            f"bf.{word} was given {wrong[0]!r}.",
            "Columns are named as text, or as the data frame names them.",
            f"Write bf.{word}('age') or bf.{word}(['age']).",
        )
    if not found:
        raise InputError(f"bf.{word}() says nothing.", "It was given no column.", "Name at least one.")
    return tuple(map(str, found))
