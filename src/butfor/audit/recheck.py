"""Check an answer again, even a year later. It needs nothing but the answer and the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import ButforError, InputError
from butfor.estimator.prediction import Prediction
from butfor.explain.explainer import Explainer
from butfor.explanation.explanation import Explanation, Explanations
from butfor.importers.read import Reading, read_onto
from butfor.problem.constraints.constraint import AbstractConstraint, Changes, JudgedConstraint
from butfor.problem.constraints.restrictions import admissible
from butfor.problem.costs import price
from butfor.problem.referee import Referee
from butfor.problem.spec import from_spec
from butfor.problem.targets.names import as_target
from butfor.problem.targets.target import AbstractTarget
from butfor.solvers.outcome import TOLERANCE, Status, statuses_of
from butfor.space import frames

RECHECK_SECONDS = 60.0
"""How long a claimed bound may take to be proven again, by default."""

PASSED_IN_WORDS = {True: "passed", False: "FAILED", None: "not checked"}


@dataclass(frozen=True)
class Check:
    """One check and its result.

    - `passed`: whether it passed; None if it could not be checked;
    - `words`: what was found.
    """

    name: str
    passed: bool | None
    words: str = ""

    def __str__(self) -> str:
        return f"{PASSED_IN_WORDS[self.passed]} - {self.name}" + (f": {self.words}" if self.words else "")


@dataclass(frozen=True)
class Checked:
    """All checks of one answer. Print it to see them."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(check.passed is not False for check in self.checks)

    def __repr__(self) -> str:
        failed = sum(check.passed is False for check in self.checks)
        open_ = sum(check.passed is None for check in self.checks)
        rest = f"; {open_} could not be checked" if open_ else ""
        verdict = (
            f"the answer does not hold: {failed} of {len(self.checks)} checks failed" if failed else "the answer holds"
        )
        return "\n".join([*map(str, self.checks), verdict + rest])


@dataclass(frozen=True, eq=False)
class Claim:
    """An answer together with the model that is to confirm it.

    Parts of the question that the answer does not hold as data are None.
    """

    answer: Explanation
    reading: Reading
    explainer: Explainer
    target: AbstractTarget | None
    cost: Any
    constraints: tuple[AbstractConstraint | None, ...]

    @property
    def whole(self) -> bool:
        """Whether the answer holds the whole question as data. Then it can be solved again."""
        return self.target is not None and self.cost is not None and None not in self.constraints

    def known(self) -> tuple[AbstractConstraint, ...]:
        """The constraints that the answer holds as data."""
        return tuple(found for found in self.constraints if found is not None)

    def predicted(self, row: Any) -> Prediction:
        """What the model predicts for a row of the answer."""
        return Prediction(self.reading.source, frames.select(row, self.answer.space.names))


def check(
    answer: Explanation | Explanations, model: Any, *, forests: Iterable[Any] = (), time_limit: float = RECHECK_SECONDS
) -> Checked:
    """Redo the certificate of an answer with the model.

    It checks that this is the same model, that it predicts the same, that the cost is right and that the constraints
    hold. A claimed bound (an optimum, an impossibility) is confirmed by solving the question again, for at most
    `time_limit` seconds. Some things an answer does not hold as data, such as a price that is a function, or
    candidate rows. They are listed as not checked. The answer does not hold the forests of `bf.plausible` either:
    give them as `forests`, and they are checked, too.

    >>> from butfor import Explainer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> check(Explainer(tree, data=X).explain(X.iloc[[60]], target=2), tree).passed
    True
    """
    try:
        claim = _claim(answer.only, model, {repr(forest): forest for forest in forests})
    except ButforError as refusal:
        return Checked((Check("the question fits the model", False, str(refusal)),))
    found = [_fingerprint(claim), _question(claim), *_predictions(claim)]
    if answer.only.found:
        found += [_constraints(claim), _cost(claim)]
    return Checked((*found, _status(claim), *_bound(claim, time_limit)))


def _claim(answer: Explanation, model: Any, objects: Mapping[str, Any]) -> Claim:
    """The answer together with the model. Raises an error if they do not fit together."""
    reading = read_onto(model, answer.space, frames.select(answer.factual, answer.space.names))
    spec = answer.question.spec
    target = _meant(spec.get("target"))
    constraints = tuple(
        _meant(one, objects) for one in spec.get("constraints", [None] * len(answer.question.constraints))
    )
    if target is not None:
        as_target(target, reading.source)
    for constraint in constraints:
        if constraint is not None:
            constraint.validate(answer.space)
    return Claim(answer, reading, Explainer.from_reading(reading), target, _meant(spec.get("cost")), constraints)


