"""The part of the page about treecf."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.ensembles.treecf import UNBLAMED
from benchmarks.ensembles.written import markdown, pairs, read, rows_of, seconds, times

SETTLED = ("PROVEN_OPTIMAL", "PROVEN_INFEASIBLE", "optimal", "certified")
"""What butfor and treecf say of a row that no further search can change."""


def treecf(folder: Path) -> str:
    """treecf's heuristic and its exact search beside our proofs, all columns free."""
    lines = rows_of(read(folder, "treecf"))
    lines = lines if lines.empty else lines[lines["free"] == "all"]
    if lines.empty:
        return ""
    exact = dict(pairs(lines, "butfor", "treecf exact"))
    rows = []
    for name, guess in pairs(lines, "butfor", "treecf genetic"):
        pair = exact[name]
        settled, ours = pair["status"].isin(SETTLED), pair["status_ours"].isin(SETTLED)
        above = guess["cost"] / guess["cost_ours"]
        off = (pair["cost"] - pair["cost_ours"])[settled & ours].abs().max()
        rows.append(
            (*name, seconds(guess["seconds_ours"].median()), seconds(guess["seconds"].median()),
             seconds(pair["seconds"].median()), f"{ours.sum()} of {len(ours)}", f"{settled.sum()} of {len(settled)}",
             times(above), "-" if pd.isna(off) else f"{off:.0e}")
        )  # fmt: skip
    head = (
        "table", "model", "ours, s", "heuristic, s", "exact, s", "proven: ours", "treecf",
        "cost, heuristic / ours", "proven costs differ by at most",
    )  # fmt: skip
    versions, limit = lines.loc[lines["rival"] == "treecf exact", "versions"].iloc[0], lines["limit"].max()
    return f"""## Against treecf

treecf {versions["treecf"]} has a heuristic (its default) and an exact search. Here they answer on models of the sizes
that it publishes its own times for; the tables are generated after its descriptions. Every number is continuous, and
both sides price it as a share of its range. The rows are drawn among the undesired ones, {limit:g} s each.

{markdown(head, rows)}

Seconds are medians, and ours are those of the proof. treecf may use every core, and we use one. Its exact search begins
with its heuristic, and has no budget but time; where that ran out on its first rows it was asked about no further ones."""


def triples(folder: Path) -> str:
    """Three free columns of Adult: the sums of seconds, where an answer exists and where none does."""
    lines = rows_of(read(folder, "treecf"))
    lines = lines if lines.empty else lines[lines["free"] != "all"]
    if lines.empty:
        return ""
    keys = ("table", "model", "row", "free")
    pair = pd.concat(group for _, group in pairs(lines, "butfor", "treecf exact", keys))
    guess = pd.concat(group for _, group in pairs(lines, "butfor", "treecf genetic", keys))
    plain = pd.concat(group for _, group in pairs(lines, "butfor", UNBLAMED, keys))
    rows = []
    for status, name in (("PROVEN_OPTIMAL", "yes"), ("PROVEN_INFEASIBLE", "no")):
        some, guessed, unblamed = (frame[frame["status_ours"] == status] for frame in (pair, guess, plain))
        agree = some["status"].isin(SETTLED) & (some["cost"].isna() == some["cost_ours"].isna())
        agree &= (some["cost"] - some["cost_ours"]).abs().fillna(0) < 1e-5
        rows.append(
            (name, len(some), seconds(some["seconds_ours"].sum()), seconds(unblamed["seconds"].sum()),
             seconds(some["seconds"].sum()), seconds(guessed["seconds"].sum()),
             seconds(some["seconds_ours"].max()), seconds(some["seconds"].max()),
             f"{agree.sum()} of {len(some)}", f"{guessed['cost'].notna().sum()} of {len(guessed)}")
        )  # fmt: skip
    head = (
        "is there an answer?", "questions", "ours, sum of s", "without blame", "exact, sum of s", "heuristic, sum of s",
        "ours, longest s", "exact, longest s", "proven alike by exact", "answered by heuristic",
    )  # fmt: skip
    unsettled = (~pair["status_ours"].isin(SETTLED)).sum()
    return f"""### Three free columns

Adult with its texts as numbers, and histogram boosting of scikit-learn ({lines.iloc[0]["leaves"]} leaves).
Each of {pair["row"].nunique()} rows is asked about with every three of {_free(pair)} changeable columns free, the others fixed.

{markdown(head, rows)}

We proved {len(pair) - unsettled} of {len(pair)}. treecf's constraints are compiled before, ours are part of the call.
Where there is no answer, our seconds also find a smallest set of fixed columns to blame, which takes many more proofs.
treecf names none; without blame (`conflicts=False`) is the same question."""


def _free(lines: pd.DataFrame) -> int:
    return len({name for text in lines["free"] for name in text.split(", ")})
