"""`python -m reproductions.survcofact` writes results/tables.jsonl, results/tables.md and results/figures.png."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl

from benchmarks.harness import arguments
from reproductions.survcofact import figures, tables


def main() -> None:
    """All of it; every line is written as soon as it is known."""
    asked = arguments(__doc__ or "")
    out = asked.out or (None if asked.smoke else Path(__file__).parent / "results")
    mpl.use("Agg")
    found = []
    if out:
        out.mkdir(parents=True, exist_ok=True)
    for line in tables.lines(asked.smoke):
        found.append(line)
        print({key: line[key] for key in ("set", "model", "row", "theta", "status", "distance", "seconds")}, flush=True)
        if out:
            (out / "tables.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
            (out / "tables.md").write_text(tables.page(found))
    if out:
        figures.draw(out / "figures.png", asked.smoke)


if __name__ == "__main__":
    main()
