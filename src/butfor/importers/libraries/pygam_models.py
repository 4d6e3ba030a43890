"""pygam: generalised additive models of lines, splines and factors. Products of columns are refused."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.additive import additive_over
from butfor.importers.fold.column import Column, NeedsLevels, Values, in_numbers, last_where, reached
from butfor.importers.libraries.sklearn_powers import spline_bends
from butfor.importers.registry import Imported, register_importer
from butfor.model.additive import Additive
from butfor.model.linked import value_behind
from butfor.model.monotone import AbstractStep, Exponential, Logistic
from butfor.model.readout import AbstractReadout, Sign

LINKS_OF_PYGAM: dict[str, AbstractStep | None] = {"identity": None, "log": Exponential(), "logit": Logistic()}

ROUNDED_KNOT = 1e-9
"""By how much pygam moves the last knot."""


def read_gam(gam: Any, columns: list[Column]) -> Imported:
    """A GAM of any distribution: the sum of its terms, and the inverse of its link."""
    coef = np.asarray(gam.coef_, dtype=np.float64)
    intercept, terms, size = 0.0, [], 0.0
    for i, term in enumerate(gam.terms):
        own = coef[gam.terms.get_coef_indices(i)]
        size += float(np.abs(own).max())
        if term.isintercept:
            intercept += float(own[0])
        else:
            terms.append(_term(term, columns[_column_of(term)], own))
    model = additive_over(terms, np.ones((1, len(terms))), np.array([intercept]))
    line = model.line if isinstance(model, Additive) else model
    line = replace(line, cancelled=line.cancelled + size, folded=True)  # the coefficients of splines cancel out
    return replace(model, line=line) if isinstance(model, Additive) else line, _readout(gam)


def _column_of(term: Any) -> int:
    """The only column that a term reads."""
    known = type(term).__name__ in ("LinearTerm", "SplineTerm", "FactorTerm")
    if not known or getattr(term, "by", None) is not None or getattr(term, "basis", "") == "cp":
        raise UnsupportedModelError(
            f"the term {term!r} of a GAM cannot be read.",
            "A term must be l(), f(), or s() that neither repeats itself nor is multiplied by another column.",
            "Leave it out, or let the swarm search.",
        )
    return int(term.feature)


def _term(term: Any, column: Column, coef: FloatArray) -> Column:
    """What a term adds, as a column."""
    if type(term).__name__ == "LinearTerm":
        return column.map(partial(_times, float(coef[0])), slope=column.slope * float(coef[0]))
    if type(term).__name__ == "FactorTerm" and column.table is None:
        raise NeedsLevels({column.feature: ()}, ordered=False)
    added = partial(_added, _alone(term), coef)
    lost = {"slope": 0.0, "refuses_missing": column.lacks_missing}
    if column.table is not None or column.edges is not None:
        return column.map(added, **lost)
    scaled = column.map(partial(_scaled, term))
    knots = _knots(term)
    if term.spline_order == 0:
        return column.map(added, edges=last_where(scaled, lambda x: x < knots, len(knots)), **lost)
    if not column.affine:
        raise UnsupportedModelError(
            f"a spline of a GAM reads a column that is bent: {column.bent_by or 'by a step of your own'}.",
            "It must be affine, binned, or levels.",
            "Leave the step out, or let the swarm search.",
        )
    bends = partial(reached, scaled, spline_bends(knots, coef, term.spline_order))
    return column.map(added, affine=False, turns=True, bends=bends, bent_by=f"the term {term!r}", **lost)


def _times(weight: float, x: Values) -> Values:
    return np.asarray(weight * in_numbers(x))


def _alone(term: Any) -> Any:
    """The term as if its column were the only one."""
    one = copy(term)
    one.feature = 0
    return one


def _added(term: Any, coef: FloatArray, x: Values) -> Values:
    """What a term adds for some numbers, as it computes that itself."""
    x = in_numbers(x).astype(np.float64)
    known, out = ~np.isnan(x), np.full(len(x), np.nan)
    if known.any():
        with np.errstate(all="ignore"):
            out[known] = np.ravel(term.build_columns(x[known][:, None]).dot(coef))
    return out


def _scaled(term: Any, x: Values) -> Values:
    """The numbers in units of the knots: 0 is the first, and 1 the last."""
    first, last = np.sort(term.edge_knots_)[[0, -1]]
    return np.asarray((in_numbers(x) - first) / ((last - first) or 1))


def _knots(term: Any) -> FloatArray:
    """The knots of a spline, with those beyond its ends."""
    inner = np.linspace(0, 1, 1 + term.n_splines - term.spline_order)
    away = np.arange(1, term.spline_order + 1) * np.diff(inner[:2])[0]
    knots = np.concatenate([-away[::-1], inner, 1 + away])
    knots[-1] += ROUNDED_KNOT
    return knots


def _readout(gam: Any) -> AbstractReadout:
    if type(gam).__name__ == "LogisticGAM":
        return Sign((False, True), "logistic")
    link = gam.link._name
    if link not in LINKS_OF_PYGAM:
        raise UnsupportedModelError(
            f"a GAM has the link {link!r}.", f"It must be one of {', '.join(LINKS_OF_PYGAM)}.", "Let the swarm search."
        )
    return value_behind(LINKS_OF_PYGAM[link])


for name in ("GAM", "LinearGAM", "LogisticGAM", "PoissonGAM", "GammaGAM", "InvGaussGAM", "ExpectileGAM"):
    register_importer(f"pygam.{name}", read_gam)
