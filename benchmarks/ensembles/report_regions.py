"""The part of the page about regions."""

from __future__ import annotations

from pathlib import Path

from benchmarks.ensembles.written import markdown, read, seconds

HEAD = (
    "table", "around", "rows of both", "ours, s", "ours, longest", "all sides settled",
    "treecf fast, s", "treecf maximal, s", "its sides settled",
    "width: ours", "fast", "maximal",
)  # fmt: skip


def regions(folder: Path) -> str:
    """Our widest boxes beside treecf's."""
    lines = read(folder, "regions")
    lines = lines[lines["kind"] == "region"]
    if lines.empty:
        return ""
    rows = []
    for (table, of), group in lines.groupby(["table", "of"], sort=False):
        by = dict(list(group.groupby("rival")))
        ours, both = by["butfor"], sorted(set.intersection(*(set(one["row"]) for one in by.values())))
        mine = ours[ours["row"].isin(both)]
        fast, maximal = by.get("treecf fast"), by.get("treecf maximal")
        theirs = ("-",) * 3 if fast is None or maximal is None else (
            seconds(fast["seconds"].median()), seconds(maximal["seconds"].median()), f"{maximal['settled'].mean():.0%}"
        )  # fmt: skip
        wide = [f"{one['width'].mean():.3f}" if one is not None else "-" for one in (mine, fast, maximal)]
        times = seconds(ours["seconds"].median()), seconds(ours["seconds"].max())
        settled = f"{(ours['settled'] == 1).sum()} of {len(ours)}"
        rows.append((table, of, len(both), *times, settled, *theirs, *wide))
    return f"""## Regions

How far each column may go while a forest predicts the same: `Explainer.region`, and treecf's `recourse_region`. The forests
have 100 trees of depth 5. Asked about are the cheapest answers, and rows that are desired as they are. A side is settled if a
row that misses stands behind it, or the range ends. Ours are, unless the {lines["limit"].max():g} s of a row end first.
treecf's fast mode settles none, and its maximal mode those that it proves within its budget. The width is the mean over the
columns, as a share of the range, over the rows of both.

{markdown(HEAD, rows)}

Seconds are medians. treecf was asked about the first rows only, and its sides may stop in another order."""
