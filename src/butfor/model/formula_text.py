"""Formulas as text, such as `debt / income` or `round(100 * debt / (income + 12), 1)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import NamedTuple

from butfor.errors import InputError
from butfor.model.formula import ROUNDING, Formula

NUMBER_IN_FORMULA = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?(?![\w.])")
QUOTED_NAME = re.compile(r"`([^`]+)`|'([^']+)'|\"([^\"]+)\"")
NAME_IN_FORMULA = re.compile(r"[^\W\d]\w*(\.\w+)*")
FORMULAS = "Examples are 'debt / income', '12 * rate - 50', '(a - b) / (a + b)' and 'round(`loan amount` / income, 2)'."


FARTHEST_DIGIT = 300
"""Numbers are rounded to so many digits before or behind the point, at most: a float has no others."""


class FormulaPiece(NamedTuple):
    """A "column", a "number", or a sign, and where it stands."""

    kind: str
    value: str
    at: int


def read_formula(text: str, known: Iterable[str] = ()) -> Formula:
    """The formula that a text says. Names that are `known` may hold spaces and signs; others need backticks then."""
    return _Reader(text, _pieces(text, sorted(known, key=len, reverse=True))).whole()


def quoted(name: str) -> str:
    """A name as it is written in a formula."""
    return name if NAME_IN_FORMULA.fullmatch(name) and name not in ROUNDING else f"`{name}`"


def written(formula: Formula) -> str:
    """The formula as text that `read_formula` reads."""
    return formula.written({name: quoted(str(name)) for name in formula.columns})


def _pieces(text: str, known: Sequence[str]) -> list[FormulaPiece]:
    found, at = list[FormulaPiece](), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        piece, at = _piece(text, at, known)
        found.append(piece)
    return found


def _piece(text: str, at: int, known: Sequence[str]) -> tuple[FormulaPiece, int]:
    for name in known:
        end = at + len(name)
        if name.strip() and text.startswith(name, at) and not (name[-1].isalnum() and text[end : end + 1].isalnum()):
            return FormulaPiece("column", name, at), end
    if match := QUOTED_NAME.match(text, at):
        return FormulaPiece("column", next(part for part in match.groups() if part), at), match.end()
    if (match := NUMBER_IN_FORMULA.match(text, at)) and isfinite(float(match[0])):
        return FormulaPiece("number", match[0], at), match.end()
    if match := NAME_IN_FORMULA.match(text, at):
        return FormulaPiece(match[0] if match[0] in ROUNDING else "column", match[0], at), match.end()
    if text[at] in "+-*/(),−·":
        return FormulaPiece(text[at].replace("−", "-").replace("·", "*"), text[at], at), at + 1
    raise _unreadable(text, at)


def _unreadable(text: str, at: int) -> InputError:
    place = f", from {text[at:]!r} on" if at < len(text) else ": it ends too early"
    return InputError(
        f"the formula {text!r} cannot be read{place}.",
        "It is made of columns, numbers, +, -, *, /, brackets and round(..., digits).",
        f"{FORMULAS} What they do not say can be given as a function.",
    )


class _Reader:
    """Reads sums of products of factors."""

    def __init__(self, text: str, pieces: list[FormulaPiece]) -> None:
        self.text, self.pieces, self.at = text, pieces, 0

    def whole(self) -> Formula:
        """The formula of the whole text."""
        found = self._sum()
        if self.at < len(self.pieces):
            raise self._wrong()
        return found

    def _next(self, *kinds: str) -> FormulaPiece | None:
        """The next piece, if it is of one of these kinds."""
        if self.at < len(self.pieces) and self.pieces[self.at].kind in kinds:
            self.at += 1
            return self.pieces[self.at - 1]
        return None

    def _demand(self, kind: str) -> FormulaPiece:
        found = self._next(kind)
        if found is None:
            raise self._wrong()
        return found

    def _wrong(self) -> InputError:
        return _unreadable(self.text, self.pieces[self.at].at if self.at < len(self.pieces) else len(self.text))

    def _sum(self) -> Formula:
        found = self._product()
        while sign := self._next("+", "-"):
            found = Formula(sign.kind, (found, self._product()))
        return found

    def _product(self) -> Formula:
        found = self._factor()
        while sign := self._next("*", "/"):
            found = Formula(sign.kind, (found, self._factor()))
        return found

    def _factor(self) -> Formula:
        if sign := self._next("+", "-"):
            number = self._next("number")
            if number is not None:
                return Formula.of(float(number.value) * (1 if sign.kind == "+" else -1))
            return self._factor() if sign.kind == "+" else -self._factor()
        if number := self._next("number"):
            return Formula.of(float(number.value))
        if column := self._next("column"):
            return Formula.column(column.value)
        if rounding := self._next(*ROUNDING):
            self._demand("(")
            inner, digits = self._sum(), 0
            if self._next(","):
                way = -1 if self._next("-") else 1
                digits = way * int(float(self._demand("number").value))
                if abs(digits) > FARTHEST_DIGIT:
                    raise self._wrong()
            self._demand(")")
            return Formula(rounding.kind, (inner, digits))
        self._demand("(")
        found = self._sum()
        self._demand(")")
        return found
