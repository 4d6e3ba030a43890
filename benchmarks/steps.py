"""A whole run in steps, each a process of its own: it says how far it is, and goes on where it was stopped."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks.harness import ROOT, where


def run_steps(package: str, steps: Sequence[str], known: Path | None = None) -> None:
    """Run `python -m package.step` for each step that is not done at this commit.

    `known` keeps the commit, and the seconds of each step that is done, until all are. It stands beside the results, if it is
    not given, and may be committed with them: then the run goes on in another checkout.
    """
    here = where()
    if here["dirty"]:
        sys.exit(
            "The checkout differs from its commit. Commit the changes first: results must name the code that made them."
        )
    known = known or ROOT / package / "results" / "unfinished.json"
    done = done_of(here["commit"], known)
    for number, step in enumerate(steps, start=1):
        so_far = f"{number} of {len(steps)}: {package}.{step}"
        if step in done:
            print(f"{so_far} is done ({told(done[step])})", flush=True)
            continue
        print(f"{so_far}; so far {told(sum(done.values()))}", flush=True)
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-m", *f"{package}.{step}".split()], check=True)
        done[step] = time.perf_counter() - begin
        known.parent.mkdir(exist_ok=True)
        known.write_text(json.dumps({"commit": here["commit"], "steps": done}, indent=1) + "\n")
    known.unlink(missing_ok=True)
    print(f"All is done, in {told(sum(done.values()))}.")


def done_of(commit: str | None, known: Path) -> dict[str, float]:
    """The steps that are done for a commit, with their seconds."""
    record = json.loads(known.read_text()) if known.exists() else {}
    return dict(record["steps"]) if record and record["commit"] == commit else {}


def told(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
