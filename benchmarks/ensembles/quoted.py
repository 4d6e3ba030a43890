"""What the README and the page on speed quote from the lines that were written: `python -m benchmarks.ensembles.quoted`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from benchmarks.ensembles.report import CONTINUOUS, PROVEN
from benchmarks.ensembles.report_treecf import SETTLED
from benchmarks.ensembles.written import pairs, ratio_of, read, rows_of, seconds, summaries
from benchmarks.harness import RESULTS

FOREST = "RF 100 x depth 5"
METHODS = ("random", "genetic")
"""The methods of DiCE."""


def readme(folder: Path) -> list[str]:
    """The sentences of the README."""
    lines, forest = rows_of(read(folder, "rivals")), summaries(read(folder, "exact"))
    forest = forest[(forest["model"] == FOREST) & (forest["proven"] == 1)]
    slower = min(map(_slower, _against(lines, CONTINUOUS, "ocean")))
    dearer = min(_dearer(pair) for method in METHODS for pair in _against(lines, "butfor", f"dice_{method}"))
    return [
        f"On a forest of 100 trees of depth 5, butfor proves a row of {len(forest)} public tables in "
        f"{_spread(forest['value'], seconds)} s (medians of the tables).",
        f"OCEAN, which proves, too, takes more than {slower // 10 * 10:.0f} times as long.",
        f"DiCE does not prove, and what it finds costs {dearer * 10 // 1 / 10:.1f} times as much or more (medians).",
    ]


def speed(folder: Path) -> list[str]:
    """The rows of the table of rivals."""
    lines, generated = rows_of(read(folder, "rivals")), rows_of(read(folder, "treecf"))
    generated = generated[generated["free"] == "all"]
    return [_ocean(lines), *_treecf(generated), *(_dice(lines, method) for method in METHODS)]


def _ocean(lines: pd.DataFrame) -> str:
    found = _against(lines, CONTINUOUS, "ocean")
    return (
        f"| OCEAN {_version(lines, 'ocean', 'oceanpy')} | yes; {_in_time(found, PROVEN, 'tables')} | "
        f"forest of 100 trees of depth 5 | {_spread(map(_slower, found))} times ours (medians of the tables) | "
        "the same, where both prove |"
    )


def _treecf(lines: pd.DataFrame) -> list[str]:
    exact, guess = (_against(lines, "butfor", f"treecf {way}") for way in ("exact", "genetic"))
    name = f"treecf {_version(lines, 'treecf exact', 'treecf')}"
    waits = [
        f"{_spread((pair['seconds'].median() for pair in found), seconds)} s, "
        f"ours {_spread((pair['seconds_ours'].median() for pair in found), seconds)} s"
        for found in (exact, guess)
    ]
    return [
        f"| {name}, exact | yes; {_in_time(exact, SETTLED, 'models')} | XGBoost, 50 to 300 trees | {waits[0]} | "
        "the same, where both prove |",
        f"| {name}, heuristic | no | the same | {waits[1]} | {_spread(map(_dearer, guess))} times ours (medians) |",
    ]


def _dice(lines: pd.DataFrame, method: str) -> str:
    found = _against(lines, "butfor", f"dice_{method}")
    model = "forest, boosting of 100 trees of depth 3" if method == METHODS[0] else "the same"
    return (
        f"| DiCE {_version(lines, f'dice_{method}', 'dice-ml')}, {method} | no | {model} | "
        f"{_spread(map(_slower, found))} times ours (medians) | {_spread(map(_dearer, found))} times ours (medians) |"
    )


def _against(lines: pd.DataFrame, ours: str, rival: str) -> list[pd.DataFrame]:
    return [pair for _, pair in pairs(lines, ours, rival)]


def _version(lines: pd.DataFrame, rival: str, package: str) -> str:
    return str(lines.loc[lines["rival"] == rival, "versions"].iloc[0][package])


def _in_time(found: list[pd.DataFrame], proven: tuple[str, ...], of: str) -> str:
    whole = sum(bool(pair["status"].isin(proven).all()) for pair in found)
    return f"all rows in time on {whole} of {len(found)} {of}"


def _slower(pair: pd.DataFrame) -> float:
    return float((pair["seconds"] / pair["seconds_ours"]).median())


def _dearer(pair: pd.DataFrame) -> float:
    answered = pair[pair["cost"].notna() & (pair["cost_ours"] > 0)]
    return float((answered["cost"] / answered["cost_ours"]).median())


def _spread(sizes: Iterable[float], shown: Callable[[float], str] = ratio_of) -> str:
    sizes = list(sizes)
    return f"{shown(min(sizes))} to {shown(max(sizes))}"


if __name__ == "__main__":
    print(*readme(RESULTS / "ensembles"), "", *speed(RESULTS / "ensembles"), sep="\n")
