"""A tree as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from butfor.arrays import FloatArray
from butfor.trees.tree import Tree


def text(tree: Tree, names: Sequence[str], leaf_text: Callable[[int, int], str], decimals: int) -> str:
    """The tree as text, one line per node, indented by depth."""
    lines = []
    pending = [(0, 0, "")]
    while pending:
        node, depth, word = pending.pop()
        leaf = tree.left[node] < 0
        what = leaf_text(node, decimals) if leaf else _decision(tree.weights[node], tree.bias[node], names, decimals)
        lines.append(f"{'|   ' * depth}{word}{what}")
        if not leaf:
            pending += [(int(tree.left[node]), depth + 1, "no: "), (int(tree.right[node]), depth + 1, "yes: ")]
    return "\n".join(lines)


def _decision(weights: FloatArray, bias: float, names: Sequence[str], decimals: int) -> str:
    """A decision such as `2 age - 0.5 income >= 3`; or `age >= 3` if it has a single feature."""
    used = np.flatnonzero(weights).tolist()
    if len(used) == 1:
        scale = weights[used[0]]
        return f"{names[used[0]]} {'>=' if scale > 0 else '<='} {_number(-bias / scale, decimals)}"
    terms = " ".join(f"{'-' if weights[j] < 0 else '+'} {_number(abs(weights[j]), decimals)} {names[j]}" for j in used)
    return f"{terms.removeprefix('+ ')} >= {_number(-bias, decimals)}"


def _number(x: float, decimals: int) -> str:
    """A number with so many decimals. Below 1 these are significant digits: weights of wide columns are small."""
    fractional = not 0 < abs(x) < 1 or decimals == 0
    short = np.format_float_positional(x, precision=decimals, fractional=fractional, trim="-")
    return "0" if short == "-0" else short
