"""A column that reaches an estimator, as a function of one raw feature. Pipelines are folded into it.

The function is evaluated as the estimator computes it, in the same floating-point type. So bisection finds the exact
raw value at which a threshold flips, and no epsilon is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.model.float_order import last_true
from butfor.model.projections import Projections
from butfor.space.feature import Feature
from butfor.space.space import places

Values = NDArray[Any]


def as_it_is(x: FloatArray) -> FloatArray:
    """The values of a column that no step has changed."""
    return x


@dataclass(frozen=True, eq=False)
class After:
    """One function after another. It travels between processes if both do."""

    first: Callable[[FloatArray], Values]
    second: Callable[[Values], Values]

    def __call__(self, x: FloatArray) -> Values:
        return self.second(self.first(x))


@dataclass(frozen=True, eq=False)
class Column:
    """One input of an estimator (or of a pipeline step).

    - `feature`: the raw feature that it depends on;
    - `table`: for a feature with levels, the column's value for each level and, last, for "missing";
    - `at`: for a number, the function from raw values to the column's values. It never falls;
    - `slope`: the slope of `at`, if it is affine;
    - `edges`: the raw values right after which `at` jumps, if it is binned;
    - `affine`: whether `at` is affine;
    - `bent_by`: the step after which it is not affine, in words;
    - `bends`: if it is not affine, a function that finds the raw values between which it is convex all along, or concave
      (None: they are not known);
    - `turns`: whether it is not affine and may fall somewhere;
    - `single`: whether the column's values are float32;
    - `refuses_missing`: whether an earlier step raises an error on a missing value;
    - `declared`: whether the user gave the levels and their order;
    - `centre`: a raw value in the middle of the data. Affine columns are described from there;
    - `short`: whether its raw type becomes float32 beside float32 (booleans, whole numbers of one or two bytes);
    - `boolean`: whether its raw type is that of booleans, and nothing has made another type of it;
    - `half`: whether its raw type is float16, and nothing has made another type of it;
    - `widened`: the library that holds its float32 numbers, if scikit-learn makes float64 of them before it computes; empty after
      a step;
    - `blur`: the unit roundoff of the steps that scaled it, if they worked in float32 or float16;
    - `none`: whether a step gets None in place of a missing number, and not NaN, if it keeps what it gets;
    - `sparse`: this column as it was when it was put into a sparse table, which leaves out zeros; None if the table is
      dense;
    - `whole`: whether the raw feature holds whole numbers only;
    - `projections`: where a step that adds columns up writes its sums down (None: they cannot be added up);
    - `ends`: the ends of the range of the raw number;
    - `domain`: between which raw numbers it is defined, if it is not everywhere. Beyond them it is NaN, or what a later step
      makes of NaN;
    - `never_missing`: where a step writes down the features of whose missing values it makes what no formula says.
    """

    feature: int
    table: Values | None = None
    at: Callable[[FloatArray], FloatArray] = as_it_is
    slope: float = 1.0
    edges: FloatArray | None = None
    affine: bool = True
    bent_by: str = ""
    bends: Callable[[], FloatArray] | None = None
    turns: bool = False
    single: bool = False
    refuses_missing: bool = False
    declared: bool = False
    centre: float = 0.0
    short: bool = False
    boolean: bool = False
    half: bool = False
    widened: str = ""
    blur: float = 0.0
    none: bool = False
    sparse: Column | None = None
    whole: bool = False
    projections: Projections | None = None
    ends: tuple[float, float] | None = None
    domain: tuple[float, float] | None = None
    never_missing: set[int] | None = None

    def map(self, function: Callable[[Values], Values], **changes: Any) -> Column:
        """This column after an elementwise step."""
        changes = {"widened": "", "short": False, "boolean": False, "none": False, **changes}
        if self.table is not None:
            return replace(self, table=function(self.table), **changes)
        return replace(self, at=After(self.at, function), **changes)

    @property
    def as_held(self) -> Column:
        """The column in the type in which its table holds it."""
        return self.map(in_single, single=True) if self.widened else self

    @property
    def in_odd_type(self) -> bool:
        """Whether what is calculated with it may be rounded, wrapped around or left out otherwise than in float64."""
        return self.short or self.half or bool(self.widened) or self.sparse is not None

    def inside(self, x: FloatArray) -> FloatArray:
        """Raw numbers, those beyond its domain moved to the nearest number in it."""
        return x if self.domain is None else np.clip(x, *self.domain)

    @property
    def jumps(self) -> FloatArray:
        """The raw values right after which it jumps: its edges, and where its domain begins and ends."""
        edges = np.empty(0) if self.edges is None else self.edges
        if self.domain is None:
            return edges
        first, last = self.domain
        around = np.array([np.nextafter(first, -np.inf), last])
        return np.concatenate([edges, around[np.isfinite(around)]])

    def coded(self, names: Sequence[Any]) -> Column:
        """This column with values replaced by their positions in `names`; NaN for other values."""
        position = {name: float(k) for k, name in enumerate(names)}
        return self.map(lambda x: np.array([position.get(value, np.nan) for value in x.tolist()]))

    def missing_value(self) -> float:
        """The column's value for a missing raw value; NaN if it stays missing."""
        value = self.at(np.array([np.nan])) if self.table is None else in_numbers(self.table[-1:])
        return float(value[0])

    @property
    def lacks_missing(self) -> bool:
        """Whether a missing value is an error, here or to whoever takes no missing values."""
        return self.refuses_missing or bool(np.isnan(self.missing_value()))

    def put(self, *, sparse: bool) -> Column:
        """This column in a sparse or a dense table."""
        return replace(self, sparse=(self.sparse or self) if sparse else None)

    def left_out(self, x: FloatArray | None = None) -> BoolArray:
        """Where a sparse table leaves the column's value out: for raw numbers `x`, or for each level."""
        where = self if self.sparse is None else self.sparse
        return np.asarray((where.level_values() if x is None else where.at(x)) == 0)

    def level_values(self) -> FloatArray:
        """The column's value for each level, as numbers."""
        assert self.table is not None
        return in_numbers(self.table[:-1]).astype(np.float64)