def _meant(spec: Any, objects: Mapping[str, Any] | None = None) -> Any:
    """A part of the question.

    It is None if the answer only describes it and it is not one of the `objects` that were given.
    """
    try:
        return None if spec is None else from_spec(spec, objects or {})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the question cannot be read: {error!r} in {spec!r}.") from None
    except LookupError:
        return None


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


def _fingerprint(claim: Claim) -> Check:
    name = "the model is the one that was explained"
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
        return
    after = claim.predicted(answer.point)
    yield _same(f"the model predicts {answer.after} after the change", answer.after, _output(claim, after))
    name = f"that meets the target: {answer.question.target}"
    if claim.target is None:
        yield Check(name, None, "the answer does not hold the target as data")
    else:
        yield Check(name, bool(claim.target.met(before, after)[0]))


def _output(claim: Claim, prediction: Prediction) -> Any:
    """What the estimator predicts for a row about the target's quantity."""
    return (prediction.outputs() if claim.target is None else claim.target.outputs(prediction))[0]


def _same(name: str, then: Any, now: Any) -> Check:
    """Check that a prediction is the same as before.

    Numbers may differ in the last digits, because another processor may round differently.
    """
    numbers = isinstance(then, float) and isinstance(now, float)
    same = bool(np.isclose(then, now, rtol=1e-9, atol=0.0)) if numbers else then == now
    return Check(name, same, "" if same else f"it predicts {now}")


def _constraints(claim: Claim) -> Check:
    listed = claim.answer.question.constraints
    name = "all constraints hold" if listed else "the values lie within their ranges"
    broken = [repr(one) for one in claim.known() if not _holds(claim, one)]
    start, point = _codes(claim)
    inside = bool(admissible(claim.answer.space, start, claim.known()).admits(point)[0])
    if broken or not inside:
        return Check(name, False, f"broken: {', '.join(broken)}" if broken else "a value lies outside its range")
    unknown = [text for text, one in zip(listed, claim.constraints, strict=False) if one is None]
    if unknown:
        return Check(name, None, f"not held as data: {', '.join(unknown)}")
    judged = [repr(one) for one in claim.known() if isinstance(one, JudgedConstraint) and one.of_point]
    return Check(name, True, f"{', '.join(judged)} judged by the forest that was given" if judged else "")


def _holds(claim: Claim, constraint: AbstractConstraint) -> bool:
    answer = claim.answer
    changes = Changes(*_codes(claim), claim.predicted(answer.factual), claim.predicted(answer.point))
    return bool(constraint.holds(changes, Referee(claim.reading, claim.target))[0])


def _cost(claim: Claim) -> Check:
    answer = claim.answer
    name = f"the cost is {answer.cost:.6g}"
    if claim.cost is None or claim.target is None:
        return Check(name, None, f"the answer does not hold its cost as data: {answer.question.cost}")
    start, point = _codes(claim)
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
    yield _solved(claim, name, claim.known(), seconds)
    named = tuple(atom for one in claim.known() for atom in one.atoms() if repr(atom) in certificate.conflict)
    if impossible and named:
        words = " and ".join(map(repr, named))
        yield _solved(claim, f"{words} alone make{'s' if len(named) == 1 else ''} it impossible", named, seconds)


def _solved(claim: Claim, name: str, constraints: tuple[AbstractConstraint, ...], seconds: float) -> Check:
    """Solve the question again. A later one of several answers to a row is left to the same solver."""
    answer = claim.answer
    rank, bound = answer.rank, answer.certificate.bound
    try:
        found = claim.explainer.explain(
            frames.select(answer.factual, answer.space.names),
            target=claim.target,
            cost=claim.cost,
            constraints=constraints,
            k=rank,
            solver=answer.certificate.solver.partition(":")[0] if rank > 1 else "auto",
            time_limit=seconds,
            progress=False,
        )
    except ButforError as refusal:
        return Check(name, None, str(refusal))
    again = found[min(rank, len(found)) - 1]
    slack = TOLERANCE * (1 + abs(bound)) if np.isfinite(bound) else 0.0
    if again.cost < bound - slack:
        return Check(name, False, f"there is one at a cost of {again.cost:.6g}")
    if again.certificate.bound >= bound - slack:
        return Check(name, True, f"confirmed by {again.certificate.solver.partition(':')[0]}")
    return Check(name, None, f"not proven again in {seconds:g} seconds")


def _codes(claim: Claim) -> tuple[Any, Any]:
    """The factual and the point, encoded."""
    point = claim.answer.point_codes
    assert point is not None
    return claim.answer.factual_codes[None], point[None]
