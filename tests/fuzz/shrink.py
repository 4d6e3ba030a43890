"""Make a failing problem smaller, as far as it still fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.fuzz.case import Bench, Case, Inquiry, Setting
from tests.fuzz.judge import Finding, put
from tests.fuzz.questions import Price


def failing(case: Case, kind: str) -> Finding | None:
    """The finding of this kind, if the case has one. A case that cannot be built has none."""
    try:
        bench = Bench(case.setting)
        inquiry = settled(case.inquiry, bench)
        found = put(bench, inquiry, [case.row], twice=kind == "differs")[0][2]
    except Exception:
        return None
    return next((one for one in found if one.kind == kind), None)


def settled(inquiry: Inquiry, bench: Bench) -> Inquiry:
    """The question, with the thresholds that this model attains."""
    return replace(inquiry, aim=inquiry.aim.settled(bench.said))


def shrunk(case: Case, kind: str, seconds: float = 10.0, fails: Callable[[Case, str], object] = failing) -> Case:
    """The smallest case found that still has a finding of this kind."""
    end = time.monotonic() + seconds
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for smaller in candidates(case):
            if time.monotonic() > end:
                break
            if fails(smaller, kind):
                case, progress = smaller, True
                break
    return case


def size(case: Case) -> int:
    """How much there is to read."""
    sheet, inquiry = case.setting.sheet, case.inquiry
    return sheet.rows * len(sheet.columns) + len("".join(inquiry.texts().values())) + len(case.setting.model_text())


def candidates(case: Case) -> Iterator[Case]:
    """Cases that are a little smaller, the boldest first."""
    setting, inquiry = case.setting, case.inquiry
    yield from (replace(case, inquiry=smaller) for smaller in _questions(inquiry))
    sheet = setting.sheet
    used = "".join([inquiry.texts()["cost"], inquiry.texts()["constraints"], inquiry.narrow])
    for column in sheet.columns:
        if len(sheet.columns) > 1 and repr(column.name) not in used and sheet.kind == "frame":
            rest = tuple(other for other in sheet.columns if other is not column)
            yield replace(case, setting=replace(setting, sheet=replace(sheet, columns=rest)))
    for column in sheet.columns:
        if column.ends:
            others = tuple(replace(other, ends=None) if other is column else other for other in sheet.columns)
            yield replace(case, setting=replace(setting, sheet=replace(sheet, columns=others)))
    yield from (replace(case, setting=smaller) for smaller in _recipes(setting))
    yield from _fewer_rows(case)


def _questions(inquiry: Inquiry) -> Iterator[Inquiry]:
    for rule in inquiry.rules:
        yield replace(inquiry, rules=tuple(other for other in inquiry.rules if other is not rule))
    if inquiry.narrow:
        yield replace(inquiry, narrow="")
    if inquiry.prices != (Price("L1"),):
        yield replace(inquiry, prices=(Price("L1"),))
    for price in inquiry.prices:
        if len(inquiry.prices) > 1:
            yield replace(inquiry, prices=tuple(other for other in inquiry.prices if other is not price))
        if price.word != "Table" and (price.weights or price.scale != "range"):
            plain = replace(price, weights=(), scale="range")
            yield replace(inquiry, prices=tuple(plain if other is price else other for other in inquiry.prices))


def _recipes(setting: Setting) -> Iterator[Setting]:
    recipe = setting.recipe
    for simpler in (replace(recipe, scaler=""), replace(recipe, bins=""), replace(recipe, imputer="")):
        if simpler != recipe:
            yield replace(setting, recipe=simpler)
    for name, value in recipe.settings:
        if name in ("trees", "depth") and value > 1:
            yield replace(setting, recipe=recipe.with_setting(name, 1))
            yield replace(setting, recipe=recipe.with_setting(name, value - 1))


def _fewer_rows(case: Case) -> Iterator[Case]:
    setting, count = case.setting, case.setting.sheet.rows
    part = count // 2
    while part >= 1:
        for first in range(0, count, part):
            kept = [row for row in range(count) if not first <= row < first + part or row == case.row]
            if len(kept) == count:
                continue
            labels = tuple(setting.labels[row] for row in kept)
            smaller = replace(setting, sheet=setting.sheet.take(kept), labels=labels)
            yield replace(case, setting=smaller, row=kept.index(case.row))
        part //= 2
