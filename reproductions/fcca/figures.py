"""The pictures: accuracy, columns, compression and inconsistency against Q; heat maps, averaged over the folds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot

from butfor.views.plot import BLUE, GREY
from butfor.views.thresholds import INTERVALS, heat_map
from reproductions.fcca.tables import Line, mean, optimal, trees

SHOWN = 25
"""How many columns a heat map shows."""

ORANGE, GREEN = "#c2410c", "#15803d"


def draw(out: Path, lines: Sequence[Line]) -> None:
    """figures.png and heat_maps.png."""
    names = list(dict.fromkeys(line["set"] for line in lines if line.get("model") == "boosted stumps"))
    if not names:
        return
    own = {
        name: [one for one in lines if one["set"] == name and one.get("model") == "boosted stumps"] for name in names
    }
    figure, grid = pyplot.subplots(len(names), 3, figsize=(11.5, 2.5 * len(names)), squeeze=False, layout="constrained")
    for axes, (name, its) in zip(grid, own.items(), strict=True):
        _panels(axes, name, its)
    for ax in grid[0, [0, 2]]:
        ax.legend(fontsize=6.5, frameon=False)
    figure.savefig(out / "figures.png", dpi=110)
    pyplot.close(figure)
    figure, grid = pyplot.subplots(
        -(-len(names) // 2), 2, figsize=(13.0, 4.4 * -(-len(names) // 2)), squeeze=False, layout="constrained"
    )
    for ax in grid.ravel()[len(names) :]:
        figure.delaxes(ax)
    for ax, (name, its) in zip(grid.ravel(), own.items(), strict=False):
        heat_map(_averaged(its), ax)
        ax.set_title(name, loc="left", fontsize=10)
    figure.savefig(out / "heat_maps.png", dpi=110)
    pyplot.close(figure)


def _panels(axes: Any, name: str, its: Sequence[Line]) -> None:
    engine = optimal(its)
    quantiles = sorted({line["quantile"] for line in its if line.get("method") == "FCCA"})
    place = np.arange(len(quantiles))
    for kind, colour in {"cart": ORANGE, engine: BLUE}.items():
        word = "CART" if kind == "cart" else "best tree"
        runs = [trees(its, "FCCA", kind, q) for q in quantiles]
        axes[0].plot(place, [100 * mean(run, "accuracy") for run in runs], "o-", color=colour, label=f"FCCA, {word}")
        axes[1].plot(place, [mean(run, "features") for run in runs], "o-", color=colour)
        axes[0].axhline(100 * mean(trees(its, "GTRE", kind), "accuracy"), color=colour, ls="--", label=f"GTRE, {word}")
        axes[1].axhline(mean(trees(its, "GTRE", kind), "features"), color=colour, ls="--")
    raw = trees(its, "raw columns", "cart")
    axes[0].axhline(100 * mean(raw, "accuracy"), color=GREY, ls=":", label="CART, raw columns")
    axes[1].axhline(mean(raw, "features"), color=GREY, ls=":")
    for key, colour in (("compression", GREEN), ("inconsistency", ORANGE)):
        axes[2].plot(
            place, [mean(trees(its, "FCCA", engine, q), key) for q in quantiles], "o-", color=colour, label=key
        )
        axes[2].axhline(mean(trees(its, "GTRE", engine), key), color=colour, ls="--", label=f"{key}, GTRE")
    kept = [mean(trees(its, "FCCA", engine, q), "thresholds") for q in quantiles]
    for ax, title in zip(
        axes, (f"{name}: accuracy, %", "columns in the tree", "compression, inconsistency"), strict=True
    ):
        ax.set_title(title, loc="left", fontsize=9)
        ax.set_xticks(place, [f"{q:g}\n{count:.0f}" for q, count in zip(quantiles, kept, strict=True)], fontsize=8)
        ax.tick_params(labelsize=8)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)


def _averaged(its: Sequence[Line]) -> dict[str, list[tuple[float, float]]]:
    """For each column and interval, the highest quantile, averaged over the folds (0 where a fold has no threshold)."""
    runs = [line["heat"] for line in its if line["kind"] == "model"]
    found: dict[str, list[tuple[float, float]]] = {}
    for name in sorted({column for run in runs for column in run}):
        cells = np.zeros((len(runs), INTERVALS))
        for row, run in enumerate(runs):
            for place, survives in run.get(name, []):
                k = min(int(place * INTERVALS), INTERVALS - 1)
                cells[row, k] = max(cells[row, k], survives, 1e-9)
        average = cells.mean(axis=0)
        found[name] = [((k + 0.5) / INTERVALS, float(average[k])) for k in np.flatnonzero(average > 0)]
    strongest = sorted(found, key=lambda name: -max(survives for _, survives in found[name]))[:SHOWN]
    return {name: its for name, its in found.items() if name in strongest}
