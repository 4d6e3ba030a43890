"""`python -m reproductions.survcofact [set ...]` writes results/tables.jsonl, results/tables.md and results/figures.png.

Lines that this commit wrote stay as they are, so a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl

from benchmarks.harness import of_this_commit

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """All of it; every line is written as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", help='such as "Stanford2" (default: all)')
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    asked = parser.parse_args()
    if find_spec("sksurv") is None:
        print("skipped: scikit-survival is not installed (pip install butfor[survival])")
        return
    from reproductions.survcofact import figures, tables

    out = asked.out or (None if asked.smoke else RESULTS)
    mpl.use("Agg")
    found = of_this_commit(out / "tables.jsonl") if out else []
    for line in tables.lines(asked.smoke, asked.sets, tuple(found)):
        found.append(line)
        print({key: line[key] for key in ("set", "model", "row", "theta", "status", "distance", "seconds")}, flush=True)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            (out / "tables.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
            (out / "tables.md").write_text(tables.page(found))
    if out:
        figures.draw(out / "figures.png", found, asked.smoke)


if __name__ == "__main__":
    main()
