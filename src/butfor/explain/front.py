"""Cost against radius: answers that stay valid in larger and larger balls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from butfor.errors import InputError, InputTypeError, number
from butfor.estimator.prediction import Prediction
from butfor.explain.asking import Asking
from butfor.explain.ladder import shares
from butfor.explanation.explanation import Explanation
from butfor.explanation.front import Front
from butfor.problem.constraints.constraint import Changes
from butfor.problem.constraints.robust import Robust
from butfor.solvers.outcome import Status
from butfor.solvers.solver import Budget
from butfor.verdict.verify import Verifier


def front(asking: Asking, verifier: Verifier, radii: Iterable[float], norm: str, budget: Budget) -> Front:
    """The cheapest answers to the row of a verifier at some radii, smallest first.

    An answer that stays valid at the next radius is the cheapest there, too. An answer at a radius is one at all
    smaller radii, and a bound holds for all larger ones: both are passed on.
    """
    lengths = _ascending(radii)
    for length in lengths:
        Robust(length, norm).validate(verifier.referee.space)
    answers: list[Explanation] = []
    for radius, part in zip(lengths, shares(budget, len(lengths)), strict=True):
        ball = Robust(radius, norm) if radius else None
        if answers and _settles(answers[-1], ball, verifier):
            answers.append(answers[-1])
        else:
            answers.append(asking.solved(_within(verifier, ball), part).only)
    costs = np.array([answer.cost for answer in answers])
    bounds = np.maximum.accumulate([answer.certificate.bound for answer in answers])
    for at in range(len(answers) - 2, -1, -1):
        if costs[at + 1] < costs[at]:
            costs[at], answers[at] = costs[at + 1], answers[at + 1]
    return Front(np.array(lengths), costs, np.minimum(bounds, costs), tuple(answers))


def _within(verifier: Verifier, ball: Robust | None) -> Verifier:
    """The question for answers that stay valid in a ball."""
    if ball is None:
        return verifier
    question = verifier.question
    return replace(verifier, question=question.under((*question.constraints, ball)))


def _settles(answer: Explanation, ball: Robust | None, verifier: Verifier) -> bool:
    """Whether an answer at a smaller radius settles what happens at a larger one."""
    if answer.certificate.status is Status.PROVEN_INFEASIBLE:
        return True
    if ball is None or answer.certificate.status is not Status.PROVEN_OPTIMAL or answer.point_codes is None:
        return False
    after = Prediction(verifier.referee.reading.source, answer.point)
    changes = Changes(answer.factual_codes[None], answer.point_codes[None], verifier.before, after)
    return bool(ball.holds(changes, verifier.referee)[0])


def _ascending(radii: Iterable[float]) -> list[float]:
    message = (
        f"radii={radii!r} was given.",
        "A list of numbers is needed.",
        "Give shares of the ranges: [0, 0.01, 0.05].",
    )
    if not isinstance(radii, Iterable):
        raise InputTypeError(*message)
    given = [number(one, *message[:2]) for one in radii]
    if not given or not all(np.isfinite(one) and one >= 0 for one in given):
        raise InputError(f"radii={radii!r} was given.", "At least one is needed, all finite and not negative.")
    return sorted(set(given))
