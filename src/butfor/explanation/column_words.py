"""How answers name columns and write their values: labels, units and number formats."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from butfor.errors import InputError, InputTypeError, choice, did_you_mean, suggests
from butfor.space.feature import Feature
from butfor.space.space import Space

MOST_DECIMALS = 15
"""A float64 has no more digits than this behind its first one."""


@dataclass(frozen=True)
class NumberStyle:
    """How a language writes numbers, and a missing value."""

    thousands: str = ","
    decimal: str = "."
    missing: str = "missing"

    def apply(self, text: str, grouped: bool) -> str:
        """A number that is written with a point, in this style; `grouped`: with marks between thousands.

        >>> NumberStyle(thousands=".", decimal=",").apply("-22150.5", grouped=True)
        '-22.150,5'
        """
        if "e" in text or "n" in text:  # an exponent, inf or nan
            return text
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        whole, _, rest = digits.partition(".")
        if grouped:
            whole = f"{int(whole):,}".replace(",", self.thousands)
        return sign + whole + (self.decimal + rest if rest else "")


ENGLISH = NumberStyle()


@dataclass(frozen=True)
class ColumnWords:
    """See `Column`."""

    label: str = ""
    unit: str = ""
    decimals: int | None = None
    thousands: bool = True
    levels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    phrase: str = ""

    def number(self, text: str, style: NumberStyle = ENGLISH) -> str:
        """A number, which is written with a point, with its unit."""
        return style.apply(text, self.thousands) + (f"\N{NO-BREAK SPACE}{self.unit}" if self.unit else "")

    def level(self, value: Any) -> str:
        """A value that is not a number."""
        return self.levels.get(str(value), str(value))

    def validate(self, feature: Feature) -> None:
        """Raise a clear error if the words do not fit the column. Of one that nothing reads, nothing is known."""
        if feature.unread:
            return
        if feature.levels is None:
            if self.levels:
                raise InputError(f"words for levels of {feature.name!r} were given.", "It is a column of numbers.")
            return
        if self.decimals is not None:
            raise InputError(
                f"decimals={self.decimals} was given for {feature.name!r}.",
                f"It is not a column of numbers: its values are {feature.describe()}.",
            )
        unknown = [name for name in self.levels if name not in map(str, feature.levels)]
        if unknown:
            raise InputError(
                f"words for the level {unknown[0]!r} of {feature.name!r} were given.",
                *choice("Its values are", unknown[0], feature.levels),
            )

    def __repr__(self) -> str:
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        blank = ColumnWords()
        told = [f"{name}={value!r}" for name, value in own.items() if value != getattr(blank, name)]
        return f"Column({', '.join(told)})"

    def __reduce__(self) -> Any:
        return ColumnWords, (self.label, self.unit, self.decimals, self.thousands, dict(self.levels), self.phrase)


@suggests
def Column(
    label: str = "",
    *,
    unit: str = "",
    decimals: int | None = None,
    thousands: bool = True,
    levels: Mapping[Any, str] = MappingProxyType({}),
    phrase: str = "",
) -> ColumnWords:
    """How a column is called and its values are written. For `bf.describe`.

    - `label`: its name in words (default: the name of the column);
    - `unit`: what stands behind its numbers, such as "EUR";
    - `decimals`: how many decimals its numbers have at least. An answer has more where it would otherwise be rounded
      to a number that the model was not asked about;
    - `thousands`: whether marks stand between thousands (False for years);
    - `levels`: words for its values if they are not numbers;
    - `phrase`: how a letter says a value, with its article: "a yearly income of {value}". Of a prediction, it is the whole
      clause: "we would have {value} your application".

    >>> Column("Yearly income", unit="EUR", decimals=0).label
    'Yearly income'
    """
    for name, text in (("label", label), ("unit", unit), ("phrase", phrase)):
        if not isinstance(text, str):
            raise InputTypeError(f"{name}={text!r} was given to bf.Column.", "It must be a text.")
    if decimals is not None and (
        isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= MOST_DECIMALS
    ):
        raise InputError(
            f"decimals={decimals!r} was given to bf.Column.", f"It must be a whole number from 0 to {MOST_DECIMALS}."
        )
    if phrase and "{value}" not in phrase:
        raise InputError(f"phrase={phrase!r} was given to bf.Column.", "It must hold {value}, where the value stands.")
    if not isinstance(thousands, bool):
        raise InputTypeError(f"thousands={thousands!r} was given to bf.Column.", "It must be True or False.")
    if not isinstance(levels, Mapping) or not all(isinstance(text, str) for text in levels.values()):
        raise InputTypeError(f"levels={levels!r} was given to bf.Column.", "It must be a dict from value to text.")
    return ColumnWords(label, unit, decimals, thousands, {str(value): text for value, text in levels.items()}, phrase)


@dataclass(frozen=True)
class Words:
    """The words for columns and predictions. See `describe`."""

    columns: Mapping[str, ColumnWords]
    prediction: ColumnWords | None = None

    def validate(self, space: Space) -> None:
        """Raise a clear error if a column is unknown, or words do not fit theirs."""
        for name, words in self.columns.items():
            words.validate(space[name])

    def __repr__(self) -> str:
        named = ", ".join(f"{name}: {words.label or name}" for name, words in self.columns.items())
        return f"<Words for {len(self.columns)} columns ({named})>"


@suggests
def describe(
    columns: Mapping[str, ColumnWords | str] | str | os.PathLike[str], *, prediction: ColumnWords | None = None
) -> Words:
    """Words for columns and predictions, in which answers are told.

    Give them to `bf.Explainer(..., words=...)`, or to `answer.described(...)` of an answer that was loaded: a record
    holds facts, and no words. Every view uses them: text, HTML, pictures and letters.

    - `columns`: a dict from column to `bf.Column(...)` or to its label; or the path of a TOML file with a table
      `[columns.NAME]` per column, and a table `[prediction]`;
    - `prediction`: words for what the model predicts. Its `levels` are the classes.

    >>> describe({"income": Column("Yearly income", unit="EUR"), "age": "Age"})
    <Words for 2 columns (income: Yearly income, age: Age)>
    """
    if isinstance(columns, str | os.PathLike):
        return _from_file(Path(columns), prediction)
    if not isinstance(columns, Mapping):
        raise InputTypeError(
            f"{type(columns).__name__} was given to bf.describe.", "A dict from column to bf.Column(...) is needed."
        )
    if prediction is not None and not isinstance(prediction, ColumnWords):
        raise InputTypeError(f"prediction={prediction!r} was given.", "It must be bf.Column(...).")
    return Words({str(name): _words(str(name), given) for name, given in columns.items()}, prediction)


def words_over(given: Any, space: Space) -> Words:
    """The words that a user gave for the columns of a space."""
    if not isinstance(given, Words):
        raise InputTypeError(
            f"words={given!r} was given.", "Words of bf.describe are needed.", "Write bf.describe({...})."
        )
    given.validate(space)
    return given


def _words(name: str, given: Any) -> ColumnWords:
    if isinstance(given, str):
        return Column(given)
    if not isinstance(given, ColumnWords):
        raise InputTypeError(
            f"{given!r} was given as words for {name!r}.", "A label or bf.Column(...) is needed.", 'Write "Age".'
        )
    return given


def _from_file(path: Path, prediction: ColumnWords | None) -> Words:
    """The words in a TOML file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:  # not TOML, or not UTF-8
        raise InputError(f"{path} is not TOML: {error}.", "Write a table [columns.NAME] per column.") from None
    unknown = [name for name in data if name not in ("columns", "prediction")]
    listed = data.get("columns", {})
    if unknown or not isinstance(listed, dict):
        raise InputError(
            f"{path} has {unknown[0] if unknown else 'columns'!r}, which is not known.",
            "It may have the tables [columns.NAME] and [prediction].",
            did_you_mean(unknown[0], ("columns", "prediction")) if unknown else "",
        )
    made = {name: column_from(path, f"columns.{name}", given) for name, given in listed.items()}
    if prediction is None and "prediction" in data:
        prediction = column_from(path, "prediction", data["prediction"])
    return describe(made, prediction=prediction)


def column_from(source: object, place: str, given: Any) -> ColumnWords:
    """The words in a table of a file, which stands at a place there."""
    if isinstance(given, str):
        return Column(given)
    known = [f.name for f in fields(ColumnWords)]
    unknown = [name for name in given if name not in known] if isinstance(given, dict) else [place]
    if unknown:
        raise InputError(
            f"{source} has {unknown[0]!r} in [{place}], which is not known.",
            *choice("The names are", unknown[0], known),
        )
    return Column(**given)
