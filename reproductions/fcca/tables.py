"""The lines of all folds as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Line = dict[str, Any]


def page(lines: Sequence[Line]) -> str:
    """All tables, as Markdown."""
    folds = [line for line in lines if line["kind"] != "beyond"]
    parts = ["# Feature compression by counterfactuals", ""]
    names = list(dict.fromkeys((line["set"], line["model"]) for line in folds))
    parts += _overview(folds, names) if names else []
    parts += _programs(folds)
    for name, model in names:
        parts += _one(name, model, [line for line in folds if (line["set"], line["model"]) == (name, model)])
    further = [line for line in lines if line["kind"] == "beyond"]
    parts += _beyond(further) if further else []
    return "\n".join(parts) + "\n"


def mean(lines: Sequence[Line], key: str) -> float:
    """The mean over the folds; NaN if no line has it."""
    found = [line[key] for line in lines if key in line]
    return float(np.mean(found)) if found else float("nan")


def trees(lines: Sequence[Line], method: str, engine: str, quantile: float | None = None) -> list[Line]:
    """The lines of one method with one engine."""
    return [
        line for line in lines
        if line["kind"] == "tree" and line["method"] == method and line["engine"] == engine
        and (quantile is None or line.get("quantile") == quantile)
    ]  # fmt: skip


def optimal(lines: Sequence[Line]) -> str:
    """The engine whose trees are shown as optimal."""
    used = {line["engine"] for line in lines if line["kind"] == "tree"}
    return next((engine for engine in ("gosdt", "streed") if engine in used), "cart")


def _overview(lines: Sequence[Line], names: Sequence[tuple[str, str]]) -> list[str]:
    rows = [
        "| set | model | accuracy | paper | s per fold | paper, Gurobi | rows asked | ms per row asked | answered |"
        " proven of these | best tree, FCCA 0.7 | best tree, GTRE | thresholds, FCCA | thresholds, GTRE | factor |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, model in names:
        own = [line for line in lines if (line["set"], line["model"]) == (name, model)]
        runs = [line for line in own if line["kind"] == "model"]
        paper = runs[0].get("paper", {}) if model == "boosted stumps" else {}
        engine = optimal(own)
        fcca, gtre = trees(own, "FCCA", engine, 0.7), trees(own, "GTRE", engine)
        asked, seconds = sum(line["rows"] for line in runs), sum(line["seconds"] for line in runs)
        answered = sum(line["answered"] for line in runs)
        rows.append(
            f"| {name} | {model} | {_percent(mean(runs, 'accuracy'))} | {paper.get('accuracy', '')} |"
            f" {mean(runs, 'seconds'):.2f} | {paper.get('seconds', '')} | {asked // len(runs)} |"
            f" {1000 * seconds / asked:.2f} | {answered / asked:.1%} |"
            f" {sum(line['proven'] for line in runs) / answered:.1%} |"
            f" {_percent(mean(fcca, 'accuracy'))} | {_percent(mean(gtre, 'accuracy'))} |"
            f" {_count(mean(fcca, 'thresholds'))} | {_count(mean(gtre, 'thresholds'))} |"
            f" {_count(mean(gtre, 'thresholds') / mean(fcca, 'thresholds'))} |"
        )
    return [
        "Means over five folds. Accuracies in percent, on the held-out fold. Seconds are for fitting and reading the model and",
        "for all counterfactuals, with one worker, on a machine of two cores with other work to do. The best trees are those",
        "of GOSDT, of depth 3 at most; columns and external accuracies belong to the same trees. Compression and",
        "inconsistency are those of the training rows, as the paper defines them; those of the held-out fold, which the",
        "authors' code reports, stand in brackets.", "", *rows, "",
    ]  # fmt: skip


def _one(name: str, model: str, lines: Sequence[Line]) -> list[str]:
    rows = [
        "| method | thresholds | columns | compression | inconsistency | CART | GOSDT | STreeD | s, GOSDT | s, STreeD |"
        " external |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    keys = list(dict.fromkeys((line["method"], line.get("quantile")) for line in lines if line["kind"] == "tree"))
    for method, quantile in keys:
        cart, slow, best = (trees(lines, method, kind, quantile) for kind in ("cart", "gosdt", "streed"))
        known = slow or best or cart
        title = method if quantile is None else f"{method}, Q = {quantile:g}"
        rows.append(
            f"| {title} | {_count(mean(known, 'thresholds'))} | {_count(mean(known, 'features'))} |"
            f" {_both(known, 'compression')} | {_both(known, 'inconsistency')} |"
            f" {_percent(mean(cart, 'accuracy'))} | {_percent(mean(slow, 'accuracy'))} |"
            f" {_percent(mean(best, 'accuracy'))} | {_share(mean(slow, 'tree_seconds'))} |"
            f" {_share(mean(best, 'tree_seconds'))} | {_percent(mean(known, 'external'))} |"
        )
    return [f"## {name}, {model}", "", f"{lines[0].get('about', '')}.", "", *rows, ""]


def _beyond(lines: Sequence[Line]) -> list[str]:
    rows = [
        "| set | model's accuracy | tree | changes in | accuracy | fidelity | rules | thresholds kept of all |"
        " rows answered, proven | s, counterfactuals | s, tree |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in lines:
        own = line["engine"] != "cart on raw columns"
        rows.append(
            f"| {line['set']} | {_percent(line['model_accuracy'])} | {line['engine']} | {line['scale']} |"
            f" {_percent(line['accuracy'])} |"
            f" {_percent(line['fidelity'])} | {line['rules']} |"
            f" {line['thresholds']} of {line['all_thresholds'] if own else ''} |"
            f" {line['answered']}, {line['proven']} of {line['rows']} | {line['seconds']:.0f} |"
            f" {_share(line.get('tree_seconds', float('nan')))} |"
            if own
            else f"| {line['set']} | {_percent(line['model_accuracy'])} | CART on raw columns | |"
            f" {_percent(line['accuracy'])} | {_percent(line['fidelity'])} | {line['rules']} | | | | |"
        )
    return ["## Beyond the paper: XGBoost, 300 trees of depth 6", "", *rows, ""]


def _programs(lines: Sequence[Line]) -> list[str]:
    """The paper's program and formula beside ours."""
    runs = [line for line in lines if line["kind"] == "program"]
    if not runs:
        return []
    rows = [
        "| set | s per fold, HiGHS | rows asked | answered | thresholds | ours | in both | largest distance from a cut, in"
        " eps_j | best tree, Q = 0 | ours | Q = 0.7 | ours |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in dict.fromkeys(line["set"] for line in runs):
        own = [line for line in runs if line["set"] == name]
        its = [line for line in lines if line["set"] == name and line["model"] == "boosted stumps"]
        engine = optimal(its)
        accuracies = [
            _percent(mean(trees(its, method, engine, quantile), "accuracy"))
            for quantile in (0.0, 0.7) for method in ("paper's program", "FCCA")
        ]  # fmt: skip
        rows.append(
            f"| {name} | {mean(own, 'seconds'):.1f} | {mean(own, 'rows'):.0f} | {mean(own, 'answered'):.0f} |"
            f" {_count(mean(own, 'thresholds'))} | {_count(mean(own, 'ours'))} | {_count(mean(own, 'shared'))} |"
            f" {max(line['off'] for line in own):.0e} | {' | '.join(accuracies)} |"
        )
    return [
        "## The paper's program as it stands", "",
        "Constraints (3)-(6) and formula (10)-(11) in HiGHS, with answers that stay half a smallest gap inside each cut. Every",
        "threshold of the formula is a cut of the model.", "", *rows, "",
    ]  # fmt: skip


def _both(lines: Sequence[Line], key: str) -> str:
    """A rate on the training rows, and in brackets on the held-out fold."""
    inside = _share(mean(lines, key))
    return f"{inside} ({_share(mean(lines, f'held_out_{key}'))})" if inside else ""


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.2f}"


def _share(share: float) -> str:
    return "" if np.isnan(share) else f"{share:.3f}"


def _count(count: float) -> str:
    return "" if np.isnan(count) else f"{count:.1f}"
