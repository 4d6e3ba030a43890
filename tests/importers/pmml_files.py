"""PMML files that are written at random, and what they mean: an interpreter that follows the standard row by row."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import numpy as np
import pandas as pd

LEVELS = ("red", "green", "deep blue")
WIDTHS = {"a": 6, "b": 4}
"""How many whole numbers the columns of numbers hold."""

Row = Mapping[str, Any]


def table(rng: np.random.Generator, rows: int = 60) -> pd.DataFrame:
    """A table with missing values."""
    numbers = {name: rng.integers(0, width, rows).astype(float) for name, width in WIDTHS.items()}
    made = pd.DataFrame({**numbers, "c": pd.Series(rng.choice(LEVELS, rows), dtype=object)})
    for name in made.columns:
        made.loc[rng.choice(rows, 5, replace=False), name] = None if name == "c" else np.nan
    return made


def document(
    model: str, target: str = '<DataField name="y" optype="continuous" dataType="double"/>', version: str = "4.4"
) -> bytes:
    """A file with a model over the table."""
    levels = "".join(f'<Value value="{level}"/>' for level in LEVELS)
    fields = "".join(f'<DataField name="{name}" optype="continuous" dataType="double"/>' for name in WIDTHS)
    dictionary = f'{target}{fields}<DataField name="c" optype="categorical" dataType="string">{levels}</DataField>'
    head = f'<PMML xmlns="http://www.dmg.org/PMML-{version.replace(".", "_")}" version="{version}"><Header/>'
    return f"{head}<DataDictionary>{dictionary}</DataDictionary>{model}</PMML>".encode()


SCHEMA = (
    '<MiningSchema><MiningField name="y" usageType="target"/><MiningField name="a"/><MiningField name="b"/>'
    '<MiningField name="c"/></MiningSchema>'
)
TWO_CLASSES = (
    '<DataField name="y" optype="categorical" dataType="string"><Value value="no"/><Value value="yes"/></DataField>'
)
STRATEGIES = ("none", "defaultChild", "lastPrediction", "nullPrediction")


def predicate(rng: np.random.Generator, deep: bool = True) -> str:
    """A predicate about the table."""
    kind = rng.integers(0, 8 if deep else 5)
    if kind < 2:
        name = str(rng.choice([*WIDTHS]))
        sign = rng.choice(["lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual", "equal", "notEqual"])
        at = rng.integers(0, WIDTHS[name]) - 0.5 * rng.integers(0, 2)
        return f'<SimplePredicate field="{name}" operator="{sign}" value="{at}"/>'
    if kind == 2:
        return (
            f'<SimplePredicate field="c" operator="{rng.choice(["equal", "notEqual"])}" value="{rng.choice(LEVELS)}"/>'
        )
    if kind == 3:
        some = " ".join(f'"{level}"' for level in rng.choice(LEVELS, 2, replace=False))
        how = rng.choice(["isIn", "isNotIn"])
        array = f'<Array n="2" type="string">{some}</Array>'
        return f'<SimpleSetPredicate field="c" booleanOperator="{how}">{array}</SimpleSetPredicate>'
    if kind == 4:
        name = rng.choice([*WIDTHS, "c"])
        return f'<SimplePredicate field="{name}" operator="{rng.choice(["isMissing", "isNotMissing"])}"/>'
    how = rng.choice(["and", "or", "xor", "surrogate"])
    parts = "".join(predicate(rng, False) for _ in range(2))
    return f'<CompoundPredicate booleanOperator="{how}">{parts}</CompoundPredicate>'


def tree(rng: np.random.Generator, strategy: str, classes: bool = False, depth: int = 3) -> str:
    """A tree model. Its last children are always true, so every row without missing values has a prediction."""
    counter = iter(range(1000))

    def node(test: str, depth: int) -> str:
        name = next(counter)
        share = int(rng.integers(0, 9))
        score = f'score="{"yes" if share > 4 else "no"}"' if classes else f'score="{rng.integers(-8, 9) / 4}"'
        counts = {"no": 8 - share, "yes": share} if classes else {}
        shares = "".join(f'<ScoreDistribution value="{k}" recordCount="{n}"/>' for k, n in counts.items())
        if depth == 0 or (depth < 3 and rng.random() < 0.2):
            return f'<Node id="{name}" {score}>{test}{shares}</Node>'
        tests = [predicate(rng) for _ in range(rng.integers(1, 3))] + ["<True/>"]
        below = [node(one, depth - 1) for one in tests]
        default = f'defaultChild="{below[-1].split(chr(34))[1]}"'
        return f'<Node id="{name}" {default} {score}>{test}{shares}{"".join(below)}</Node>'

    name = "classification" if classes else "regression"
    return (
        f'<TreeModel functionName="{name}" missingValueStrategy="{strategy}" noTrueChildStrategy="returnLastPrediction">'
        f"{SCHEMA}{node('<True/>', depth)}</TreeModel>"
    )


def plain(text: bytes) -> Element:
    """A file without namespaces."""
    root = fromstring(text)
    for one in root.iter():
        one.tag = one.tag.rpartition("}")[2]
    return root


def holds(test: Element, row: Row) -> bool | None:
    """A predicate for a row, as the standard defines it. None: unknown."""
    kind = test.tag
    if kind in ("True", "False"):
        return kind == "True"
    if kind == "CompoundPredicate":
        found = [holds(one, row) for one in test]
        match test.get("booleanOperator"):
            case "and":
                return False if False in found else None if None in found else True
            case "or":
                return True if True in found else None if None in found else False
            case "xor":
                return None if None in found else sum(map(bool, found)) % 2 == 1
            case _:
                return next((one for one in found if one is not None), None)
    value = row[test.get("field") or ""]
    lost = value is None or (isinstance(value, float) and math.isnan(value))
    sign = test.get("operator")
    if sign in ("isMissing", "isNotMissing"):
        return lost == (sign == "isMissing")
    if lost:
        return None
    if kind == "SimpleSetPredicate":
        array = test.find("Array")
        assert array is not None
        return (value in [one for one in (array.text or "").split('"') if one.strip()]) == (
            test.get("booleanOperator") == "isIn"
        )
    other: Any = test.get("value") if isinstance(value, str) else float(test.get("value") or "nan")
    if sign in ("equal", "notEqual"):
        return (value == other) == (sign == "equal")
    return SIGNS[sign or ""](value, other)


SIGNS = {"lessThan": operator.lt, "lessOrEqual": operator.le, "greaterThan": operator.gt, "greaterOrEqual": operator.ge}


class Nothing(Exception):  # noqa: N818 - what the standard calls a null prediction
    """A row without a prediction."""


def predicted(model: Element, row: Row) -> Element:
    """The node of a tree that predicts a row."""
    node, strategy = model.find("Node"), model.get("missingValueStrategy")
    assert node is not None
    while True:
        chosen = None
        for below in node.findall("Node"):
            found = holds(next(one for one in below if one.tag.endswith(("Predicate", "True", "False"))), row)
            if found is None and strategy != "none":
                if strategy == "lastPrediction":
                    return node
                if strategy == "nullPrediction":
                    raise Nothing
                chosen = next(one for one in node.findall("Node") if one.get("id") == node.get("defaultChild"))
                break
            if found:
                chosen = below
                break
        if chosen is None:
            return node
        node = chosen
