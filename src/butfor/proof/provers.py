"""Which prover takes a question."""

from __future__ import annotations

from typing import Any

from butfor.arrays import FloatArray
from butfor.proof.checker import checker
from butfor.proof.joint_cost_prover import JointCostProver
from butfor.proof.linear_prover import LinearProver
from butfor.proof.mean_prover import MeanProver
from butfor.proof.mixed_mean_prover import MixedMeanProver
from butfor.proof.mixed_prover import MixedProver
from butfor.proof.network_prover import NetworkProver
from butfor.proof.prover import Prover
from butfor.proof.rivals_prover import RivalsProver
from butfor.proof.sigmoids_prover import SigmoidsProver
from butfor.solvers.solver import Budget


def prover_of(asked: Any, budget: Budget, answer: FloatArray | None = None) -> Prover | LinearProver:
    """The prover for a question of the checker: about trees or weights, and about one goal, several, or a mean of curves.

    `answer`: where the cheapest answer is, if there is one.
    """
    mean = asked.wanted.mean
    if not asked.model.weights:
        plain = (Prover, MixedProver), (MeanProver, MixedMeanProver)
        return plain[mean is not None][bool(asked.model.slopes)](asked, checker().runs, budget)
    if mean:
        return SigmoidsProver(asked, budget)
    if asked.model.layers:
        return NetworkProver(asked, budget)
    if asked.reaching or asked.form:
        return JointCostProver(asked, budget, answer)
    several = asked.model.paths or max(map(len, asked.wanted.ways)) + len(asked.limits + asked.rules) > 1
    return (RivalsProver if several else LinearProver)(asked, budget)
