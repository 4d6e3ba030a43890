"""Formulas of patsy and formulaic, as statsmodels keeps them: each column of the design matrix as a function of one raw column.

Numbers are read from the text of a factor. Categories are asked: the formula itself codes each level.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.bent import bent
from butfor.importers.fold.column import Column, Values, constant, in_numbers, reached
from butfor.importers.libraries.sklearn_bent_steps import INFLECTED, RISING
from butfor.importers.libraries.sklearn_encoders import demand_levels

NAMED = {function.__name__: function for function in RISING if isinstance(function, np.ufunc)}
"""The functions of a number that a formula may call, by name."""

LIBRARIES_OF_FUNCTIONS = ("np", "numpy")
"""The names before a dot that stand for numpy."""


@dataclass(frozen=True)
class FormulaTerm:
    """A term of a formula: its factors, as they are written, and its columns of the design matrix.

    - `levels`: the levels of its only factor, if that is categorical.
    """

    factors: tuple[str, ...]
    columns: slice
    levels: tuple[Any, ...] | None


def variables(results: Any) -> list[str] | None:
    """The names of the columns that results predict from; None if they were fitted on an array."""
    model = results.model
    if hasattr(model, "formula"):
        frame = getattr(model.data, "frame", None)
        found = [name for term in _terms(model.data) for factor in term.factors for name in _names(factor)]
        return list(dict.fromkeys(name for name in found if frame is None or name in frame.columns))
    exog = model.data.orig_exog
    return [str(name) for name in exog.columns] if hasattr(exog, "columns") else None


def design_columns(results: Any, columns: dict[str, Column]) -> list[Column]:
    """The columns of the design matrix, made of raw columns by name."""
    some = next(iter(columns.values()))
    made: dict[int, Column] = {}
    for term in _terms(results.model.data):
        places = range(term.columns.start, term.columns.stop)
        if not term.factors:
            made[places[0]] = constant(some)
        elif len(term.factors) > 1:
            raise _refused(":".join(term.factors), "It multiplies columns.")
        elif term.levels is None:
            made[places[0]] = _number(term.factors[0], columns)
        else:
            made |= dict(zip(places, _coded(results, term, columns), strict=True))
    return [made[k] for k in range(len(made))]


def _terms(data: Any) -> Iterator[FormulaTerm]:
    """The terms of a formula, of either engine."""
    spec = data.model_spec if hasattr(data, "model_spec") else data.design_info
    if hasattr(spec, "term_codings"):
        for term in spec.term_codings:
            infos = [spec.factor_infos[factor] for factor in term.factors]
            levels = tuple(infos[0].categories) if len(infos) == 1 and infos[0].type == "categorical" else None
            yield FormulaTerm(tuple(factor.code for factor in term.factors), spec.term_slices[term], levels)
        return
    for one in spec.structure:
        factors = tuple(factor.expr for factor in one.term.factors if factor.expr != "1")
        state = spec.encoder_state.get(factors[0], (None, {})) if len(factors) == 1 else (None, {})
        levels = tuple(state[1]["categories"]) if "categories" in state[1] else None
        yield FormulaTerm(factors, spec.get_slice(one.term), levels)


def _names(factor: str) -> Iterator[str]:
    """The names of variables in a factor: those that are not called, and those that are quoted by Q."""
    tree = _parsed(factor)
    called = {id(call.func) for call in ast.walk(tree) if isinstance(call, ast.Call)}
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if _quoted(node) is not None:
            yield str(_quoted(node))
        elif isinstance(node, ast.Name) and id(node) not in called | owners:
            yield node.id


def _parsed(factor: str) -> ast.expr:
    """A factor as Python reads it. A name that is no Python is a name, as formulaic's backticks make it."""
    try:
        return ast.parse(factor, mode="eval").body
    except SyntaxError:
        return ast.Name(factor.strip("`"))


