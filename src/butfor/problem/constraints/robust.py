"""Answers that stay valid in a whole ball around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, keep_plain
from butfor.errors import InputError, UnsupportedProblemError
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model, kind_of
from butfor.model.readout import AbstractReadout
from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees
from butfor.neighbours.ball import STEP_ROUNDING, Ball, BallNorm
from butfor.problem.constraints.constraint import Changes, Neighbourhood
from butfor.problem.constraints.demanded import Demanded
from butfor.problem.constraints.slipping import shown, slips_in
from butfor.problem.neighbours import FEW_NEIGHBOURS, neighbourhoods
from butfor.problem.problem import Problem
from butfor.problem.referee import Referee
from butfor.space.lengths import lengths_in
from butfor.space.space import Space

CURVED = (
    "Probabilities of several classes, and means of several models (soft votes, calibration), have curved boundaries."
)
"""What is said where a boundary of that kind is refused."""

UNCURVED = "Ask for a class, calibrate with ensemble=False, or ask one of the models."
"""What to do instead."""


@dataclass(frozen=True)
class Robust(Demanded):
    """See `robust`."""

    radius: float | Mapping[str, float]
    norm: str
    slips: Mapping[str, Any] = field(default_factory=dict)

    in_ball = True
    survives = True

    def __post_init__(self) -> None:
        keep_plain(self)

    def __repr__(self) -> str:
        radius = dict(self.radius) if isinstance(self.radius, Mapping) else self.radius
        slips = {name: shown(way) for name, way in self.slips.items()}
        return f"robust({radius!r}, norm={self.norm!r}{f', slips={slips!r}' if slips else ''})"

    def validate(self, space: Space) -> None:
        if self.norm not in tuple(BallNorm):
            raise InputError(
                f"{self!r} was given.", f"The norm must be one of {', '.join(map(repr, map(str, BallNorm)))}."
            )
        if isinstance(self.radius, Mapping) and not self.radius:
            raise InputError("bf.robust({}) says nothing.", "It must name at least one column.")
        self.ball(space)
        for name, length in self.radius.items() if isinstance(self.radius, Mapping) else ():
            step = space[name].step
            if 0 < length < step * (1 - STEP_ROUNDING):
                raise InputError(
                    f"{self!r} perturbs {name!r} by less than its step of {step:g}.",
                    "It is perturbed by whole steps, so this would change nothing.",
                    f"Give at least {step:g}, or leave it out.",
                )

    def ball(self, space: Space) -> Ball:
        """The ball in the units of each column."""
        step = np.array([feature.step for feature in space.features], dtype=np.float64)
        radius = lengths_in(self.radius, space, repr(self), "a radius", "bf.robust({'income': 500})")
        whole = step > 0
        radius[whole] = np.floor(radius[whole] / step[whole] + STEP_ROUNDING) * step[whole]
        if self.norm != BallNorm.LINF and (whole & (radius > 0)).any():
            raise InputError(
                f"{self!r} perturbs whole numbers.", "They are perturbed by whole steps each.", "Use norm='linf'."
            )
        anchor, slips = (
            np.array([feature.anchor for feature in space.features]),
            slips_in(self.slips, space, repr(self)),
        )
        norm = BallNorm(self.norm) if radius.any() else BallNorm.LINF  # without shifts, every ball is a box
        return Ball(norm, radius, np.where(radius > 0, step, 0.0), anchor, slips)

    def scaled(self, share: float) -> Robust:
        """The same with a share of the radius. Levels may slip as before."""
        if isinstance(self.radius, Mapping):
            return replace(self, radius={name: share * length for name, length in self.radius.items()})
        return replace(self, radius=share * self.radius)

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        """Which changes stay valid in the ball: by the exact adversary, and by the estimator where that looks worst."""
        return np.array([one.met for one in self.around(changes, referee, FEW_NEIGHBOURS)], dtype=np.bool_)

    def around(self, changes: Changes, referee: Referee, sampled: int) -> list[Neighbourhood]:
        """What was found in the ball around each point. The estimator is asked about so many neighbours of each, at random."""
        reading, target = referee.reading, referee.target
        if target is None:
            return [Neighbourhood(False, None, 0)] * len(changes)
        model, ball = target.focus(reading, changes.before).model, self.ball(referee.space)
        refuse(unjudged(model, reading.readout, ball))
        own = [tuple[ScoreSet, ...]()] * len(changes)
        for rows, score_sets in target.groups(reading.readout, changes.before):
            for at, row in enumerate(rows.tolist()):
                own[row] = tuple(score_set.take(np.array([at])) for score_set in score_sets)
        return neighbourhoods(model, own, ball, changes, referee, sampled)

    def enter(self, problem: Problem, referee: Referee) -> Problem:
        ball = self.ball(problem.space)
        refuse(unjudged(problem.model, referee.reading.readout, ball))
        if any(score_set.curve is not None for score_set in problem.score_sets):
            raise UnsupportedProblemError(
                "bf.robust was given for a target with a curved boundary.",
                CURVED,
                UNCURVED,
            )
        if problem.demands.ball is not None:
            raise InputError(
                "two robust constraints were given.", "One ball is kept at a time.", "Give the larger one."
            )
        return problem.with_demands(ball=ball)


class Unjudged(NamedTuple):
    """Why whole balls cannot be judged: what is there, what is needed, and what to do instead of `bf.robust`."""

    there: str
    needed: str
    instead: str


def unjudged(model: Model, readout: AbstractReadout, ball: Ball) -> Unjudged | None:
    """Why a model's worst neighbours cannot be found exactly. None if they can."""
    if not isinstance(model, Linear | Trees | ObliqueTree | Network):
        return Unjudged(
            f"a model of the kind {str(kind_of(model))!r}",
            "A whole ball can be judged only for linear models, trees, oblique trees, sums of trees and networks.",
            "Leave it out, or use bf.margin where boundaries are known.",
        )
    if ball.slips and isinstance(model, ObliqueTree):
        return Unjudged(
            "levels that may slip, and an oblique tree",
            "Levels may slip for linear models, trees, sums of trees and networks.",
            "Leave slips out, and let the model predict the answer with other levels.",
        )
    if readout.joins_sets:
        return Unjudged(
            "a stack that ends in a tree",
            "A ball may reach over several leaves of that tree, and only balls inside one are judged.",
            "Leave it out, or fit the stack with a linear end.",
        )
    binned = read_in_bins(model) & set(np.flatnonzero(ball.radius).tolist())
    if binned:
        return Unjudged(
            f"{len(binned)} {'columns' if len(binned) > 1 else 'column'} that the model reads in bins",
            "Whole balls are judged only for columns that are read as numbers.",
            "Give radii for the other columns: bf.robust({'name': radius}).",
        )
    return None


def refuse(found: Unjudged | None) -> None:
    """Raise an error if the ball of `bf.robust` cannot be judged."""
    if found:
        raise UnsupportedProblemError(f"bf.robust was given for {found.there}.", found.needed, found.instead)


def read_in_bins(model: Model) -> set[int]:
    """The numbers that a model reads by their bin, and not as numbers."""
    if isinstance(model, Trees):
        return {j for j in model.asked_for_sets() if not model.cells[j].levels}
    if isinstance(model, Linear | ObliqueTree | Network):
        return {j for j, cells in enumerate(model.cells) if len(cells.edges)}
    return set()
