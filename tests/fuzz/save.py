"""Write a failing problem down as a test that needs nothing but butfor and the model's library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from tests.fuzz.case import Bench, Case
from tests.fuzz.judge import PROOF_SLACK, Finding
from tests.fuzz.models import HOMES, names_in
from tests.fuzz.shrink import settled
from tests.fuzz.tables import wide_enough

TEMPLATE = '''"""{title}

{words}
"""

import numpy as np
import pandas as pd
import pytest
from numpy import nan
{imports}

import butfor as bf

pytestmark = pytest.mark.filterwarnings("ignore")

X = {table}
y = np.array({labels!r})


def test_answer():
    model = {model}.fit(X, y)
    explainer = bf.Explainer(model, data=X, space={space})
    row = {row}
    question = {{
        "target": {target},
        "cost": {cost},
        "constraints": {constraints},
    }}
    e = explainer.explain(row, **question)[0]
{asserts}


if __name__ == "__main__":
    test_answer()
'''


def test_text(case: Case, finding: Finding, title: str) -> str:
    """The test of a case as source text."""
    bench = Bench(case.setting)
    inquiry = settled(case.inquiry, bench)
    model = case.setting.model_text()
    homes = sorted({(HOMES[name], name) for name in names_in(model)})
    lines = _asserts(bench, replace(case, inquiry=inquiry), finding)
    return TEMPLATE.format(
        title=title,
        words=finding.words,
        imports="\n".join(f"from {home} import {name}" for home, name in homes),
        table=case.setting.sheet.text(),
        labels=list(case.setting.labels),
        model=model,
        space=case.setting.sheet.space(),
        row=bench.rows_text([case.row], inquiry.narrow),
        asserts="\n".join(f"    {line}" for line in lines),
        **inquiry.texts(),
    )


test_text.__test__ = False  # type: ignore[attr-defined]  # not a test itself


def _asserts(bench: Bench, case: Case, finding: Finding) -> list[str]:
    if finding.kind == "raised" or finding.proof is None:
        return ["assert e == explainer.explain(row, **question)[0]"]
    made = row_text(bench, finding.proof).replace("\n", "\n    ")
    if finding.kind in ("broken", "changes", "prediction"):
        values = [bench.facts[j].value(code) for j, code in enumerate(finding.proof.tolist())]
        told = "{change.name: change.after for change in e.changes}"
        lines = [f"wrong = {values!r}  # {finding.words}", "found = np.asarray(e.point, dtype=object).ravel().tolist()"]
        return [*lines, f"assert [None if pd.isna(v) else v for v in found] != wrong, {told}"]
    if finding.kind == "cost":
        return ["assert e.found", f"assert abs(e.cost - {finding.cost!r}) <= 1e-7 * (1 + abs(e.cost))"]
    lines = [f"better = {made}", _accepted(bench, case), f"cost = {finding.cost!r}  # of becoming `better`"]
    if finding.kind == "infeasible":
        return [*lines, "assert e.certificate.status is not bf.Status.PROVEN_INFEASIBLE, cost"]
    if finding.kind == "missed":
        return [*lines, "assert e.found, cost"]
    if finding.kind == "gap":
        return [*lines, "assert e.certificate.bound >= cost - 1e-3 * (1 + cost)"]
    return [*lines, f"assert e.certificate.bound <= cost + {PROOF_SLACK:g} * (1 + cost)"]


def _accepted(bench: Bench, case: Case) -> str:
    """The line that asserts that the estimator accepts the better row."""
    aim = case.inquiry.aim
    if aim.of_chances:
        sense = ">=" if aim.word == "probability" else "<="
        return (
            f"assert model.predict_proba(better)[0, {bench.said.classes.index(aim.labels[0])}] {sense} {aim.ends[0]!r}"
        )
    if aim.word == "other":
        return "assert model.predict(better).ravel()[0] != model.predict(row).ravel()[0]"
    if aim.word in ("class", "classes", "costs"):
        return f"assert model.predict(better).ravel()[0] in {aim.labels!r}"
    value = "float(model.predict(better).ravel()[0])"
    if aim.word == "relative":
        sense = ">=" if aim.ends[0] > 0 else "<="
        return f"now = float(model.predict(row).ravel()[0]); assert {value} {sense} now + {aim.ends[0]!r} * abs(now)"
    if aim.word == "most":
        return f"assert {value} <= {aim.ends[0]!r}"
    return f"assert {aim.ends[0]!r} <= {value}" + (f" <= {aim.ends[1]!r}" if len(aim.ends) > 1 else "")


def row_text(bench: Bench, point: FloatArray) -> str:
    """A point as a table of one row, as source text."""
    sheet = bench.setting.sheet
    columns = []
    for column, fact, code in zip(sheet.columns, bench.facts, point.tolist(), strict=True):
        value: Any = fact.value(code)
        if value is not None and not fact.levels and not column.dtype.startswith("float"):
            value = int(value) if value == np.round(value) else value
        dtype = wide_enough(column.dtype, np.array([code]))
        columns.append(replace(column, values=(value,), dtype=dtype))
    return replace(sheet, columns=tuple(columns)).text()


def save(case: Case, finding: Finding, name: str, title: str, folder: Path) -> Path:
    """Write the test of a case into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_{name}.py"
    path.write_text(test_text(case, finding, title), encoding="utf-8")
    return path