def _quoted(node: ast.AST) -> str | None:
    """The name of a column in quotes: `Q('my column')`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Q" and node.args:
        first = node.args[0]
        return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
    return None


def _coded(results: Any, term: FormulaTerm, columns: dict[str, Column]) -> list[Column]:
    """A categorical factor. The formula codes each level, in rows that are otherwise like one that it was fitted on."""
    (factor,), levels = term.factors, list(term.levels or ())
    node = _parsed(factor)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "C" and node.args:
        node = node.args[0]
    column = _raw(node, columns)
    if column is None:
        raise _refused(factor, "Its levels are calculated.")
    demand_levels(SimpleNamespace(categories_=[levels], handle_unknown="error"), [column])
    assert column.table is not None
    name = next(name for name, one in columns.items() if one is column)
    frame = results.model.data.frame[list(columns)].dropna().iloc[[0] * len(levels)].reset_index(drop=True)
    coded = np.asarray(results._transform_predict_exog(frame.assign(**{name: levels}))[0], dtype=np.float64)
    at = [levels.index(value) for value in column.table[:-1].tolist()]
    return [
        replace(column, table=np.append(coded[at, k], np.nan), refuses_missing=True)
        for k in range(term.columns.start, term.columns.stop)
    ]


def _raw(node: ast.expr, columns: dict[str, Column]) -> Column | None:
    """The raw column that is meant; None if something else is."""
    name = node.id if isinstance(node, ast.Name) else _quoted(node)
    return columns.get(name) if name is not None else None


def _number(factor: str, columns: dict[str, Column]) -> Column:
    """A factor that is a number: a column, a multiple of it, a function that rises, or a power."""
    node = _parsed(factor)
    raw = _raw(node, columns)
    try:
        column = _value(node, columns, factor) if raw is None else raw.map(_as_double)
        return replace(column, refuses_missing=True, single=False, short=False, half=False)
    except UnsupportedModelError:
        raise
    except (ValueError, TypeError, AttributeError):
        raise _refused(factor, "It is not known what it does.") from None


def _value(node: ast.expr, columns: dict[str, Column], factor: str) -> Column:
    raw = _raw(node, columns)
    if raw is not None:
        if raw.short or raw.half or raw.single:
            raise _refused(factor, "Its column is of a type of few bytes, in which it is calculated.")
        return raw.map(_as_double)
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        inner = _value(node.args[0], columns, factor)
        if isinstance(node.func, ast.Name) and node.func.id == "I":
            return inner
        function = NAMED.get(_function_name(node.func))
        if function is not None:
            return bent(inner, function, factor, (0.0,) if function in INFLECTED else ())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _power(_value(node.left, columns, factor), int(_constant(node.right)), factor)
    if isinstance(node, ast.BinOp):
        return _shifted(node, columns, factor)
    raise _refused(factor, "It is not known what it does.")


def _as_double(x: Values) -> Values:
    return in_numbers(x).astype(np.float64)


def _function_name(node: ast.expr) -> str:
    """The name of a function of numpy; formulaic knows some of them without it."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id in LIBRARIES_OF_FUNCTIONS else ""
    return node.id if isinstance(node, ast.Name) else ""


def _constant(node: ast.expr) -> float:
    return float(ast.literal_eval(node))


def _power(column: Column, power: int, factor: str) -> Column:
    """A whole power of a column: convex on each side of 0, or concave."""
    if power < 2 or not column.affine or column.table is not None:
        raise _refused(factor, "A power must be whole, at least 2, and of a number.")
    return column.map(
        partial(_to_power, power), affine=False, turns=True, bends=partial(reached, column, [0.0]), bent_by=factor
    )


def _to_power(power: int, x: Values) -> Values:
    with np.errstate(over="ignore"):
        return np.asarray(x**power)


def _shifted(node: ast.BinOp, columns: dict[str, Column], factor: str) -> Column:
    """A rising multiple of a column, or one to which a constant is added."""
    left = not isinstance(node.left, ast.Constant)
    column = _value(node.left if left else node.right, columns, factor)
    constant = _constant(node.right if left else node.left)
    slopes = {ast.Add: 1.0, ast.Mult: constant} | ({ast.Sub: 1.0, ast.Div: 1 / constant} if left else {})
    slope = slopes.get(type(node.op), 0.0)
    if not slope > 0 or (not column.affine and column.table is None):
        raise _refused(factor, "It must rise with its column, and be calculated before it is bent.")
    return column.map(partial(_calculated, type(node.op), constant), slope=column.slope * slope)


def _calculated(operator: type[ast.operator], constant: float, x: Values) -> FloatArray:
    if operator is ast.Add:
        return np.asarray(x + constant)
    if operator is ast.Sub:
        return np.asarray(x - constant)
    return np.asarray(x * constant if operator is ast.Mult else x / constant)


def _refused(factor: str, why: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"the formula has the term {factor}. {why}",
        "A term must be a column, its categories, or a simple function of it, such as np.log(x), I(x ** 2) or x / 10.",
        "Calculate it before the model, or let the swarm search: it needs only predictions.",
    )
