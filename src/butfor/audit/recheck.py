"""Check an answer again, even a year later. It needs nothing but the answer and the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from butfor.audit.claim import Claim, claim_of
from butfor.audit.closest import closest_row, how_far
from butfor.audit.result import AllChecked, Check, Checked
from butfor.audit.written import record_checks, solver_of
from butfor.errors import ButforError, InputError
from butfor.estimator.prediction import Prediction
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.problem.constraints.constraint import AbstractConstraint, JudgedConstraint
from butfor.problem.costs import price
from butfor.problem.targets.score import close
from butfor.solvers.conflict import MODEL, RANGES
from butfor.solvers.outcome import TOLERANCE, Status, statuses_of
from butfor.space import frames

RECHECK_SECONDS = 60.0
"""How long a claimed bound may take to be proven again, by default."""

LAST_RANK = 100
"""Answers beyond this place among those to their row are not solved again."""


@overload
def check(answer: Explanation, model: Any, *, forests: Iterable[Any] = ..., time_limit: float = ...) -> Checked: ...
@overload
def check(
    answer: Explanations, model: Any, *, forests: Iterable[Any] = ..., time_limit: float = ...
) -> Checked | AllChecked: ...
def check(
    answer: Explanation | Explanations, model: Any, *, forests: Iterable[Any] = (), time_limit: float = RECHECK_SECONDS
) -> Checked | AllChecked:
    """Redo the certificate of an answer, or those of several, with the model.

    It checks that this is the same model, that it predicts the same, that the cost is right, that the constraints
    hold, and that the words of the certificate follow from its facts. A claimed bound (an optimum, an impossibility)
    is confirmed by solving the question again, for at most `time_limit` seconds. Some things an answer does not hold
    as data, such as a price that is a function, or candidate rows. They are listed as not checked. The answer does not
    hold the forests of `bf.plausible` either: give them as `forests`, and they are checked, too.

    >>> from butfor import Explainer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> check(Explainer(tree, data=X).explain(X.iloc[[60]], target=2), tree).passed
    True
    """
    several = [answer] if isinstance(answer, Explanation) else answer
    if not len(several):
        raise InputError("no answer was given.", "There is nothing to check.")
    every = check_all(several, model, forests, time_limit)
    return every.results[0] if len(several) == 1 else every


def check_all(
    answers: Sequence[Explanation], model: Any, forests: Iterable[Any] = (), time_limit: float = RECHECK_SECONDS
) -> AllChecked:
    """Redo the certificates of answers, which may be to different questions."""
    results = tuple(_check_each(answers, model, {repr(forest): forest for forest in forests}, time_limit))
    return AllChecked(tuple(f"Row {one.label}, answer {one.rank}" for one in answers), results)


def _check_each(
    answers: Sequence[Explanation], model: Any, objects: Mapping[str, Any], time_limit: float
) -> Iterator[Checked]:
    """The result for each answer."""
    read = _read_once(answers, model, objects)
    for one in answers:
        made: list[Check] = []
        try:
            made.extend(record_checks(one))
            claim = replace(read, answer=one) if read else claim_of(one, model, objects)
            made.extend(_checks(claim, time_limit))
        except ButforError as refusal:
            made.append(Check("the question fits the model", False, str(refusal)))
        except Exception as error:  # a question of the right words can hold anything, and so can a model
            made.append(Check("the question can be asked again", False, f"{type(error).__name__}: {error}"))
        yield Checked(tuple(made))


def _read_once(answers: Sequence[Explanation], model: Any, objects: Mapping[str, Any]) -> Claim | None:
    """The claim of the first of several answers to one question, with the model read for the rows of all.

    None if that is not possible. Then each answer is read by itself, so that it is refused in its own words.
    """
    if not isinstance(answers, Explanations):
        return None
    try:
        return claim_of(answers[0], model, objects, frames.take(answers.table, answers.table_rows))
    except Exception:  # whatever is wrong with one row, or with the question
        return None


def _checks(claim: Claim, time_limit: float) -> Iterator[Check]:
    """The checks that ask the model."""
    yield _same_model(claim)
    yield _question(claim)
    yield from _predictions(claim)
    if claim.answer.found:
        yield _constraints(claim)
        yield _cost(claim)
    yield _status(claim)
    yield from closest_row(claim)
    yield from _bound(claim, time_limit)


def _question(claim: Claim) -> Check:
    """Check that the question in words agrees with its data.

    People read the words, but the data is what is checked.
    """
    question = claim.answer.question
    words = (question.target, question.cost, *question.constraints)
    data = (claim.target, claim.cost, *claim.constraints)
    differ = [text for text, meant in zip(words, data, strict=False) if meant is not None and text != repr(meant)]
    if len(words) != len(data):
        differ = [f"{len(question.constraints)} constraints in words, {len(claim.constraints)} as data"]
    return Check("the question in words agrees with the question as data", not differ, "; ".join(differ))


def _same_model(claim: Claim) -> Check:
    name = "the model is the one that was explained"
    kind, said = type(claim.explainer.model).__name__, claim.answer.model
    if said not in ("", kind):
        return Check(name, False, f"it is a {kind}, and the answer says {said}")
    then, now = claim.answer.certificate.fingerprint, claim.explainer.fingerprint
    if not then and not now:
        return Check(name, None, "a black box has no fingerprint")
    return Check(
        name, then == now, "" if then == now else f"its fingerprint is {now or 'none'}, and the answer says {then}"
    )


def _predictions(claim: Claim) -> Iterator[Check]:
    answer = claim.answer
    before = claim.predicted(answer.factual)
    yield _same(f"the model predicts {answer.before} before the change", answer.before, _output(claim, before))
    if not answer.found:
        yield from _score(claim, before, None)
        return
    after = claim.predicted(answer.point)
    yield _same(f"the model predicts {answer.after} after the change", answer.after, _output(claim, after))
    yield from _score(claim, before, after)
    name = f"that meets the target: {answer.question.target}"
    if claim.target is None:
        yield Check(name, None, "the answer does not hold the target as data")
    else:
        yield Check(name, bool(claim.target.met(before, after)[0]))


def _score(claim: Claim, before: Prediction, after: Prediction | None) -> Iterator[Check]:
    """Check the score, if the answer holds one: records of earlier versions do not."""
    then = claim.answer.score
    if then is None:
        return
    name = f"its score: {then}"
    if claim.target is None:
        yield Check(name, None, "the answer does not hold the target as data")
        return
    (now,) = claim.target.scores(before, after)
    same = then.same_as(now)
    yield Check(name, same, "" if same else f"computed again: {now if now else 'the model gives none'}")


def _output(claim: Claim, prediction: Prediction) -> Any:
    """What the estimator predicts for a row about the target's quantity."""
    return (prediction.outputs() if claim.target is None else claim.target.outputs(prediction))[0]


