"""The packages with kernels. This is declared when butfor is imported, because what compiles stands below them all."""

from __future__ import annotations

from butfor.compiled.searches import KernelGroup, declare

KERNELS = {
    "butfor.solvers.ensemble": KernelGroup(
        "sums of trees",
        10,
        (
            ("walk", "kept", "improve", "least_prices"),
            ("reduced", "regions", "tighten", "reach", "parted", "ascend", "as_it_is", "branching", "carried"),
        ),
    ),
    "butfor.solvers.oblique": KernelGroup("oblique trees", 12, (("nearest_leaves", "side_bounds"),)),
    "butfor.solvers.tree": KernelGroup("trees", 3, (("nearest_leaves",),)),
    "butfor.solvers.swarm": KernelGroup(
        "black boxes", 3, (("decode", "move", "take_over", "add_prices", "uniform_pair"),)
    ),
    "butfor.solvers.linear": KernelGroup(
        "linear models", 2, (("_rise", "rise_at_once", "_fewest_changes", "_cheapest_choices"),)
    ),
    "butfor.neighbours.trees": KernelGroup(
        "what a sum of trees does nearby", 4, (("begin_search", "merged"), ("search",))
    ),
    "butfor.trees.tao": KernelGroup("", 4, (("descend", "paths", "sides", "logistic"),)),
    "butfor.proof": KernelGroup("", 3, (("narrow_box", "pay", "keep_cheap", "highest_sums"),)),
    "butfor.model": KernelGroup("", 1, (("add_leaves", "add_leaves_of_numbers"),)),
}

declare(KERNELS, "butfor.warming.examples")
