"""A question as JSON: a row, and what is asked of it. It is the table of a file of rules, with a row and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from butfor.errors import InputError, InputTypeError, choice, number
from butfor.explain.rules import Rules, rules

MOST_SECONDS = 60.0
"""How long one question may take, at most."""

MOST_ANSWERS = 10
"""How many answers one question may ask for, at most."""

LIMITS = ("row", "k", "seconds", "seed", "card", "language", "region", "most")
OF_RULES = ("target", "cost", "constraints", "safety", "columns")
"""What is asked, by the names of a file of rules."""

ASKED_OF_COLUMNS = ("frozen", "direction", "range", "step", "price")
"""What may be said of a column. What it holds, and how it is called, is for whoever serves the model to say."""

LANGUAGES = ("en", "de")


@dataclass(frozen=True)
class Inquiry:
    """A question.

    - `row`: the number of a row, or its values by the names of columns;
    - `rules`: target, cost, constraints and safety;
    - `k`, `seconds`, `seed`: as in `Explainer.explain`;
    - `card`, `language`: whether to write each answer as HTML, and in which language;
    - `region`: whether to say where the answer stays valid, too;
    - `most`: how many columns may change together in a menu;
    - `who`: who asks. The server says it, and not the question.
    """

    row: int | Mapping[str, Any]
    rules: Rules = field(default_factory=Rules)
    k: int = 1
    seconds: float = 10.0
    seed: int = 0
    language: str = "en"
    card: bool = False
    region: bool = False
    most: int = 2
    who: str = ""

    @property
    def question(self) -> dict[str, Any]:
        """What is asked, as `Explainer.explain` takes it."""
        asked = self.rules
        return {"target": asked.target, "cost": asked.cost, "constraints": [*asked.constraints], "safety": asked.safety}


def asked(body: Any) -> Inquiry:
    """The question in a JSON object. What is wrong with it is an error that names it."""
    if not isinstance(body, Mapping):
        raise InputTypeError("the question is no JSON object.", 'Write {"row": 3}, for example.')
    known = (*LIMITS, *OF_RULES)
    stray = [name for name in body if name not in known]
    if stray:
        raise InputError(f"{stray[0]!r} is not known in a question.", *choice("The names are", stray[0], known))
    if "row" not in body:
        raise InputError("the question has no row.", "", 'Give its number, or its values: "row": {"age": 30, ...}.')
    _check_columns(body.get("columns", {}))
    language = body.get("language", "en")
    if language not in LANGUAGES:
        raise InputError(f"language={language!r} was given.", *choice("The languages are", language, LANGUAGES))
    return Inquiry(
        row=body["row"],
        rules=rules({name: body[name] for name in OF_RULES if body.get(name) is not None}),
        k=_count(body, "k", 1, MOST_ANSWERS),
        seconds=_seconds(body.get("seconds", 10.0)),
        seed=_count(body, "seed", 0, 2**31, least=0),
        language=language,
        card=_truth(body, "card"),
        region=_truth(body, "region"),
        most=_count(body, "most", 2, 4),
    )


def _check_columns(columns: Any) -> None:
    if not isinstance(columns, Mapping):
        raise InputTypeError("columns is no JSON object.", 'Write {"age": {"frozen": true}}, for example.')
    for name, said in columns.items():
        if not isinstance(said, Mapping):
            raise InputTypeError(f"columns.{name} is no JSON object.", 'Write {"frozen": true}, for example.')
        for key in said:
            if key not in ASKED_OF_COLUMNS:
                raise InputError(
                    f"{key!r} is not known in columns.{name}.", *choice("The names are", key, ASKED_OF_COLUMNS)
                )


def _count(body: Mapping[str, Any], name: str, default: int, most: int, least: int = 1) -> int:
    given = body.get(name, default)
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise InputError(f"{name}={given!r} was given.", f"It must be a whole number from {least} to {most}.")
    return given


def _seconds(given: Any) -> float:
    told = (f"seconds={given!r} was given.", f"It must be a positive number up to {MOST_SECONDS:g}.")
    if not 0 < number(given, *told) <= MOST_SECONDS:
        raise InputError(*told)
    return float(given)


def _truth(body: Mapping[str, Any], name: str) -> bool:
    given = body.get(name, False)
    if not isinstance(given, bool):
        raise InputError(f"{name}={given!r} was given.", "It must be true or false.")
    return given
