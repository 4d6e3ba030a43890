"""How often the answers change each feature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from butfor.compat.dice.examples import CounterfactualExamples, alike
from butfor.compat.dice.explanations import Importance


def changed(examples: CounterfactualExamples, names: Sequence[str]) -> tuple[Counter[str], int]:
    """How many answers to a row change each feature, and how many answers there are."""
    table, row = examples.shown, examples.test_instance_df
    if table is None or row is None:
        return Counter(), 0
    return Counter({name: int((~alike(table[name], row[name].iloc[0])).sum()) for name in names}), len(table)


def importances(every: Sequence[CounterfactualExamples], names: Sequence[str]) -> tuple[list[Importance], Importance]:
    """The share of the answers that change each feature: for each row, and over all rows."""
    counted = [changed(examples, names) for examples in every]
    whole = sum((count for count, _ in counted), Counter[str]())
    return [_shares(*one, names) for one in counted], _shares(whole, sum(total for _, total in counted), names)


def _shares(count: Counter[str], total: int, names: Sequence[str]) -> Importance:
    return {name: count[name] / max(total, 1) for name in names}
