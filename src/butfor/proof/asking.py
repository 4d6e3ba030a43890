"""The question of some answers, made from their claim and the model."""

from __future__ import annotations

from functools import partial

import numpy as np

from butfor.claim import Claim
from butfor.errors import UnsupportedModelError, UnsupportedProblemError
from butfor.model.survival.readout import Survival
from butfor.problem.constraints.demanded import entered
from butfor.problem.problem import state
from butfor.proof.asked import ProofQuestion, balls
from butfor.proof.asked_columns import range_of
from butfor.proof.joint_files import joint_file, others_of
from butfor.proof.model_files import ModelInputs, not_proven, own_file
from butfor.proof.one_sum import OneSum
from butfor.proof.read_files import read_file
from butfor.proof.refused import refuse_question
from butfor.proof.survival_files import survival_file
from butfor.proof.wanted import not_asked


def asked_about(claim: Claim) -> ProofQuestion:
    """The question of some answers: with the model's own file if the checker reads it, else with what butfor read."""
    if not claim.whole:
        raise _not_held(claim)
    case = claim.asking.case(claim.stated.factuals, claim.target, claim.cost, claim.known)
    target, source = case.question.target, claim.reading.source
    reading, question = target.focus(claim.reading, case.before), case.question
    problem = state(claim.answers.space, reading.model, case.factuals, (), question.prices, question.constraints)
    refuse_question(question)
    for rule in balls(question):
        problem = entered(problem, rule, case.referee)
    numbers = [feature.levels is None for feature in problem.space]
    low, high = np.array([range_of(problem, j) if number else (0.0, 0.0) for j, number in enumerate(numbers)]).T
    extent = problem.domain.extent._replace(low=low, high=high)
    asked = partial(ProofQuestion, claim, case, reading, problem)
    others = others_of(question, case.referee, case.before)
    if others and balls(question):
        raise not_asked(f"the constraint {balls(question)[0]!r} of several models")
    if others:
        return asked(*joint_file(reading, others, extent), others=others)
    if isinstance(reading.readout, Survival):
        return asked(*survival_file(reading, target, case.before, extent))
    inputs = ModelInputs(source)
    try:
        if inputs.leave_zeros_out(case.before.table):
            raise not_proven(
                f"a {type(source.estimator).__name__} that gets sparse rows, in which it takes zeros for missing"
            )
        return asked(own_file(source), inputs)
    except UnsupportedModelError as error:
        try:
            read = read_file(reading, extent)
        except UnsupportedModelError:
            try:
                one_sum = OneSum.of(target, reading, case.before)
                return asked(*one_sum.file(extent), one_sum=one_sum)
            except UnsupportedModelError:
                raise error from None
    return asked(*read)


def _not_held(claim: Claim) -> UnsupportedProblemError:
    """The error about a question that the answers do not hold as data."""
    question = claim.answers.question
    told = [
        (question.target, claim.target),
        (question.cost, claim.cost),
        *zip(question.constraints, claim.constraints, strict=True),
    ]
    words = next(words for words, meant in told if meant is None)
    return UnsupportedProblemError(
        f"the answers do not hold {words} as data.",
        "What a proof is about must be known in full.",
        "Give the models that constraints ask as `models` (--plausible of the command), in the order of the question. "
        "Functions are not proven.",
    )
