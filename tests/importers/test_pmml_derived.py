"""Derived fields of PMML: lines between knots, bins and tables, as an evaluator of the elements computes them row by row.

The evaluator follows the text of the standard (PMML 4.4, Transformations) and shares nothing with what is tested.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.files import from_file
from butfor.testing.importer_contract import check_importer
from tests.importers.pmml_files import LEVELS, SCHEMA, STRATEGIES, Nothing, document, plain, predicted
from tests.shorter import first

Value = float | str | None

CELLS = pd.DataFrame(
    list(itertools.product(map(float, range(-1, 8)), map(float, range(4)), LEVELS)), columns=["a", "b", "c"]
)
SPREAD = {"a": 8.0, "b": 3.0}


# ---- the standard, row by row -------------------------------------------------------------------------------------------


def lost(value: Value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def attributed(one: Element, name: str) -> Value:
    text = one.get(name)
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def evaluated(one: Element, row: dict[str, Any]) -> Value:
    """What an expression makes of a row."""
    if one.tag == "FieldRef":
        value = row[one.get("field") or ""]
        return attributed(one, "mapMissingTo") if lost(value) else value
    if one.tag == "Apply":
        x, by = evaluated(one[0], row), float(one[1].text or "nan")
        if lost(x):
            return attributed(one, "mapMissingTo") or attributed(one, "defaultValue")
        assert isinstance(x, float)
        return {"+": x + by, "*": x * by, "min": min(x, by), "max": max(x, by)}[one.get("function") or ""]
    if one.tag == "MapValues":
        pair = one.find("FieldColumnPair")
        assert pair is not None
        value = row[pair.get("field") or ""]
        if lost(value):
            return attributed(one, "mapMissingTo")
        for entry in one.iter("row"):
            given, to = entry.find(pair.get("column") or ""), entry.find(one.get("outputColumn") or "")
            assert given is not None
            assert to is not None
            if given.text == value or (isinstance(value, float) and float(given.text or "nan") == value):
                return attributed(Element("x", v=to.text or ""), "v")
        return attributed(one, "defaultValue")
    x = row[one.get("field") or ""]
    if lost(x):
        return attributed(one, "mapMissingTo")
    return binned(one, x) if one.tag == "Discretize" else interpolated(one, x)


def binned(one: Element, x: float) -> Value:
    for part in one.findall("DiscretizeBin"):
        interval = part.find("Interval")
        assert interval is not None
        low, high = float(interval.get("leftMargin") or "-inf"), float(interval.get("rightMargin") or "inf")
        closure = interval.get("closure") or ""
        above = x >= low if closure.startswith("closed") else x > low
        below = x <= high if closure.endswith("Closed") else x < high
        if above and below:
            return attributed(part, "binValue")
    return attributed(one, "defaultValue")


def interpolated(one: Element, x: float) -> Value:
    points = [(float(p.get("orig") or "nan"), float(p.get("norm") or "nan")) for p in one.findall("LinearNorm")]
    how = one.get("outliers", "asIs")
    if not points[0][0] <= x <= points[-1][0]:
        if how == "asMissingValues":
            return attributed(one, "mapMissingTo")
        if how == "asExtremeValues":
            return points[0][1] if x < points[0][0] else points[-1][1]
    pairs = list(itertools.pairwise(points))
    ((a1, b1), (a2, b2)) = next((p for p in pairs if x <= p[1][0]), pairs[-1])
    return b1 + (x - a1) / (a2 - a1) * (b2 - b1)


def derived(text: bytes, X: pd.DataFrame) -> pd.DataFrame:
    """A table with the derived fields of a file."""
    fields = [one for holder in plain(text).iter("LocalTransformations") for one in holder]
    rows = X.astype(object).to_dict("records")
    for row in rows:
        for one in fields:
            row[one.get("name")] = evaluated(one[0], row)
    return pd.DataFrame(rows, columns=[*X.columns, *(one.get("name") for one in fields)], dtype=object)


# ---- files that are written at random -----------------------------------------------------------------------------------


def numbers(rng: np.random.Generator, count: int) -> list[float]:
    return sorted(rng.choice(np.arange(-1, 16) / 2, count, replace=False).tolist())


def lines(rng: np.random.Generator, field: str, *, whole: bool) -> str:
    norms = [float(x) / 4 for x in rng.integers(-6, 7, 4)]
    if rng.random() < 0.4:
        norms.sort()
    points = "".join(f'<LinearNorm orig="{x}" norm="{y}"/>' for x, y in zip(numbers(rng, 4), norms, strict=True))
    how = rng.choice(["asIs", "asMissingValues", "asExtremeValues"])
    missing = f' mapMissingTo="{rng.integers(-4, 5) / 4}"' if whole or rng.random() < 0.5 else ""
    return f'<NormContinuous field="{field}" outliers="{how}"{missing}>{points}</NormContinuous>'


def bins(rng: np.random.Generator, field: str, values: list[Any], *, whole: bool) -> str:
    ends, parts = numbers(rng, len(values) - 1), []
    closure = rng.choice(["openClosed", "closedOpen"])
    for k, value in enumerate(values):
        left = f' leftMargin="{ends[k - 1]}"' if k else ""
        right = f' rightMargin="{ends[k]}"' if k < len(ends) else ""
        if whole or rng.random() < 0.8:
            interval = f'<Interval closure="{closure}"{left}{right}/>'
            parts.append(f'<DiscretizeBin binValue="{value}">{interval}</DiscretizeBin>')
    said = f' defaultValue="{rng.choice(values)}"' if rng.random() < 0.5 else ""
    missing = f' mapMissingTo="{rng.choice(values)}"' if whole or rng.random() < 0.5 else ""
    return f'<Discretize field="{field}"{said}{missing}>{"".join(parts)}</Discretize>'


def mapped(rng: np.random.Generator, field: str, keys: list[Any], values: list[Any], *, whole: bool) -> str:
    rows = "".join(
        f"<row><in>{key}</in><out>{rng.choice(values)}</out></row>" for key in keys if whole or rng.random() < 0.7
    )
    said = f' defaultValue="{rng.choice(values)}"' if whole or rng.random() < 0.5 else ""
    missing = f' mapMissingTo="{rng.choice(values)}"' if whole or rng.random() < 0.5 else ""
    return (
        f'<MapValues outputColumn="out"{said}{missing}><FieldColumnPair field="{field}" column="in"/>'
        f"<InlineTable>{rows}</InlineTable></MapValues>"
    )


KINDS = ["high", "low", "middle"]


def derived_fields(rng: np.random.Generator, *, whole: bool) -> str:
    """Numbers `u`, `v`, `w`, `m` and a level `k`. `whole`: none of them is ever missing."""
    steps = [0.5, -1.25, 2.0]
    made = {
        "u": lines(rng, "a", whole=whole),
        "v": bins(rng, "b", steps, whole=whole),
        "w": mapped(rng, "c", [*LEVELS], steps, whole=whole),
        "m": mapped(rng, "b", [0, 1, 2], steps, whole=whole),
        "k": bins(rng, "a", KINDS, whole=whole),
        "t": mapped(rng, "k", KINDS, [1.0, 2.0, 4.0], whole=whole),
        "s": f'<Apply function="+" mapMissingTo="1.5">{lines(rng, "b", whole=whole)}<Constant>2</Constant></Apply>',
    }
    fields = "".join(
        f'<DerivedField name="{name}" optype="{"categorical" if name == "k" else "continuous"}" '
        f'dataType="{"string" if name == "k" else "double"}">{made[name]}</DerivedField>'
        for name in made
    )
    return f"<LocalTransformations>{fields}</LocalTransformations>"


WEIGHTS = {"u": 1.0, "v": -0.5, "w": 0.75, "m": 0.25, "t": 0.5, "s": -1.0}


def regression(rng: np.random.Generator) -> bytes:
    terms = "".join(f'<NumericPredictor name="{name}" coefficient="{by}"/>' for name, by in WEIGHTS.items())
    terms += '<CategoricalPredictor name="k" value="low" coefficient="2.5"/>'
    table = f'<RegressionTable intercept="0.5">{terms}</RegressionTable>'
    made = (
        f'<RegressionModel functionName="regression">{SCHEMA}{derived_fields(rng, whole=True)}{table}</RegressionModel>'
    )
    return document(made)


def by_hand(text: bytes, X: pd.DataFrame) -> np.ndarray:
    found = derived(text, X)
    return np.asarray(
        0.5 + sum(by * found[name].astype(float) for name, by in WEIGHTS.items()) + 2.5 * (found["k"] == "low")
    )


def tree(rng: np.random.Generator) -> bytes:
    """A tree over the derived fields. Its last children are always true."""

    def test() -> str:
        name = str(rng.choice(["u", "u", "v", "w", "m", "t", "s", "k", "k"]))
        if rng.random() < 0.15:
            return f'<SimplePredicate field="{name}" operator="{rng.choice(["isMissing", "isNotMissing"])}"/>'
        if name == "k":
            sign = rng.choice(["equal", "notEqual"])
            return f'<SimplePredicate field="k" operator="{sign}" value="{rng.choice(KINDS)}"/>'
        sign = rng.choice(["lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual"])
        return f'<SimplePredicate field="{name}" operator="{sign}" value="{rng.integers(-12, 13) / 8}"/>'

    counter = itertools.count()

    def node(own: str, depth: int) -> str:
        name = next(counter)
        below = [node(one, depth - 1) for one in (test(), test(), "<True/>")] if depth else []
        default = f' defaultChild="{below[-1].split(chr(34))[1]}"' if below else ""
        return f'<Node id="{name}"{default} score="{rng.integers(-8, 9) / 4}">{own}{"".join(below)}</Node>'

    return document(
        f'<TreeModel functionName="regression" missingValueStrategy="{rng.choice(STRATEGIES)}" '
        f'noTrueChildStrategy="returnLastPrediction">{SCHEMA}'
        f"{derived_fields(rng, whole=False)}{node('<True/>', 3)}</TreeModel>"
    )


def by_tree(text: bytes, X: pd.DataFrame) -> np.ndarray:
    model = plain(text).find("TreeModel")
    assert model is not None
    out = []
    for row in derived(text, X).to_dict("records"):
        try:
            out.append(float(predicted(model, row).get("score") or "nan"))
        except Nothing:
            out.append(np.nan)
    return np.array(out)


def read(text: bytes, folder: Path) -> Any:
    (folder / "model.pmml").write_bytes(text)
    return from_file(folder / "model.pmml")


def drawn(rng: np.random.Generator, rows: int = 150) -> pd.DataFrame:
    """Numbers on knots, between and far beyond them, and missing values."""
    a = np.where(rng.random(rows) < 0.5, rng.integers(-2, 18, rows) / 2, rng.uniform(-9, 16, rows))
    b = np.where(rng.random(rows) < 0.7, rng.integers(-1, 5, rows), rng.uniform(-6, 9, rows))
    made = pd.DataFrame({"a": a, "b": b, "c": pd.Series(rng.choice(LEVELS, rows), dtype=object)})
    for name in made.columns:
        made.loc[rng.choice(rows, 8, replace=False), name] = None if name == "c" else np.nan
    return made


def cheapest(values: np.ndarray, row: pd.Series, least: float) -> float:
    cost = sum(abs(CELLS[name] - row[name]) / width for name, width in SPREAD.items()) + (CELLS["c"] != row["c"])
    met = values >= least
    return float(cost[met].min()) if met.any() else np.inf


def check_answers(model: Any, values: np.ndarray, seed: int) -> None:
    space = {"a": bf.Integer(-1, 7), "b": bf.Integer(0, 3)}
    explainer = bf.Explainer(model, CELLS, space=space)
    rows, least = CELLS.sample(5, random_state=seed), float(np.quantile(values, 0.85)) - 1e-6
    for answer, (_, row) in zip(explainer.explain(rows, bf.value(at_least=least)), rows.iterrows(), strict=True):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(cheapest(values, row, least), abs=1e-9)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("seed", first(6, range(60)))
def test_before_a_regression(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    text = regression(rng)
    model, X = read(text, tmp_path), drawn(rng)
    assert model.predict(X) == pytest.approx(by_hand(text, X), abs=1e-12)
    check_importer(model, X)
    check_answers(model, by_hand(text, CELLS), seed)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("seed", first(6, range(60)))
def test_before_a_tree(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(100 + seed)
    text = tree(rng)
    X = drawn(rng, 400)
    wanted = by_tree(text, X)
    try:
        model = read(text, tmp_path)
    except UnsupportedModelError:  # some number in a gap has no prediction
        assert np.isnan(wanted[~X.isna().any(axis=1)]).any()
        return
    known = ~np.isnan(wanted) & ~X.iloc[:, [*model.booster.refused]].isna().any(axis=1).to_numpy()
    assert model.predict(X[known]).tolist() == wanted[known].tolist()
    for k in np.flatnonzero(np.isnan(wanted)):
        with pytest.raises(InputError, match="lacks a value"):
            model.predict(X.iloc[[k]])
    check_importer(model, X[known])
    check_answers(model, by_tree(text, CELLS), seed)


PAIR = '<FieldColumnPair field="c" column="in"/>'
ONE = "<InlineTable><row><in>red</in><out>1</out></row></InlineTable>"


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        (f'<MapValues outputColumn="out">{PAIR}{PAIR}{ONE}</MapValues>', "MapValues of 2 fields"),
        (f'<MapValues outputColumn="out">{PAIR}<TableLocator/></MapValues>', "without an InlineTable"),
        (f'<MapValues outputColumn="other">{PAIR}{ONE}</MapValues>', "a row without 'other'"),
        (f'<MapValues outputColumn="out">{PAIR}{ONE}</MapValues>', "missing for some numbers or levels"),
        (f'<MapValues outputColumn="in">{PAIR}{ONE}</MapValues>', "text 'red' where a number"),
        ('<Discretize field="a"><DiscretizeBin binValue="1"/></Discretize>', "no Interval"),
        (
            '<Discretize field="a"><DiscretizeBin binValue="1"><Interval closure="open"/></DiscretizeBin></Discretize>',
            "closure='open'",
        ),
        ('<Discretize field="c"><DiscretizeBin binValue="1"/></Discretize>', "a number that is made of text"),
        ('<NormContinuous field="a"><LinearNorm orig="1" norm="2"/></NormContinuous>', "two or more, in ascending"),
        (
            '<NormContinuous field="a"><LinearNorm orig="1" norm="2"/><LinearNorm orig="1" norm="3"/></NormContinuous>',
            "two or more, in ascending",
        ),
        (
            '<NormContinuous field="a" outliers="asMissingValues"><LinearNorm orig="1" norm="2"/>'
            '<LinearNorm orig="2" norm="3"/></NormContinuous>',
            "missing for some numbers or levels",
        ),
        ('<FieldRef field="c" mapMissingTo="violet"/>', "mapMissingTo='violet'"),
        ('<Aggregate field="a" function="sum"/>', "a Aggregate"),
    ],
)
def test_what_is_not_read_is_told_by_name(expression: str, told: str, tmp_path: Path) -> None:
    fields = f'<LocalTransformations><DerivedField name="u" optype="continuous" dataType="double">{expression}</DerivedField>'
    table = '<RegressionTable intercept="0"><NumericPredictor name="u" coefficient="1"/></RegressionTable>'
    text = (
        f'<RegressionModel functionName="regression">{SCHEMA}{fields}</LocalTransformations>{table}</RegressionModel>'
    )
    with pytest.raises((InputError, UnsupportedModelError), match=told):
        read(document(text), tmp_path)