def constant(like: Column) -> Column:
    """A column that is 1 in every row, of the same feature as another one."""
    if like.table is not None:
        return replace(like, table=np.ones(len(like.table)))
    return replace(like, edges=np.empty(0), slope=0.0, affine=False).map(np.ones_like)


class NeedsLevels(Exception):  # noqa: N818 - a request to the caller, not an error
    """Raw numbers reach an encoder of categories.

    The space must treat these features as levels, and the fold must start again.
    """

    def __init__(self, levels: dict[int, tuple[Any, ...]], ordered: bool) -> None:
        self.levels, self.ordered = levels, ordered
        super().__init__(levels)


def in_numbers(x: Values) -> Values:
    """The values of a column as numbers. Text that is not a number is refused, as in the estimator."""
    return x if x.dtype != object else np.array([_number(value) for value in x.tolist()], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"a column holds {value!r} where the model needs numbers.",
            "",
            "Correct the data. If the column is meant to be text, encode it in the pipeline "
            "(OneHotEncoder, OrdinalEncoder).",
        ) from None


def raw_columns(
    features: tuple[Feature, ...],
    short: Collection[str] = (),
    half: Collection[str] = (),
    widened: Mapping[str, str] = MappingProxyType({}),
    lost: Mapping[str, Any] = MappingProxyType({}),
) -> list[Column]:
    """The columns before any step, in the order in which the estimator reads them. Dummies are tables of one feature.

    - `short`: those whose type becomes float32 beside float32; `half`: those of float16;
    - `widened`: those of whose float32 scikit-learn makes float64, with the library that holds them;
    - `lost`: what the estimator gets in place of missing values of columns with levels. Where it is not said, a text is None,
      and a number NaN.
    """
    projections, never_missing = Projections(len(features)), set[int]()
    raw = (
        _raw(
            j,
            features[j],
            place,
            short=features[j].columns[place] in short,
            half=features[j].columns[place] in half,
            widened=widened.get(features[j].columns[place], ""),
            none=lost.get(features[j].name, np.nan) is None,
            lost=lost.get(features[j].name),
        )
        for j, place in places(features)
    )
    return [replace(column, projections=projections, never_missing=never_missing) for column in raw]


def _raw(
    j: int, feature: Feature, place: int, *, short: bool, half: bool, widened: str, none: bool, lost: Any
) -> Column:
    single, widened = feature.single and not widened, widened if feature.single else ""
    kinds: dict[str, Any] = {"single": single, "widened": widened, "short": short, "half": half}
    if feature.levels is None:
        at = in_single if single else widened_single if widened else as_it_is
        ends = feature.low, feature.high
        return Column(j, at=at, centre=feature.typical, whole=feature.step == 1, ends=ends, **kinds)
    numbers = feature.numbers if feature.dummies is None else feature.dummies.ones(place)
    if numbers is not None:
        table = np.array([*numbers, np.nan], dtype=np.float32 if single else np.float64)
        kinds["boolean"] = short and any(isinstance(level, bool) for level in feature.levels)
        return Column(
            j, table=table, declared=feature.why == "given" or feature.dummies is not None, none=none, **kinds
        )
    words = np.empty(len(feature.levels) + 1, dtype=object)
    words[:] = [*feature.levels, lost]
    return Column(j, table=words, declared=feature.why == "given")


def in_single(x: FloatArray) -> Values:
    """Numbers as float32."""
    with np.errstate(over="ignore"):
        return x.astype(np.float32)


def widened_single(x: FloatArray) -> Values:
    """Numbers as float32, of which float64 was made."""
    return in_single(x).astype(np.float64)


def reached(column: Column, values: Sequence[float] | FloatArray) -> FloatArray:
    """The last raw numbers at which a column is at most as large as each of some values."""
    known = np.asarray(values, dtype=np.float64)
    return last_where(column, lambda x: x <= known, len(known))


def last_where(column: Column, holds: Callable[[FloatArray], BoolArray], count: int) -> FloatArray:
    """For each of `count` questions about a number, the last raw value that makes it true.

    Each question must be true up to some value and false after it. All are answered at once, by bisection over the
    float64 numbers in their order.
    """
    if column.turns:
        raise UnsupportedModelError(
            f"a step compares a column with a number, and the column turns around: {column.bent_by}.",
            "Trees and bins must follow steps that never turn around.",
            "Put a linear model after it, or let the swarm search.",
        )
    return last_true(lambda x: holds(column.at(column.inside(x))), count)
