"""`python -m reproductions` runs all published tables and pictures again, one step after the other.

It says how far it is. A step that is done is not done again for the same commit, and most steps go on in the middle. So a run
that was stopped is begun again with the same command.
"""

from __future__ import annotations

from benchmarks.steps import run_steps

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

if __name__ == "__main__":
    run_steps("reproductions", STEPS)
