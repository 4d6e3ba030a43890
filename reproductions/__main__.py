"""`python -m reproductions` runs all published tables and pictures again, one step after the other.

It says how far it is. A step that is done is not done again for the same commit, and most steps go on in the middle. So a run
that was stopped is begun again with the same command.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

from benchmarks.harness import where

STEPS = (
    "oblique_trees.axis_aligned",
    "oblique_trees.tao",
    "oblique_trees.defaults",
    "oblique_trees.oblique",
    "oblique_trees.figure4",
    "oblique_trees.table1",
    "survcofact",
    "mdpso",
    "fcca",
    "robust",
    "robust --norm l2",
    "robust.validity",
    "robust.accuracies",
    "robust.figures",
    "robust.pictures",
    "papers",
)
DONE = Path(__file__).parent / ".done.json"
"""The commit, and the seconds of each step that is done."""


def done_of(commit: str | None) -> dict[str, float]:
    """The steps that are done for a commit, with their seconds."""
    known = json.loads(DONE.read_text()) if DONE.exists() else {}
    return dict(known["steps"]) if known and known["commit"] == commit else {}


def told(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def main() -> None:
    """Every step that is not done."""
    here = where()
    if here["dirty"]:
        sys.exit(
            "The checkout differs from its commit. Commit the changes first: results must name the code that made them."
        )
    done = done_of(here["commit"])
    for number, step in enumerate(STEPS, start=1):
        so_far = f"{number} of {len(STEPS)}: reproductions.{step}"
        if step in done:
            print(f"{so_far} is done ({told(done[step])})", flush=True)
            continue
        print(f"{so_far}; so far {told(sum(done.values()))}", flush=True)
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", *f"reproductions.{step}".split()], check=True)
        done[step] = time.perf_counter() - begin
        DONE.write_text(json.dumps({"commit": here["commit"], "steps": done}))
    print(f"All is done, in {told(sum(done.values()))}.")


if __name__ == "__main__":
    main()
