"""Constraints written as comparisons, such as `income <= 90000`, `low <= age <= high` or `a + 2*b <= 10`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from butfor.errors import InputError, UnknownColumnError
from butfor.problem.constraints import names as rule
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.written.phrases import meant
from butfor.space.space import Space

Sense = Literal["<=", ">=", "=="]

COMPARED = re.compile(r"<=|>=|==|!=|≤|≥|=|<|>")
WRITTEN_NUMBER = re.compile(r"(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"|`([^`]*)`")
WORD = re.compile(r"[\w.]+|\S")

SENSES: dict[str, Sense] = {"<=": "<=", "≤": "<=", ">=": ">=", "≥": ">=", "==": "==", "=": "=="}
TURNED: dict[Sense, Sense] = {"<=": ">=", ">=": "<=", "==": "=="}

READABLE = "Write a comparison of columns and numbers, or a word and its columns."
EXAMPLES = (
    "Examples are 'income <= 90000', '18 <= age <= 65', 'dpd_30 <= dpd_90', 'rent + 0.5*debt <= 1000', 'job == clerk', "
    "'fixed age, sex' and 'only_up education'."
)


class Token(NamedTuple):
    """A piece of a comparison: a "column", "number", "sign", "compare" or an unknown "word"; where it stands."""

    kind: str
    value: Any
    start: int
    end: int


@dataclass(frozen=True)
class Side:
    """One side of a comparison: `sum of weight * column + constant`."""

    weights: dict[str, float] = field(default_factory=dict)
    constant: float = 0

    @property
    def column(self) -> str | None:
        """Its column, if it is one column and nothing else."""
        names = list(self.weights)
        return names[0] if not self.constant and list(self.weights.values()) == [1] else None


def unreadable(text: str, needed: str = READABLE) -> InputError:
    """The error for a text that is no constraint."""
    return InputError(f"the constraint {text!r} cannot be read.", needed, EXAMPLES)


def compares(text: str, space: Space) -> bool:
    """Whether a text is a comparison."""
    return any(token.kind == "compare" for token in _tokens(text, space))


def read_comparison(text: str, space: Space) -> list[AbstractConstraint]:
    """The constraints that a comparison means. It has one sign, or two with the sum in the middle."""
    tokens = list(_tokens(text, space))
    signs = [token for token in tokens if token.kind == "compare"]
    starts, ends = [0, *(sign.end for sign in signs)], [*(sign.start for sign in signs), len(text)]
    if len(signs) == 1:
        written = [text[a:b] for a, b in zip(starts, ends, strict=True)]
        chosen = _of_levels(text, written, signs[0], space)
        if chosen is not None:
            return [chosen]
    senses = [_sense(text, sign.value) for sign in signs]
    sides = [
        _side(text, [token for token in tokens if a <= token.start and token.end <= b], space)
        for a, b in zip(starts, ends, strict=True)
    ]
    if len(signs) == 1:
        return [_relation(text, sides[0], senses[0], sides[1])]
    if len(signs) != 2 or senses[0] != senses[1] or "==" in senses or sides[0].weights or sides[2].weights:
        raise unreadable(
            text, "A comparison has one sign, or two of one direction between a number, columns, and a number."
        )
    low, middle, high = sides if senses[0] == "<=" else sides[::-1]
    if middle.column is not None:
        return [rule.between(middle.column, low.constant, high.constant)]
    return [_relation(text, low, "<=", middle), _relation(text, middle, "<=", high)]


def _tokens(text: str, space: Space) -> Iterator[Token]:
    """The pieces of a text. Of the names of columns that fit, the longest counts, so names may hold spaces and signs."""
    names = sorted(
        (name for name in space.names if name.strip() and not WRITTEN_NUMBER.fullmatch(name)), key=len, reverse=True
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
    if found := WRITTEN_NUMBER.match(text, at):
        words = found[0].replace("_", "")
        return Token("number", int(words) if words.isdigit() else float(words), at, found.end())
    if found := COMPARED.match(text, at):
        return Token("compare", found[0], at, found.end())
    if text[at] in "+-*/−·":
        return Token("sign", text[at].replace("−", "-").replace("·", "*"), at, at + 1)
    found = WORD.match(text, at)
    assert found is not None
    return Token("word", found[0], at, found.end())


def _sense(text: str, sign: str) -> Sense:
    if sign in ("<", ">"):
        raise unreadable(text, f"The ends of a constraint are included: write {sign}= for {sign}.")
    if sign == "!=":
        raise unreadable(text, "!= is only for columns with levels, compared with one of them.")
    return SENSES[sign]


def _of_levels(text: str, sides: list[str], sign: Token, space: Space) -> AbstractConstraint | None:
    """A column compared with one of its levels; None if no column with levels stands alone on a side."""
    for k, side in enumerate(sides):
        name, words = _unquoted(side), _unquoted(sides[1 - k])
        levels = space[name].levels if name in space.names else None
        level = meant(words, levels or ())
        if levels is None or (space[name].numbers is not None and level not in levels):
            continue
        if sign.value == "!=" and level in levels:
            return rule.allowed(name, [other for other in levels if other != level])
        sense = _sense(text, sign.value)
        sense = TURNED[sense] if k else sense
        if sense == "==":
            return rule.allowed(name, [level])
        return rule.between(name, high=level) if sense == "<=" else rule.between(name, low=level)
    return None


def _unquoted(words: str) -> str:
    found = QUOTED.fullmatch(words.strip())
    return next(part for part in found.groups() if part is not None) if found else words.strip()


def _side(text: str, tokens: list[Token], space: Space) -> Side:
    """The sum that a side says."""
    weights: dict[str, float] = {}
    constant: float = 0
    for sign, term in _terms(text, tokens):
        _known(text, term, space)
        factor, name = _product(text, term)
        if name is None:
            constant += sign * factor
        else:
            weights[name] = weights.get(name, 0) + sign * factor
    return Side(weights, constant)


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
        raise unreadable(text)
    yield sign, term


def _product(text: str, term: list[Token]) -> tuple[float, str | None]:
    """The factor of a term, and its column if it has one."""
    factor: float = 1
    name, sign = None, "*"
    if len(term) % 2 == 0:
        raise unreadable(text)
    for k, token in enumerate(term):
        if (token.kind == "sign") != bool(k % 2):
            raise unreadable(text)
        if token.kind == "sign":
            sign = token.value
        elif token.kind == "column" and name is None and sign == "*":
            name = token.value
        elif token.kind == "number" and (sign == "*" or token.value):
            factor = factor * token.value if sign == "*" else factor / token.value
        else:
            raise unreadable(
                text, "A sum is made of numbers times columns: columns are neither multiplied nor divided by."
            )
    return factor, name


def _known(text: str, term: list[Token], space: Space) -> None:
    """Refuse a term with an unknown name. It may have several words."""
    unknown = " ".join(str(token.value) for token in term if token.kind == "word")
    quoted = [token.value for token in term if token.kind == "column"]
    for name in [unknown] * bool(unknown) + quoted:
        try:
            space.index(name)
        except UnknownColumnError as error:
            raise error.within(f"the constraint {text!r}") from None


def _relation(text: str, left: Side, sense: Sense, right: Side) -> AbstractConstraint:
    """A comparison of two sums."""
    for one, other, way in ((left, right, sense), (right, left, TURNED[sense])):
        if one.column is not None and not other.weights:
            low = other.constant if way != "<=" else None
            return rule.between(one.column, low, other.constant if way != ">=" else None)
    names = dict.fromkeys([*left.weights, *right.weights])
    weights = {name: left.weights.get(name, 0) - right.weights.get(name, 0) for name in names}
    kept = {name: weight for name, weight in weights.items() if weight}
    if not kept:
        raise InputError(f"the constraint {text!r} says nothing.", "It compares no column with anything.", EXAMPLES)
    return rule.linear(kept, sense, right.constant - left.constant)
