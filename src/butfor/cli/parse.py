"""Turn words on a command line into rows and targets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from butfor.errors import InputError, UnknownColumnError, choice, did_you_mean
from butfor.explain.explainer import Explainer
from butfor.problem.targets.classes import Classes, Probability
from butfor.problem.targets.names import classes, probability, value
from butfor.problem.targets.written import read_target
from butfor.problem.written.phrases import meant, read_number, split
from butfor.space import frames


def positions(given: Iterable[str] | None, rows: int) -> list[int]:
    """The rows that are meant by texts such as 3 or 3,5 or 0:10."""
    if not given:
        raise InputError(
            "no row was given.",
            f"The data has {rows} rows.",
            "Use --row 3, --row 3,5, --row 0:10, --id, --where or --unmet.",
        )
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
    if words == "none":
        return 0
    if not words.isdecimal():
        raise InputError(f"--conflicts {words} was given.", "It must be a number of rows, all, or none.")
    return int(words)


def with_ids(table: Any, words: str) -> list[int]:
    """The rows that have one of some values in a column, as in case=A17,A18. Each value must occur."""
    name, sign, rest = words.partition("=")
    places = frames.positions(table)
    if not sign:
        raise InputError(f"--id {words} was given.", "Write it as --id COLUMN=VALUE.")
    if name not in places:
        raise UnknownColumnError(
            f"--id {words} was given, and there is no column {name!r}.", *choice("The columns are", name, places)
        )
    held = [str(value) for value in frames.values(table, name, places[name])]
    wanted = split(rest, held)
    lacking = [value for value in wanted if value not in held]
    if lacking:
        raise InputError(
            f"--id {words} was given.", f"No row has {name} = {lacking[0]}.", did_you_mean(lacking[0], held)
        )
    return [row for row, value in enumerate(held) if value in wanted]


def target_of(explainer: Explainer, words: str | None, **options: Any) -> Any:
    """The target that the options describe, about classes, a probability, or a number; None if there is none."""
    given = {name: value for name, value in options.items() if value is not None and name != "unit"}
    if words == "other" and not given:
        return words
    if words is not None:
        known = [
            label.item() if hasattr(label, "item") else label for label in getattr(explainer.model, "classes_", ())
        ]
        given["class"] = [meant(part, known) for part in split(words, map(str, known))]
    for name, form in PAIRS.items():
        if name in given:
            given[name] = _pair(given[name], _option(name), form)
    return read_target({**given, "unit": options.get("unit", "")}, _option) if given else None


def goals_of(explainer: Explainer, words: str, target: Any) -> list[Any]:
    """The goals of a ladder: values, probabilities of the class that is the target (here or in the rules), or classes."""
    known = [label.item() if hasattr(label, "item") else label for label in getattr(explainer.model, "classes_", ())]
    parts = split(words, map(str, known))
    match explainer.rules.target if target is None else target:
        case Classes((label,)) | Probability(label):
            return [probability(label, read_number(part, float, f"--goals {words}", share=True)) for part in parts]
    if known:
        return [classes(meant(part, known)) for part in parts]
    return [value(at_least=read_number(part, float, f"--goals {words}")) for part in parts]


PAIRS = {"survival_at": "T:P", "quantile_at_least": "Q:T"}
"""The options that are two numbers, and how to write them."""


def _option(name: str) -> str:
    """The option for a name of a target."""
    return "--target" if name == "class" else f"--{name.replace('_', '-')}"


def _pair(words: str, option: str, form: str) -> list[float]:
    """The two numbers before and after a colon."""
    parts = words.split(":")
    if len(parts) != 2:
        raise InputError(f"{option} {words} was given.", f"Write it as {option} {form}.")
    return [read_number(part, float, f"{option} {words}") for part in parts]
