"""The rows of a table that a condition chooses, such as `income > 3000 and purpose == 'car'`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import InputError, UnknownColumnError, choice
from butfor.space import frames

TEXT_OR_IN_BACKTICKS = re.compile(r"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `([^`]+)`""", re.VERBOSE | re.DOTALL)
"""A text, in which backticks are signs as all others, or a name in backticks."""

CONDITIONS_SHOWN = (
    "Examples are \"income > 3000 and purpose == 'car'\", \"job in ['nurse', 'clerk']\" and 'not (age < 30)'."
)

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip

Values = list[Any]
"""A value for each row; None: it is missing."""


def rows_where(table: Any, condition: str) -> IntArray:
    """The places of the rows for which a condition holds.

    It is read as Python's are, but of columns, values, comparisons and sums only: nothing is called. A name that is no
    identifier stands in backticks. A comparison with a missing value does not hold; `income is None` asks for them.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"income": [2000, 4000, None], "the job": ["nurse", "clerk", "nurse"]})
    >>> rows_where(table, "income > 1000 and `the job` == 'nurse'").tolist()
    [0]
    >>> rows_where(table, "income is None").tolist()
    [2]
    """
    return np.flatnonzero(_Condition(table, condition).holds())


class _Condition:
    """A condition, with the table whose rows it is about."""

    def __init__(self, table: Any, text: str) -> None:
        self.table, self.text, self.places = table, text, frames.positions(table)
        self.height, self.quoted = frames.height(table), list[str]()

    def holds(self) -> list[bool]:
        """Whether it holds, for each row."""
        try:
            return self._truths(self._parsed().body)
        except (RecursionError, MemoryError):  # Python's parser ends with the second
            raise InputError(
                f"a condition of {len(self.text):,} signs cannot be read.", "It is nested too deeply."
            ) from None

    def _parsed(self) -> ast.Expression:
        try:
            return ast.parse(TEXT_OR_IN_BACKTICKS.sub(self._placed, self.text).strip(), mode="eval")
        except (SyntaxError, ValueError):
            raise self._unreadable("it is no condition") from None

    def _placed(self, found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        self.quoted.append(found[1])
        return f"_quoted_{len(self.quoted) - 1}"

    def _unreadable(self, why: str) -> InputError:
        return InputError(f"the condition {self.text!r} cannot be read: {why}.", CONDITIONS_SHOWN)

    def _truths(self, node: ast.expr) -> list[bool]:
        match node:
            case ast.BoolOp(op, parts):
                joined = all if isinstance(op, ast.And) else any
                return [joined(row) for row in zip(*map(self._truths, parts), strict=True)]
            case ast.UnaryOp(ast.Not(), inner):
                return [not one for one in self._truths(inner)]
            case ast.Compare():
                return self._compared(node)
            case ast.Name():
                values = self._values(node)
                if all(isinstance(one, bool) for one in values if one is not None):
                    return [bool(one) for one in values]
        raise self._unreadable(f"{ast.unparse(node)!r} is not a comparison")

    def _compared(self, node: ast.Compare) -> list[bool]:
        """A comparison, or several in a chain."""
        holds = [True] * self.height
        for left, sign, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            for k, one in enumerate(self._pairs(left, sign, right)):
                holds[k] = holds[k] and one
        return holds

    def _pairs(self, left: ast.expr, sign: ast.cmpop, right: ast.expr) -> list[bool]:
        if isinstance(sign, ast.Is | ast.IsNot):
            if not isinstance(right, ast.Constant) or right.value is not None:
                raise self._unreadable("`is` is for None alone")
            return [(one is None) == isinstance(sign, ast.Is) for one in self._values(left)]
        compare = COMPARISONS[type(sign)]
        try:
            return [
                a is not None and b is not None and bool(compare(a, b))
                for a, b in zip(self._values(left), self._values(right), strict=True)
            ]
        except TypeError:
            told = f"{ast.unparse(left)} and {ast.unparse(right)}"
            raise self._unreadable(f"{told} are not of one kind") from None

    def _values(self, node: ast.expr) -> Values:
        """The value of a column, a constant or a sum, for each row."""
        match node:
            case ast.Name(name):
                return self._column(name)
            case ast.Constant(value) if isinstance(value, str | int | float | None):
                return [value] * self.height
            case ast.List(parts) | ast.Tuple(parts):
                if all(isinstance(part, ast.Constant) for part in parts):
                    return [[part.value for part in parts if isinstance(part, ast.Constant)]] * self.height
            case ast.UnaryOp(ast.USub(), inner):
                return [None if one is None else -one for one in self._numbers(inner)]
            case ast.BinOp(left, sign, right) if type(sign) in SUMS:
                pairs = zip(self._numbers(left), self._numbers(right), strict=True)
                return [_sum(SUMS[type(sign)], a, b) for a, b in pairs]
        raise self._unreadable(f"{ast.unparse(node)!r} is no column, value or sum")

    def _numbers(self, node: ast.expr) -> Values:
        values = self._values(node)
        if not all(isinstance(one, int | float | np.number | None) for one in values):
            raise self._unreadable(f"{ast.unparse(node)} is not a number")
        return values

    def _column(self, name: str) -> Values:
        if name.startswith("_quoted_"):
            name = self.quoted[int(name.removeprefix("_quoted_"))]
        if name not in self.places:
            raise UnknownColumnError(
                f"the condition {self.text!r} names {name!r}, which is no column.",
                *choice("The columns are", name, self.places),
            )
        found: Values = frames.values(self.table, name, self.places[name])
        return found


def _sum(made: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """A sum, or a product, of two numbers; None if one is missing, or it would be divided by 0."""
    return None if a is None or b is None or (made is operator.truediv and b == 0) else made(a, b)
