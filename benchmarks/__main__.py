"""`python -m benchmarks` measures everything again, one step after the other, and makes the pages from the lines.

RIVAL_PYTHON names a Python 3.12, which adds OCEAN and DiCE. A run that was stopped is begun again with the same command.
"""

from __future__ import annotations

from benchmarks.steps import run_steps

STEPS = (
    "import_time",
    "cold_start",
    "first_explanation",
    "latency",
    "tree_throughput",
    "linear_throughput",
    "mixed_throughput",
    "batches",
    "additive",
    "calibrated",
    "lines_beside_trees",
    "linked",
    "relations",
    "ratios",
    "menus",
    "groups",
    "checks",
    "reports",
    "compress",
    "portfolios",
    "portfolios_picture",
    "serving",
    "logs",
    "swarm",
    "oblique.explanations",
    "oblique.qp_solvers",
    "survival",
    "networks",
    "networks_report",
    "proofs",
    "ensembles",
    "ensembles.report",
)

if __name__ == "__main__":
    run_steps("benchmarks", STEPS)
