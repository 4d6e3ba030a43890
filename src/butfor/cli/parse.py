"""Turn words on a command line into rows and targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from butfor.errors import InputError
from butfor.explain.explainer import Explainer
from butfor.problem.targets import names as aim
from butfor.problem.targets import survival_names as life
from butfor.problem.written.phrases import meant, read_number, split


def positions(given: Iterable[str] | None, rows: int) -> list[int]:
    """The rows that are meant by texts such as 3 or 3,5 or 0:10."""
    if not given:
        raise InputError("no row was given.", f"The data has {rows} rows.", "Use --row 3, --row 3,5 or --row 0:10.")
    found: list[int] = []
    for part in (part for words in given for part in words.split(",")):
        ends = [read_number(end, int, f"--row {part}") for end in part.split(":")]
        chosen = range(ends[0], ends[-1]) if len(ends) == 2 else ends
        if len(ends) > 2 or not chosen or min(chosen) < 0 or max(chosen) >= rows:
            raise InputError(f"--row {part} was given.", f"The data has the rows 0 to {rows - 1}.")
        found += chosen
    return found


def sample_of(words: str | None) -> float | None:
    """How many answers to check: a share such as 0.1, or a number such as 200."""
    if words is None:
        return None
    share: float = read_number(words, float if "." in words else int, f"--sample {words}")
    return share


def conflicts_of(words: str | None) -> int | Literal["all"] | None:
    """In how many impossible rows to look for a conflict."""
    if words is None:
        return None
    if words == "all":
        return "all"
    rows: int = 0 if words == "none" else read_number(words, int, f"--conflicts {words}")
    return rows


Ends = tuple[float | None, float | None]
"""The least and the largest probability that are asked for."""


def target_of(explainer: Explainer, words: str, probability: Ends = (None, None), **numbers: Any) -> Any:
    """The target that the options describe, about classes, a probability, or a number."""
    used = [option for option in OF_NUMBERS if any(numbers.get(name) is not None for name in option)]
    if not used:
        return _of_classes(explainer, words, probability)
    options = [f"--{name.replace('_', '-')}" for option in used for name in option if numbers.get(name) is not None]
    options += ["--target"] * (words != "other") + _told(probability)
    if len(used) > 1 or options[-1] in ("--target", *OF_PROBABILITIES):
        raise InputError(f"{' and '.join(options)} were given.", "A question has only one target.", "Give one of them.")
    return OF_NUMBERS[used[0]](numbers)


OF_PROBABILITIES = ("--probability", "--probability-at-most")


def _told(probability: Ends) -> list[str]:
    """The options about a probability that were given."""
    return [option for option, end in zip(OF_PROBABILITIES, probability, strict=True) if end is not None]


def _of_classes(explainer: Explainer, words: str, probability: Ends) -> Any:
    """The classes that are wanted, or the probability of one."""
    known = [label.item() if hasattr(label, "item") else label for label in getattr(explainer.model, "classes_", ())]
    asked = _told(probability)
    if words == "other" and asked:
        raise InputError(f"{asked[0]} was given without a class.", "Give the class with --target.")
    if words == "other":
        return words
    labels = [meant(part, known) for part in split(words, map(str, known))]
    if not asked:
        return aim.classes(*labels)
    if len(labels) != 1:
        raise InputError(f"{asked[0]} was given with {len(labels)} classes.", "It needs exactly one.")
    least, most = probability
    if least is not None and most is not None:
        return aim.probability(labels[0], between=(least, most))
    return aim.probability(labels[0], at_least=least, at_most=most)


def _pair(words: str, option: str, form: str) -> list[float]:
    """The two numbers before and after a colon."""
    parts = words.split(":")
    if len(parts) != 2:
        raise InputError(f"--{option} {words} was given.", f"Write it as --{option} {form}.")
    return [read_number(part, float, f"--{option} {words}") for part in parts]


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