def _same(name: str, then: Any, now: Any) -> Check:
    """Check that a prediction is the same as before.

    Numbers may differ in the last digits, because another processor may round differently.
    """
    numbers = isinstance(then, float) and isinstance(now, float)
    same = close(then, now) if numbers else then == now
    return Check(name, same, "" if same else f"it predicts {now}")


def _constraints(claim: Claim) -> Check:
    listed = claim.answer.question.constraints
    name = "all constraints hold" if listed else "the values lie within their ranges"
    broken, inside = claim.broken(), claim.inside()
    if broken or not inside:
        return Check(name, False, f"broken: {', '.join(broken)}" if broken else "a value lies outside its range")
    unknown = [text for text, one in zip(listed, claim.constraints, strict=False) if one is None]
    if unknown:
        return Check(name, None, f"not held as data: {', '.join(unknown)}")
    judged = [repr(one) for one in claim.known() if isinstance(one, JudgedConstraint) and one.of_point]
    return Check(name, True, f"{', '.join(judged)} judged by the forest that was given" if judged else "")


def _cost(claim: Claim) -> Check:
    answer = claim.answer
    name = f"the cost is {answer.cost:.6g}"
    if claim.cost is None or claim.target is None:
        return Check(name, None, f"the answer does not hold its cost as data: {answer.question.cost}")
    start, point = claim.codes()
    extra = claim.target.offsets(claim.predicted(answer.point), 1)
    again = float((price(claim.cost, answer.space).total(start, point) + extra)[0])
    same = abs(again - answer.cost) <= TOLERANCE * (1 + abs(again))
    return Check(name, same, "" if same else f"computed again, it is {again:.6g}")


def _status(claim: Claim) -> Check:
    """Check that the claimed status follows from cost and bound."""
    certificate = claim.answer.certificate
    due = statuses_of(np.array([claim.answer.cost]), np.array([certificate.bound]))[0]
    fine = due is certificate.status and certificate.cost == claim.answer.cost
    words = "" if fine else f"cost and bound amount to {due.name}"
    return Check(f"the status {certificate.status.name} follows from cost and bound", fine, words)


