"""The targets by the names that users call, and other ways to write them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, number, suggests
from butfor.estimator.source import Source
from butfor.problem.targets.classes import ClassCosts, Classes, Other, Probability
from butfor.problem.targets.safer import AskedSafely, safer
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.targets.values import RelativeChange, ValueIn


def as_target(given: Any, source: Source) -> AbstractTarget:
    """The target that the user wrote.

    It may be written as a label, "other", a collection of labels, a dict of label costs, or a target object.
    """
    if isinstance(given, AskedSafely):
        target = safer(as_target(given.target, source), given.safety, source)
    elif isinstance(given, AbstractTarget):
        target = given
    elif isinstance(given, str) and given == "other":
        if "other" in source.classes:
            raise InputError(
                "target='other' is ambiguous: the model has a class 'other'.",
                "",
                "Use bf.other() for any other class, bf.classes('other') for that one.",
            )
        target = Other()
    elif isinstance(given, Mapping):
        target = class_costs(given)
    elif isinstance(given, Collection) and not isinstance(given, str | bytes):
        if not len(given):
            raise InputError(f"target={given!r} names no class.", "Name at least one.")
        target = Classes(tuple(given))
    else:
        target = Classes((given.item() if isinstance(given, np.generic) else given,))
    target.validate(source)
    return target


@suggests
def classes(*labels: Any) -> Classes:
    """The target that one of these classes is predicted.

    Choose it where several classes are equally good. `target=["gold", "silver"]` means the same.

    >>> classes("gold", "silver")
    gold or silver
    """
    if not labels:
        raise InputError("bf.classes() was given no class.", "Name at least one.")
    return Classes(labels)


@suggests
def other() -> Other:
    """The target that any class but the present one is predicted. The default.

    Choose it to see what decides about a row, whatever it decides. The cheapest such class is found. `target="other"`
    means the same, unless the model has a class of that name.

    >>> other()
    any other class
    """
    return Other()


@suggests
def class_costs(costs: Mapping[Any, float]) -> ClassCosts:
    """The target that one of these classes is predicted, each at its own cost.

    What is minimised is the cost of the changes + the cost of the class. A class that is not named is not allowed.
    Choose it when some classes are better than others. `target={"gold": 0, "silver": 0.2}` means the same.

    >>> class_costs({"gold": 0, "silver": 0.2})
    gold at 0, silver at 0.2
    """
    if not isinstance(costs, Mapping) or not costs:
        raise InputTypeError(
            f"bf.class_costs({costs!r}) was given.", "It takes a dict.", "Write {'gold': 0, 'silver': 0.2}."
        )
    return ClassCosts(
        tuple(
            (label, number(cost, f"the class {label!r} was given the cost {cost!r}.", "A cost must be a number."))
            for label, cost in costs.items()
        )
    )


@suggests
def probability(
    label: Any,
    at_least: float | None = None,
    *,
    at_most: float | None = None,
    between: tuple[float, float] | None = None,
) -> Probability:
    """The target that a class has at least, or at most, this probability, or one between two. The ends are included.

    Choose `at_least` for answers that are more than just across the border, `at_most` where one class must become
    unlikely, and `between` for rows that the model is to be unsure of. The model must give probabilities. Answers are
    proven where these follow from the scores: by the logistic function, by softmax, as the values of a tree's leaves, or
    as a mean of such. Black boxes are searched. Between two is two inequalities, which some solvers do not take: the
    certificate names the one that did. By softmax over several classes, `at_most` is no convex set of scores, and takes
    longer than `at_least`.

    >>> probability("approved", at_least=0.8)
    approved with probability at least 0.8
    >>> probability("default", at_most=0.05)
    default with probability at most 0.05
    >>> probability("approved", between=(0.4, 0.6))
    approved with probability from 0.4 to 0.6
    """
    said = {"at_least": at_least, "at_most": at_most, "between": between}
    kinds = {word: end for word, end in said.items() if end is not None}
    given = (
        f"bf.probability({', '.join([repr(label), *(f'{word}={end!r}' for word, end in kinds.items())])}) was given."
    )
    if len(kinds) != 1:
        raise InputTypeError(
            given,
            "It takes one of at_least=, at_most= and between=.",
            "Between two probabilities is between=(0.4, 0.6)." if kinds else "Write bf.probability('approved', 0.8).",
        )
    if between is not None and (isinstance(between, str) or not isinstance(between, Collection) or len(between) != 2):
        raise InputTypeError(given, "between= takes two numbers.", "Write between=(0.4, 0.6).")
    low, high = (
        between if between is not None else (0.0 if at_least is None else at_least, 1.0 if at_most is None else at_most)
    )
    needed = "A probability must be a number, as in bf.probability('approved', 0.8)."
    found = Probability(label, number(low, given, needed), number(high, given, needed))
    if at_least == 0:
        raise InputError("a probability of at least 0 was asked for.", "It must be above 0 and at most 1.")
    return found


@suggests
def value(at_least: float = -np.inf, at_most: float = np.inf) -> ValueIn:
    """The target that a regressor predicts a value in an interval. The ends are included.

    Choose it for a goal that does not depend on the row. For a share more or less than now, use `bf.relative_change`.

    >>> value(at_least=100.0)
    at least 100
    """
    given = f"bf.value(at_least={at_least!r}, at_most={at_most!r}) was given."
    low, high = (number(end, given, "Both ends must be numbers.") for end in (at_least, at_most))
    if np.isinf(low) and np.isinf(high):
        raise InputTypeError("bf.value() was given no end.", "Give at_least=, at_most= or both.")
    return ValueIn(low, high)


@suggests
def relative_change(by: float) -> RelativeChange:
    """The target that a regressor's prediction moves by at least a share of itself.

    0.2 is 20 % up, -0.2 is 20 % down. Choose it where rows begin at different values, such as prices of houses.

    >>> relative_change(-0.2)
    down by 20%
    """
    return RelativeChange(
        number(by, f"bf.relative_change({by!r}) was given.", "It must be a number: 0.2 is 20 % up, -0.2 is 20 % down.")
    )
