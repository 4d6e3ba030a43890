"""The pictures: accuracy, columns, compression and inconsistency against Q, of all models; heat maps of thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot

from butfor.views.plot import BLUE, GREY
from butfor.views.thresholds import INTERVALS, heat_map
from reproductions.fcca.tables import Line, mean, optimal, trees

SHOWN = 25
"""How many columns a heat map shows."""

Heat = dict[str, list[tuple[float, float]]]
"""The thresholds of each column: the place in its range, and how strong each is."""

ORANGE, GREEN = "#c2410c", "#15803d"


def draw(out: Path, lines: Sequence[Line]) -> None:
    """figures.png (figures 3 to 6), models.png (13) and heat_maps.png (7 to 12, and 14)."""
    names = list(dict.fromkeys((line["set"], line["model"]) for line in lines if line.get("method") == "FCCA"))
    if not names:
        return
    own = {key: [one for one in lines if (one["set"], one.get("model")) == key] for key in names}
    stumps = {name: its for (name, model), its in own.items() if model == "boosted stumps"}
    figure, grid = pyplot.subplots(
        len(stumps), 3, figsize=(11.5, 2.5 * len(stumps)), squeeze=False, layout="constrained"
    )
    for axes, (name, its) in zip(grid, stumps.items(), strict=True):
        _panels(axes, name, its)
    for ax in grid[0, [0, 2]]:
        ax.legend(fontsize=6.5, frameon=False)
    figure.savefig(out / "figures.png", dpi=110)
    pyplot.close(figure)
    several = {name for name, model in names if model != "boosted stumps"}
    for name in sorted(several):
        _models(out / "models.png", name, {model: its for (one, model), its in own.items() if one == name})
    _heat_maps(out / "heat_maps.png", own)


def _models(path: Path, name: str, own: Mapping[str, Sequence[Line]]) -> None:
    """Figure 13: the target models of one set beside each other."""
    figure, axes = pyplot.subplots(1, 4, figsize=(13.0, 2.8), layout="constrained")
    for colour, (model, its) in zip((BLUE, ORANGE, GREEN), own.items(), strict=False):
        quantiles = sorted({line["quantile"] for line in its if line.get("method") == "FCCA"})
        runs = [trees(its, "FCCA", _proving(its, q), q) for q in quantiles]
        for ax, key in zip(axes, ("accuracy", "features", "compression", "inconsistency"), strict=True):
            ax.plot([f"{q:g}" for q in quantiles], [mean(run, key) for run in runs], "o-", color=colour, label=model)
    titles = (f"{name}: accuracy, best tree", "columns in the tree", "compression", "inconsistency")
    for ax, title in zip(axes, titles, strict=True):
        _tidied(ax, title)
    axes[0].legend(fontsize=6.5, frameon=False)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _heat_maps(path: Path, own: Mapping[tuple[str, str], Sequence[Line]]) -> None:
    """Figures 7 to 12 and 14: for each set, GTRE's thresholds beside those of FCCA; for other models FCCA's alone."""
    figure, grid = pyplot.subplots(len(own), 2, figsize=(13.0, 4.4 * len(own)), squeeze=False, layout="constrained")
    for (left, right), ((name, model), its) in zip(grid, own.items(), strict=True):
        ours = _averaged([line["heat"] for line in its if line["kind"] == "model"])
        theirs = _averaged([line["heat"] for line in its if line["kind"] == "heat"])
        best = {column: max(share for _, share in ours.get(column, [(0.0, 0.0)])) for column in ours | theirs}
        shown = sorted(sorted(best, key=lambda column: -best[column])[:SHOWN])
        heat_map({column: ours.get(column, []) for column in shown}, right)
        right.set_title(f"{name}, {model}: FCCA", loc="left", fontsize=10)
        if theirs:
            heat_map({column: theirs.get(column, []) for column in shown}, left)
            left.set_title(f"{name}: GTRE, share of the folds with a threshold", loc="left", fontsize=10)
            left.figure.axes[-1].set_ylabel("share of the folds")
        else:
            figure.delaxes(left)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _proving(its: Sequence[Line], quantile: float) -> str:
    """The engine of the best trees at one quantile. GOSDT is not asked about very many thresholds."""
    return optimal([line for line in its if line.get("method") == "FCCA" and line.get("quantile") == quantile])


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
        ax.set_xticks(place, [f"{q:g}\n{count:.0f}" for q, count in zip(quantiles, kept, strict=True)], fontsize=8)
        _tidied(ax, title)


def _tidied(ax: Any, title: str) -> None:
    ax.set_title(title, loc="left", fontsize=9)
    ax.tick_params(labelsize=8)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _averaged(runs: Sequence[Heat]) -> Heat:
    """For each column and interval, the highest quantile, averaged over the folds (0 where a fold has no threshold)."""
    found: Heat = {}
    for name in sorted({column for run in runs for column in run}):
        cells = np.zeros((len(runs), INTERVALS))
        for row, run in enumerate(runs):
            for place, survives in run.get(name, []):
                k = min(int(place * INTERVALS), INTERVALS - 1)
                cells[row, k] = max(cells[row, k], survives, 1e-9)
        average = cells.mean(axis=0)
        found[name] = [((k + 0.5) / INTERVALS, float(average[k])) for k in np.flatnonzero(average > 0)]
    return found
