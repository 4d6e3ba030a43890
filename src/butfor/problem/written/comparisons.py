"""Constraints written as comparisons, such as `income <= 90000`, `low <= age <= high` or `a + 2*b <= 10`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from butfor.errors import InputError, UnknownColumnError
from butfor.model.formula_text import read_formula
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.written.numbers import DOUBTFUL, PLAIN_NUMBER, number_at
from butfor.problem.written.phrases import QUOTED, meant, read_computed, unquoted
from butfor.space.feature import Feature
from butfor.space.space import Space

Sense = Literal["<=", ">=", "=="]

COMPARED = re.compile(r"<=|>=|=<|=>|==|!=|≤|≥|=|<|>")
WORD = re.compile(r"[\w.]+|\S")

SENSES: dict[str, Sense] = {
    "<=": "<=", "=<": "<=", "≤": "<=", ">=": ">=", "=>": ">=", "≥": ">=", "==": "==", "=": "==",
}  # fmt: skip
TURNED: dict[Sense, Sense] = {"<=": ">=", ">=": "<=", "==": "=="}

READABLE = "Write a comparison of columns and numbers, or a word and its columns."
EXAMPLES = (
    "Examples are 'income <= 90000', '18 <= age <= 65', 'dpd_30 <= dpd_90', 'rent + 0.5*debt <= 1000', "
    "'amount/income <= 0.5', 'job == clerk', 'if job == clerk then income >= 20000', 'fixed age, sex' and "
    "'only_up education'."
)
PLACE = 24
"""How many characters of a text an error shows from the place that cannot be read."""


class Token(NamedTuple):
    """A piece of a comparison: a "column", "number", "sign", "compare" or an unknown "word"; where it stands.

    `written` is how a number is written, and `percent` whether it is in per cent.
    """

    kind: str
    value: Any
    start: int
    end: int
    written: str = ""
    percent: bool = False


class WrittenTerm(NamedTuple):
    """`factor * column / below`, with the tokens that say so. Without a column, it is a number."""

    factor: float
    column: str | None
    below: str | None
    tokens: tuple[Token, ...]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a sum of terms."""

    terms: tuple[WrittenTerm, ...]

    @property
    def weights(self) -> dict[str, float]:
        """The factors of its columns."""
        found: dict[str, float] = {}
        for term in self.terms:
            if term.column is not None:
                found[term.column] = found.get(term.column, 0) + term.factor
        return found

    @property
    def constant(self) -> float:
        """The sum of its numbers."""
        return sum(term.factor for term in self.terms if term.column is None)

    @property
    def column(self) -> str | None:
        """Its column, if it is one column and nothing else."""
        names = list(self.weights)
        return names[0] if not self.constant and list(self.weights.values()) == [1] else None

    @property
    def number(self) -> Token | None:
        """The number as it is written, if it is one number and nothing else."""
        tokens = [token for term in self.terms for token in term.tokens]
        return tokens[0] if len(tokens) == 1 and tokens[0].kind == "number" else None


def unreadable(text: str, needed: str = READABLE, at: Token | None = None) -> InputError:
    """The error for a text that is no constraint. It shows the place, if one is known."""
    shown = "" if at is None else text[at.start : at.start + PLACE] + "..." * (len(text) - at.start > PLACE)
    place = f", from {shown!r} (character {at.start + 1}) on" if at is not None else ""
    return InputError(f"the constraint {text!r} cannot be read{place}.", needed, EXAMPLES)


def compares(text: str, space: Space) -> bool:
    """Whether a text is a comparison."""
    return any(token.kind == "compare" for token in _tokens(text, space))


def read_comparison(text: str, space: Space) -> list[AbstractConstraint]:
    """The constraints that a comparison means. It has one sign, or two with the sum in the middle."""
    tokens = list(_tokens(text, space))
    signs = [token for token in tokens if token.kind == "compare"]
    if following := _computed(text, tokens, signs, space):
        return [following]
    starts, ends = [0, *(sign.end for sign in signs)], [*(sign.start for sign in signs), len(text)]
    if len(signs) == 1:
        written = [text[a:b] for a, b in zip(starts, ends, strict=True)]
        chosen = _of_levels(text, written, signs[0], space)
        if chosen is not None:
            return [chosen]
    senses = [_sense(text, sign) for sign in signs]
    sides = [
        _side(text, [token for token in tokens if a <= token.start and token.end <= b], space, sign)
        for a, b, sign in zip(starts, ends, [*signs, signs[-1]], strict=True)
    ]
    one_way = len(signs) == 2 and senses[0] == senses[1] and "==" not in senses
    if len(signs) > 1 and not (one_way and not sides[0].weights and not sides[2].weights):
        raise unreadable(
            text,
            "A comparison has one sign, or two of one direction between a number, columns, and a number.",
            signs[1],
        )
    sides = _without_division(text, sides, senses, space)
    if len(signs) == 1:
        return [_relation(text, sides[0], senses[0], sides[1], space)]
    low, middle, high = sides if senses[0] == "<=" else sides[::-1]
    if middle.column is not None and not low.weights:
        ends_of = (_end(text, side, space[middle.column]) for side in (low, high))
        return [rule.between(middle.column, *ends_of)]
    return [_relation(text, low, "<=", middle, space), _relation(text, middle, "<=", high, space)]


