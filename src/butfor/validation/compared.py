"""The sections of a dossier about groups: what answers cost each, and whether a column alone changes a decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from butfor import groups
from butfor.groups.bias import NO, UNSETTLED, YES
from butfor.report.lines import Line, lines_of, rounded
from butfor.validation.facts import DossierSection, FactTable, Heading, fact_table
from butfor.validation.material import Material, several
from butfor.validation.sections import count


def compared(of: Material) -> Iterator[DossierSection]:
    """A section for each column that makes groups."""
    for number, name in enumerate(of.wish.groups, 1):
        yield DossierSection(
            f"groups_{number}",
            f"Groups by {of.label(name)}",
            (*_differences(of, name), _bias(of, name)),
            tables=(_costs(of, name), *_flips(of, name)),
        )


def _costs(of: Material, name: str) -> FactTable:
    lines = lines_of(groups.costs(of.firsts, name, seed=of.wish.seed))
    for line in lines:
        line["interval"] = None if line["low"] is None else [line["low"], line["high"]]
    return fact_table(
        "costs", "What answers cost, with intervals of 95 % (bootstrap)", lines,
        Heading("group", of.label(name), lambda group: of.show(name, group), ""), Heading("rows", "Rows", count),
        Heading("answered", "Answered", count), Heading("impossible", "Impossible", count),
        Heading("open", "Open", count), Heading("proven", "Proven optimal", count),
        Heading("mean", "Mean cost", rounded), Heading("interval", "Interval", _interval),
        Heading("median", "Median cost", rounded),
    )  # fmt: skip


def _interval(ends: Any) -> str:
    return f"{rounded(ends[0])} to {rounded(ends[1])}"


def _differences(of: Material, name: str) -> Iterator[str]:
    """Whether the groups differ by more than chance."""
    if not several(of, name):
        yield f"All rows that were asked are of one group of {of.label(name)}."
        return
    for line in lines_of(groups.differences(of.firsts, name, seed=of.wish.seed)):
        if line["lowest"] is not None:
            yield (
                f"{line['quantity'].capitalize()}: lowest for {of.show(name, line['lowest'])}, highest for "
                f"{of.show(name, line['highest'])}; difference {rounded(line['difference'])}, p = {line['p']:.2g} "
                "(permutation test: how often chance alone spreads the groups as far)."
            )


def _bias(of: Material, name: str) -> str:
    """Whether the column alone changes a decision."""
    found = of.bias.get(name)
    if found is None:
        return "Whether the column alone would change a decision was not looked for: it was interrupted."
    if isinstance(found, str):
        return f"Would the column alone change a decision? {found[:1].upper()}{found[1:].rstrip('.')}."
    ends = Counter(line["flips"] for line in found)
    told = f"{of.label(name)} alone would change the decision about {count(ends[YES])} of {count(len(found))} rows"
    rest = f", and {count(ends[UNSETTLED])} are open" if ends[UNSETTLED] else ""
    fair = "" if ends[YES] else " That does not prove that the model is fair: other columns may say the same."
    return f"{told}{rest}.{fair}"


def _flips(of: Material, name: str) -> Iterator[FactTable]:
    """How many rows the column alone would flip, group by group of what it is now."""
    found = of.bias.get(name)
    if found is None or isinstance(found, str):
        return
    each: dict[Any, Counter[str]] = {}
    for line in found:
        each.setdefault(line[name], Counter())[line["flips"]] += 1
    lines: list[Line] = [{"group": now, "rows": ends.total(), **ends} for now, ends in each.items()]
    for line in lines:
        line |= {end: line.get(end, 0) for end in (YES, NO, UNSETTLED)}
    yield fact_table(
        "flips", "Would the column alone change the decision? (bias check)",
        sorted(lines, key=lambda line: str(line["group"])),
        Heading("group", of.label(name), lambda group: of.show(name, group), ""), Heading("rows", "Rows", count),
        Heading(YES, "Yes", count), Heading(NO, "No", count), Heading(UNSETTLED, "Open", count),
    )  # fmt: skip
