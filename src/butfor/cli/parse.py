"""Turn words on a command line into rows, targets, costs and constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from butfor.cli.files import load
from butfor.errors import InputError
from butfor.explain.explainer import Explainer
from butfor.problem import costs as price
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.targets import names as aim
from butfor.problem.targets import survival_names as life
from butfor.space.feature import Feature
from butfor.space.space import Space

COSTS = {"L1": price.L1, "L2": price.L2, "LInf": price.LInf, "L0": price.L0, "Gower": price.Gower, "MAD": price.MAD}


def positions(given: Iterable[str] | None, rows: int) -> list[int]:
    """The rows that are meant by texts such as 3 or 3,5 or 0:10."""
    if not given:
        raise InputError("no row was given.", f"The data has {rows} rows.", "Use --row 3, --row 3,5 or --row 0:10.")
    found: list[int] = []
    for part in (part for words in given for part in words.split(",")):
        ends = [_number(end, int, f"--row {part}") for end in part.split(":")]
        chosen = range(ends[0], ends[-1]) if len(ends) == 2 else ends
        if len(ends) > 2 or not chosen or min(chosen) < 0 or max(chosen) >= rows:
            raise InputError(f"--row {part} was given.", f"The data has the rows 0 to {rows - 1}.")
        found += chosen
    return found


def target_of(explainer: Explainer, words: str, probability: float | None = None, **numbers: Any) -> Any:
    """The target that the options describe, about classes, a probability, or a number."""
    used = [option for option in OF_NUMBERS if any(numbers.get(name) is not None for name in option)]
    if not used:
        return _of_classes(explainer, words, probability)
    options = [f"--{name.replace('_', '-')}" for option in used for name in option if numbers.get(name) is not None]
    options += ["--target"] * (words != "other") + ["--probability"] * (probability is not None)
    if len(used) > 1 or options[-1] in ("--target", "--probability"):
        raise InputError(f"{' and '.join(options)} were given.", "A question has only one target.", "Give one of them.")
    return OF_NUMBERS[used[0]](numbers)


def _of_classes(explainer: Explainer, words: str, probability: float | None) -> Any:
    """The classes that are wanted, or the probability of one."""
    known = [label.item() if hasattr(label, "item") else label for label in getattr(explainer.model, "classes_", ())]
    if words == "other" and probability is not None:
        raise InputError("--probability was given without a class.", "Give the class with --target.")
    if words == "other":
        return words
    labels = [_meant(part, known) for part in _split(words, map(str, known))]
    if probability is None:
        return aim.classes(*labels)
    if len(labels) != 1:
        raise InputError(f"--probability was given with {len(labels)} classes.", "It needs exactly one.")
    return aim.probability(labels[0], probability)


def _pair(words: str, option: str, form: str) -> list[float]:
    """The two numbers before and after a colon."""
    parts = words.split(":")
    if len(parts) != 2:
        raise InputError(f"--{option} {words} was given.", f"Write it as --{option} {form}.")
    return [_number(part, float, f"--{option} {words}") for part in parts]


OF_NUMBERS: dict[tuple[str, ...], Callable[[dict[str, Any]], Any]] = {
    ("at_least", "at_most"): lambda given: aim.value(
        **{end: given[end] for end in ("at_least", "at_most") if given[end] is not None}
    ),
    ("relative_change",): lambda given: aim.relative_change(given["relative_change"]),
    ("mean_gain",): lambda given: life.mean_gain(given["mean_gain"], unit=given["unit"]),
    ("median_gain",): lambda given: life.median_gain(given["median_gain"], unit=given["unit"]),
    ("survival_at",): lambda given: life.survival_at(
        *_pair(given["survival_at"], "survival-at", "T:P"), unit=given["unit"]
    ),
    ("quantile_at_least",): lambda given: life.quantile_at_least(
        *_pair(given["quantile_at_least"], "quantile-at-least", "Q:T"), unit=given["unit"]
    ),
}
"""For each option (or pair of options) about numbers, the function that makes it a target."""


def cost_of(words: str) -> price.AbstractCost:
    """A cost written as L1, or as a sum such as L1+0.5*L0."""
    total: price.AbstractCost | None = None
    for part in words.split("+"):
        weight, star, name = part.rpartition("*")
        kind = {known.lower(): term for known, term in COSTS.items()}.get(name.strip().lower())
        if kind is None:
            raise InputError(
                f"--cost {words} was given.", f"The costs are {', '.join(COSTS)} and sums such as L1+0.5*L0."
            )
        term = _number(weight, float, f"--cost {words}") * kind() if star else kind()
        total = term if total is None else total + term
    assert total is not None
    return total


def constraints_of(space: Space, **given: Any) -> list[AbstractConstraint]:
    """The constraints that the options describe."""
    found: list[AbstractConstraint] = []
    for option in ("fixed", "only_up", "only_down"):
        names = [name for words in given.get(option) or () for name in _split(words, space.names)]
        if names:
            found.append(getattr(rule, option)(*names))
    for feature, (low, high) in _parts(space, given, "between", "A:LOW:HIGH"):
        found.append(rule.between(feature.name, _value(low, feature), _value(high, feature)))
    for feature, (share,) in _parts(space, given, "within", "A:SHARE"):
        found.append(rule.within(feature.name, _number(share, float, f"--within {feature.name}:{share}")))
    for feature, (size,) in _parts(space, given, "step", "A:STEP"):
        found.append(rule.step(feature.name, _number(size, float, f"--step {feature.name}:{size}")))
    for feature, (values,) in _parts(space, given, "allowed", "A:X,Y"):
        known = feature.levels or ()
        found.append(rule.allowed(feature.name, [_meant(value, known) for value in _split(values, map(str, known))]))
    if given.get("at_most_changes") is not None:
        found.append(rule.at_most_changes(given["at_most_changes"]))
    if given.get("margin") is not None:
        found.append(rule.margin(given["margin"]))
    found += [rule.plausible(load(path)) for path in given.get("plausible") or ()]
    return found


def _parts(space: Space, given: dict[str, Any], option: str, form: str) -> Iterator[tuple[Feature, list[str]]]:
    """For each use of an option, the column and the parts after its colons."""
    for words in given.get(option) or ():
        parts = words.rsplit(":", form.count(":"))
        if len(parts) <= form.count(":"):
            raise InputError(f"--{option} {words} was given.", f"Write it as --{option} {form}.")
        yield space[parts[0]], parts[1:]


def _split(words: str, known: Iterable[str]) -> list[str]:
    """The parts between commas; the whole text if it is a known name."""
    return [words] if words in set(known) else [part.strip() for part in words.split(",")]


def _meant(words: str, known: Iterable[Any]) -> Any:
    """The known value that is written like this. If there is none, the words themselves.

    In that case, the code that uses them raises an error.
    """
    return next((value for value in known if str(value) == words), words)


def _value(words: str, feature: Feature) -> Any:
    """An end of an interval: a level, or a number."""
    if feature.levels is not None and feature.numbers is None:
        return _meant(words, feature.levels)
    return _number(words, float, f"--between {feature.name}")


def _number(words: str, kind: Callable[[str], Any], option: str) -> Any:
    try:
        return kind(words)
    except ValueError:
        raise InputError(
            f"{option} was given.", f"{words!r} is not a {'whole ' if kind is int else ''}number."
        ) from None