def _computed(text: str, tokens: list[Token], signs: list[Token], space: Space) -> AbstractConstraint | None:
    """A column that is computed from others, if that is no sum of them: a sum may be kept from both sides."""
    if (
        [sign.value for sign in signs] not in (["="], ["=="])
        or tokens.index(signs[0]) != 1
        or tokens[0].kind != "column"
    ):
        return None
    try:
        formula = read_formula(text[signs[0].end :], space.names)
    except InputError:
        return None
    sums = formula.quotient()
    return None if sums is not None and sums.is_linear else read_computed(text, space, f"the constraint {text!r}")


def _tokens(text: str, space: Space) -> Iterator[Token]:
    """The pieces of a text. Of the names of columns that fit, the longest counts, so names may hold spaces and signs."""
    names = sorted(
        (name for name in space.names if name.strip() and not PLAIN_NUMBER.fullmatch(name)), key=len, reverse=True
    )
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token(text, at, names)
        yield token
        at = token.end


def _token(text: str, at: int, names: list[str]) -> Token:
    for name in names:
        end = at + len(name)
        if text.startswith(name, at) and not (re.match(r"\w", name[-1]) and re.match(r"\w", text[end : end + 1])):
            return Token("column", name, at, end)
    if found := QUOTED.match(text, at):
        return Token("column", next(part for part in found.groups() if part is not None), at, found.end())
    number = number_at(text, at)
    if number is not None:
        value = number.better or number.value  # with a comma for a point, it is a word that is not known
        kind = "comma" if number.better else "number"
        return Token(kind, value, at, number.end, number.written, number.percent)
    if found := COMPARED.match(text, at):
        return Token("compare", found[0], at, found.end())
    if text[at] in "+-*/−·":
        return Token("sign", text[at].replace("−", "-").replace("·", "*"), at, at + 1)
    found = WORD.match(text, at)
    assert found is not None
    return Token("word", found[0], at, found.end())


def _sense(text: str, sign: Token) -> Sense:
    if sign.value in ("<", ">"):
        raise unreadable(text, f"The ends of a constraint are included: write {sign.value}= for {sign.value}.", sign)
    if sign.value == "!=":
        raise unreadable(text, "!= is only for columns with levels, compared with one of them.", sign)
    return SENSES[sign.value]


def _of_levels(text: str, sides: list[str], sign: Token, space: Space) -> AbstractConstraint | None:
    """A column compared with one of its levels; None if no column with levels stands alone on a side."""
    for k, side in enumerate(sides):
        name, words = unquoted(side), unquoted(sides[1 - k])
        levels = space[name].levels if name in space.names else None
        level = meant(words, levels or ())
        if levels is None or (space[name].numbers is not None and level not in levels):
            continue
        if sign.value == "!=" and level in levels:
            return rule.allowed(name, [other for other in levels if other != level])
        sense = _sense(text, sign)
        sense = TURNED[sense] if k else sense
        if sense == "==":
            return rule.allowed(name, [level])
        return rule.between(name, high=level) if sense == "<=" else rule.between(name, low=level)
    return None


def _side(text: str, tokens: list[Token], space: Space, sign: Token) -> Side:
    """The sum that a side says. If it is empty, the error points at the `sign` beside it."""
    if not tokens:
        raise unreadable(text, "Something must stand on both sides of the sign.", sign)
    found = []
    for way, term in _terms(text, tokens):
        _known(text, term, space)
        product = _product(text, term)
        found.append(product._replace(factor=way * product.factor))
    return Side(tuple(found))


def _terms(text: str, tokens: list[Token]) -> Iterator[tuple[int, list[Token]]]:
    """The terms of a sum, each with its sign."""
    sign, term = 1, list[Token]()
    for k, token in enumerate(tokens):
        after_factor = k > 0 and tokens[k - 1].kind != "sign"
        if token.kind == "sign" and token.value in "+-" and (after_factor or not term):
            if term:
                yield sign, term
                sign, term = 1, []
            sign = -sign if token.value == "-" else sign
        else:
            term.append(token)
    if not term:
        raise unreadable(text, READABLE, tokens[-1])
    yield sign, term