def _bound(claim: Claim, seconds: float) -> Iterator[Check]:
    """Check by solving again that nothing is cheaper, or that nothing is possible."""
    certificate = claim.answer.certificate
    impossible = certificate.status is Status.PROVEN_INFEASIBLE
    if certificate.bound <= 0:
        return
    name = "there is no answer" if impossible else f"no answer costs less than {certificate.bound:.6g}"
    if not claim.whole:
        yield Check(name, None, "the answer does not hold the whole question as data")
        return
    if claim.answer.rank > LAST_RANK:
        yield Check(name, None, f"answers beyond the {LAST_RANK}th to a row are not solved again")
        return
    made, again = _solved(claim, name, claim.known(), seconds)
    yield made
    if impossible:
        yield from how_far(claim, again)
    if impossible and certificate.conflict:
        yield _blame(claim, () if again is None else again.certificate.conflict, seconds)


def _blame(claim: Claim, again: tuple[str, ...], seconds: float) -> Check:
    """Check that the conflict makes the question impossible, and that no part of it does so by itself.

    `again` is the conflict that was found when the question was solved again.
    """
    conflict = claim.answer.certificate.conflict
    name = f"{' and '.join(conflict)} alone make{'s' if len(conflict) == 1 else ''} it impossible"
    if again == conflict:
        return Check(name, True)
    atoms = [atom for one in claim.known() for atom in one.atoms()]
    unknown = [text for text in conflict if text not in (*map(repr, atoms), RANGES, MODEL)]
    if unknown:
        return Check(name, False, f"{unknown[0]} is not part of the question")
    if again and set(again) < set(conflict):
        return Check(name, False, f"{' and '.join(again)} alone makes it impossible")
    if not set(conflict).intersection(map(repr, atoms)) and again:
        return Check(name, False, f"it is {' and '.join(again)}")
    named = tuple(atom for atom in atoms if repr(atom) in conflict)
    return _solved(claim, name, named, seconds)[0]


def _solved(
    claim: Claim, name: str, constraints: tuple[AbstractConstraint, ...], seconds: float
) -> tuple[Check, Explanation | None]:
    """Solve the question again, and compare. Also returns the new answer, if there is one.

    The later ones of several answers depend on the solver of the earlier ones. So a solver that was named is tried, too.
    """
    answer = claim.answer
    ways = ["auto"] if answer.rank == 1 else ["auto", solver_of(answer.certificate)]
    made, again = Check(name, None), None
    for way in ways:
        try:
            found = _asked(claim, constraints, way, seconds)
        except ButforError as refusal:
            made = made if again else Check(name, None, str(refusal))
            continue
        again = found[min(answer.rank, len(found)) - 1]
        made = _compared(answer, name, found, seconds)
        if made.passed:
            break
    return made, again


def _asked(claim: Claim, constraints: tuple[AbstractConstraint, ...], solver: str, seconds: float) -> Explanations:
    """The answers to the question when it is asked again."""
    return claim.explainer.explain(
        frames.select(claim.answer.factual, claim.answer.space.names),
        target=claim.target,
        cost=claim.cost,
        constraints=constraints,
        k=claim.answer.rank,
        different=claim.answer.question.spec.get("different"),
        solver=solver,
        time_limit=seconds,
        progress=False,
    )


def _compared(answer: Explanation, name: str, found: Sequence[Explanation], seconds: float) -> Check:
    """Compare the claimed bound with the answer that was found again."""
    rank, bound = answer.rank, answer.certificate.bound
    again = found[min(rank, len(found)) - 1]
    slack = TOLERANCE * (1 + abs(bound)) if np.isfinite(bound) else 0.0
    proven = again.certificate.status is Status.PROVEN_OPTIMAL
    if len(found) < rank and proven:
        return Check(name, False, f"there is no answer {rank}, only {len(found)}")
    if again.cost < bound - slack:
        return Check(name, False, f"there is one at a cost of {again.cost:.6g}")
    if rank > 1 and proven and again.cost > answer.cost + TOLERANCE * (1 + answer.cost):
        return Check(name, False, f"answer {rank} to the row costs {again.cost:.6g}")
    if again.certificate.bound >= bound - slack:
        return Check(name, True, f"confirmed by {solver_of(again.certificate)}")
    return Check(name, None, f"not proven again in {seconds:g} seconds")
