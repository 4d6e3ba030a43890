"""The part of the page about Veritas."""

from __future__ import annotations

from pathlib import Path

from benchmarks.ensembles.veritas import GUARD
from benchmarks.ensembles.written import markdown, read, rows_of, seconds, times


def veritas(folder: Path) -> str:
    """The smallest radius of L-infinity: our proofs beside the intervals of Veritas."""
    lines = rows_of(read(folder, "veritas"))
    if lines.empty:
        return ""
    keys, rows = ["table", "model", "row"], []
    theirs = lines[lines["rival"] == "veritas"]
    ours = lines.loc[lines["rival"] == "butfor", [*keys, "cost", "seconds", "status"]]
    for name, both in theirs.merge(ours, on=keys, suffixes=("", "_ours")).groupby(keys[:2], sort=False):
        within = (both["bound"] - GUARD <= both["cost_ours"]) & (both["cost_ours"] <= both["cost"] + GUARD)
        waits = [seconds(some) for of in ("seconds_ours", "seconds") for some in (both[of].median(), both[of].max())]
        proven, width = (both["status_ours"] == "PROVEN_OPTIMAL").sum(), (both["radius"] - both["bound"]).median()
        above = times(both["cost"] / both["cost_ours"])
        rows.append(
            (*name, *waits, f"{proven} of {len(both)}", f"{width:.0e}", above, f"{within.sum()} of {len(both)}")
        )
    head = (
        "table", "model", "ours, s", "longest", "Veritas, s", "longest", "proven: ours", "its interval is as wide as",
        "cost, Veritas / ours", "our cost lies in between",
    )  # fmt: skip
    versions, limit = theirs["versions"].iloc[0], lines["limit"].max()
    return f"""## Against Veritas

Veritas {versions["veritas"]} looks for the smallest radius around a row in which an answer lies: our question at the cost
L-infinity. It halves an interval of radii, which is a third opinion on our proofs. The models are those above, and their columns
are scaled to a range of 1. The rows are drawn among the undesired ones, {limit:g} s each.

{markdown(head, rows)}

Where a step of it runs out of time, it goes on as if an answer lay there. So the last column counts our costs that lie between
its lower end and the cheapest answer that it gave.

Seconds are the median and the longest, of one thread on both sides. Ours are those of the whole call, with the check by the
estimator. Those of Veritas are of its search alone."""