def _product(text: str, term: list[Token]) -> WrittenTerm:
    """A product of numbers and at most one column, divided by numbers and at most one column."""
    factor: float = 1
    name, below, sign = None, None, "*"
    for k, token in enumerate(term):
        if (token.kind == "sign") != bool(k % 2):
            raise unreadable(text, READABLE, token)
        if token.kind == "sign":
            sign = token.value
        elif token.kind == "column" and name is None and sign == "*":
            name = token.value
        elif token.kind == "column" and below is None and sign == "/":
            below = token.value
        elif token.kind == "number" and (sign == "*" or token.value):
            factor = factor * token.value if sign == "*" else factor / token.value
        else:
            raise unreadable(
                text, "A term is a number times one column, perhaps divided by a number or by one other column.", token
            )
    if len(term) % 2 == 0:
        raise unreadable(text, READABLE, term[-1])
    return WrittenTerm(factor, name, below, tuple(term))


def _known(text: str, term: list[Token], space: Space) -> None:
    """Refuse a term with an unknown name, which may have several words, and a number with a comma for a point."""
    comma = next((token for token in term if token.kind == "comma"), None)
    if comma is not None:
        raise unreadable(text, f"Decimals have a point: write {comma.value} for {comma.written}.", comma)
    unknown = " ".join(str(token.value) for token in term if token.kind == "word")
    quoted = [token.value for token in term if token.kind == "column"]
    for name in [unknown] * bool(unknown) + quoted:
        try:
            space.index(name)
        except UnknownColumnError as error:
            raise error.within(f"the constraint {text!r}") from None


def _without_division(text: str, sides: list[Side], senses: list[Sense], space: Space) -> list[Side]:
    """The sides times the column by which they are divided. It must be above 0, so that the comparison stays the same."""
    divided = [term for side in sides for term in side.terms if term.below is not None]
    if not divided:
        return sides
    below = divided[0].below
    assert below is not None
    if any(term.below != below for term in divided):
        raise unreadable(text, "All terms must be divided by the same column.", divided[1].tokens[0])
    cleared = [Side(tuple(_times(text, term, below) for term in side.terms if term.factor)) for side in sides]
    feature = space[below]
    ends = feature.numbers if feature.levels is not None else (feature.low,)
    if ends is None or not min(ends) > 0:
        plain = " and ".join(
            f"'{_as_text(one)} {sense} {_as_text(other)}'"
            for one, sense, other in zip(cleared[:-1], senses, cleared[1:], strict=True)
        )
        raise InputError(
            f"the constraint {text!r} divides by {below!r}, whose values are {feature.describe()}.",
            "A ratio can be kept exactly only if what it is divided by is a number above 0.",
            f"Write {plain} if that is meant, or declare the range with space={{{below!r}: bf.Continuous(low=...)}}.",
        )
    return cleared


def _times(text: str, term: WrittenTerm, below: str) -> WrittenTerm:
    """A term times a column."""
    if term.below is not None:
        return term._replace(below=None)
    if term.column is None:
        return term._replace(column=below)
    raise unreadable(text, f"{term.column!r} would be multiplied by {below!r}: that is not linear.", term.tokens[0])


def _as_text(side: Side) -> str:
    """A sum as it can be written."""
    parts = [(weight, name) for name, weight in side.weights.items()]
    words = [name if weight == 1 else f"{weight:.15g}*{name}" for weight, name in parts]
    words += [f"{side.constant:.15g}"] * bool(side.constant or not parts)
    return " + ".join(words).replace("+ -", "- ")


def _end(text: str, side: Side, feature: Feature) -> float:
    """The number that a column is compared with. One that may be read in two ways is refused."""
    token = side.number
    if token is None:
        return side.constant
    other = (100 if token.percent else 1000) * token.value
    fits = feature.levels is None and feature.low <= other <= feature.high
    if fits and ((token.percent and feature.high > 1) or DOUBTFUL.fullmatch(token.written)):
        plain = f"{token.value:.15g}" if token.percent else f"{token.written}0"
        raise unreadable(text, f"{token.written} may be read in two ways: write {other:.15g} or {plain}.", token)
    return side.constant


def _relation(text: str, left: Side, sense: Sense, right: Side, space: Space) -> AbstractConstraint:
    """A comparison of two sums."""
    for one, other, way in ((left, right, sense), (right, left, TURNED[sense])):
        if one.column is not None and not other.weights:
            end = _end(text, other, space[one.column])
            return rule.between(one.column, end if way != "<=" else None, end if way != ">=" else None)
    names = dict.fromkeys([*left.weights, *right.weights])
    weights = {name: left.weights.get(name, 0) - right.weights.get(name, 0) for name in names}
    kept = {name: weight for name, weight in weights.items() if weight}
    if not kept:
        raise InputError(f"the constraint {text!r} says nothing.", "It compares no column with anything.", EXAMPLES)
    return rule.linear(kept, sense, right.constant - left.constant)
