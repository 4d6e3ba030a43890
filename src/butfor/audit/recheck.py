"""Check answers again, even a year later. It needs nothing but the answers and the model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from butfor.arrays import IntArray
from butfor.audit.again import CheckLimits, bounds_again
from butfor.audit.closest import closest_row
from butfor.audit.doubt import in_doubt
from butfor.audit.drawn import drawn
from butfor.audit.patience import RECHECK_SECONDS
from butfor.audit.result import AllChecked, CheckColumn, Checked, CheckedTogether, Results
from butfor.audit.written import record_checks
from butfor.claim import Claim, Stated, claim_of, stated
from butfor.compiled.saying import silence
from butfor.errors import ButforError, InputError
from butfor.estimator.prediction import Prediction
from butfor.explain.arguments import seconds_of, seed_of, threads_of
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.portfolio.portfolio import Portfolio
from butfor.problem.constraints.constraint import JudgedConstraint
from butfor.problem.pricing import price_beside
from butfor.problem.spec import following_in
from butfor.problem.targets.score import close
from butfor.proof.again import GivenProofs
from butfor.solvers.outcome import statuses_of, tolerated
from butfor.views.progress import bar


@overload
def check(
    answer: Explanation,
    model: Any,
    *,
    models: Iterable[Any] = ...,
    time_limit: float = ...,
    bounds: bool = ...,
    proof: str | os.PathLike[str] | None = ...,
    progress: bool | None = ...,
) -> Checked: ...
@overload
def check(
    answer: Explanations | Portfolio,
    model: Any,
    *,
    models: Iterable[Any] = ...,
    time_limit: float = ...,
    sample: float | None = ...,
    seed: int = ...,
    bounds: bool = ...,
    proof: str | os.PathLike[str] | None = ...,
    n_jobs: int | None = ...,
    progress: bool | None = ...,
) -> Checked | AllChecked: ...
def check(
    answer: Explanation | Explanations | Portfolio,
    model: Any,
    *,
    models: Iterable[Any] = (),
    time_limit: float = RECHECK_SECONDS,
    sample: float | None = None,
    seed: int = 0,
    bounds: bool = True,
    proof: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Checked | AllChecked:
    """Redo the certificate of an answer, or those of several, with the model.

    Choose it for an answer that was stored, or that somebody else hands you. It checks that this is the same model, that
    it predicts the same, that the cost is right, that the constraints hold, and that the words of the certificate follow
    from its facts. A claimed bound (an optimum, an impossibility) is confirmed by solving the question again. Some things
    an answer does not hold as data, such as a price that is a function, or candidate rows. They are listed as not checked.

    - `models`: those that constraints ask, which an answer does not hold: the forests of `bf.plausible` and the models of
      `bf.robust_to`, in the order of the question. With them, these constraints are checked, too;
    - `time_limit`: the seconds for each answer in which its bound may be proven again;
    - `sample`: how many of several answers to check, drawn at random: a share such as 0.1, or a number such as 200.
      The result says how many there are;
    - `seed`: the seed of that draw;
    - `bounds`: whether bounds are derived again. That takes about as long as the answers took. Without it, the result
      says how many were left out;
    - `proof`: the file of a proof, or a folder that `bf.prove` wrote. It is verified in place of solving again;
    - `n_jobs`: how many threads share the answers (None: one; -1: one per processor);
    - `progress`: whether to show a bar (default: on a terminal, when the work takes long).

    >>> from butfor import Explainer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> answers = Explainer(tree, data=X).explain(X, target=2)
    >>> check(answers[60], tree).passed
    True
    >>> check(answers, tree, sample=30)
    30 of 30 answers hold; these are a sample of 150 (seed 0), and the others were not checked
    """
    several = [answer] if isinstance(answer, Explanation) else answer
    if not len(several):
        raise InputError("no answer was given.", "There is nothing to check.")
    every = check_all(
        several,
        model,
        models,
        time_limit,
        sample=sample,
        seed=seed,
        bounds=bounds,
        proof=proof,
        n_jobs=n_jobs,
        progress=progress,
    )
    return every.results[0] if len(several) == 1 else every


def check_all(
    answers: Sequence[Explanation] | Portfolio,
    model: Any,
    models: Iterable[Any] = (),
    time_limit: float = RECHECK_SECONDS,
    *,
    sample: float | None = None,
    seed: int = 0,
    bounds: bool = True,
    proof: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AllChecked:
    """Redo the certificates of answers. Those to one question (`Explanations`) are checked together."""
    chosen, threads = drawn(len(answers), sample, seed_of(seed)), threads_of(n_jobs)
    seconds, objects = seconds_of("time_limit", time_limit), tuple(models)
    proofs = None if proof is None else GivenProofs(proof)
    parts, names = list[CheckedTogether](), list[str]()
    with silence(progress is False), bar(len(chosen), progress, "checking") as advance:
        limits = CheckLimits(seconds, threads, bounds, proofs, advance)
        for group in _groups(answers, chosen):
            own = stated(group)
            parts += _checked(own, model, objects, limits)
            pairs = zip(own.answers.labels, own.answers.ranks.tolist(), strict=True)
            names += [f"Row {label}, answer {rank}" for label, rank in pairs]
    left_out = []
    if not bounds:
        left_out.append("no bound was derived again (bounds=False)")
    if len(chosen) < len(answers):
        left_out.append(f"these are a sample of {len(answers):,} (seed {seed}), and the others were not checked")
    return AllChecked(tuple(names), Results(parts), tuple(left_out))


def _groups(answers: Sequence[Explanation] | Portfolio, chosen: IntArray) -> Iterator[Explanation | Explanations]:
    """The chosen answers, together as far as they belong together. A portfolio is read part by part."""
    if isinstance(answers, Portfolio):
        yield from answers.some(chosen)
    elif isinstance(answers, Explanations):
        yield answers if len(chosen) == len(answers) else answers[chosen]
    else:
        yield from (answers[i] for i in chosen.tolist())


def _checked(answers: Stated, model: Any, objects: Sequence[Any], limits: CheckLimits) -> Iterator[CheckedTogether]:
    """The results for answers to one question. If they cannot be checked together, each half of them is."""
    columns: list[CheckColumn] = []
    try:
        columns.extend(record_checks(answers))
        claim = claim_of(answers, model, objects)
        columns += [_same_model(claim), _question(claim)]
        doubted = in_doubt(claim) if len(claim) > 1 else np.arange(0)
        for step in (_predictions, _constraints_and_cost, closest_row):
            columns += _settled(step, claim, doubted)
        columns.append(_status(claim))
        columns.extend(bounds_again(claim, limits))
    except Exception as error:  # a question of the right words can hold anything, and so can a model
        if len(answers) > 1:
            for half in np.array_split(np.arange(len(answers)), 2):
                yield from _checked(answers.take(half), model, objects, limits)
            return
        columns.append(_refused(error))
    yield CheckedTogether(len(answers), tuple(columns))


def _refused(error: Exception) -> CheckColumn:
    """The check that ends those of a single answer, because of an error."""
    if isinstance(error, ButforError):
        return _column(1, [False], "the question fits the model", str(error))
    return _column(1, [False], "the question can be asked again", f"{type(error).__name__}: {error}")


def _column(count: int, passed: Sequence[bool | None], name: str, words: str = "") -> CheckColumn:
    """A check of all answers with the same words."""
    return CheckColumn(np.arange(count), passed, lambda _: name, dict.fromkeys(range(count), words) if words else {})


Step = Callable[[Claim], Iterator[CheckColumn]]
"""Checks that ask the model about rows."""


def _settled(step: Step, claim: Claim, doubted: IntArray) -> list[CheckColumn]:
    """What a step finds. Answers that are in doubt, or do not pass, are asked about alone: that is how they were handed out."""
    columns = list(step(claim))
    if len(claim) == 1:
        return columns
    failed = [i for column in columns for i in column.failed().tolist()]
    singles = {
        i: [check for column in step(claim.take(np.array([i]))) if (check := column.of(0)) is not None]
        for i in {*failed, *doubted.tolist()}
    }
    return [column.with_singles(singles) for column in columns] if singles else columns


def _question(claim: Claim) -> CheckColumn:
    """Check that the question in words agrees with its data.

    People read the words, but the data is what is checked.
    """
    question = claim.answers.question
    words = (question.target, question.cost, *question.constraints)
    data = (claim.target, claim.cost, *claim.constraints)
    differ = [text for text, meant in zip(words, data, strict=False) if meant is not None and text != repr(meant)]
    if len(words) != len(data):
        differ = [f"{len(question.constraints)} constraints in words, {len(claim.constraints)} as data"]
    name = "the question in words agrees with the question as data"
    return _column(len(claim), [not differ] * len(claim), name, "; ".join(differ))


def _same_model(claim: Claim) -> CheckColumn:
    name, count = "the model is the one that was explained", len(claim)
    kind, told = type(claim.reading.source.estimator).__name__, claim.answers.model
    if told not in ("", kind):
        return _column(count, [False] * count, name, f"it is a {kind}, and the answer says {told}")
    now, then = claim.asking.fingerprint, [one.fingerprint for one in claim.stated.certificates]
    words = {
        i: f"its fingerprint is {now or 'none'}, and the answer says {one}"
        if now or one
        else "a black box has no fingerprint: it may be another one"
        for i, one in enumerate(then)
        if one != now or not one
    }
    passed = [one == now if now or one else None for one in then]
    return CheckColumn(np.arange(count), passed, lambda _: name, words)


def _predictions(claim: Claim) -> Iterator[CheckColumn]:
    """Check what the model predicts before and after, the scores, and that the target is met."""
    answers, at = claim.answers, claim.stated.found
    then = answers.outputs_before
    now = _outputs(claim, claim.before)
    every = np.arange(len(claim))
    yield _alike(every, then, now, lambda i: f"the model predicts {then[i]} before the change")
    if len(at):
        later = answers.outputs_after
        again = _outputs(claim, claim.after)
        yield _alike(at, [later[i] for i in at], again, lambda i: f"the model predicts {later[i]} after the change")
    yield from _scores(claim)
    if not len(at):
        return
    name = f"that meets the target: {answers.question.target}"
    if claim.target is None:
        words = dict.fromkeys(at.tolist(), "the answer does not hold the target as data")
        yield CheckColumn(at, [None] * len(at), lambda _: name, words)
    else:
        met = claim.target.met(claim.before.take(at), claim.after)
        yield CheckColumn(at, met.tolist(), lambda _: name)


def _scores(claim: Claim) -> Iterator[CheckColumn]:
    """Check the scores of answers that hold one: records of earlier versions do not."""
    then = claim.answers.scores
    at = np.flatnonzero([one is not None for one in then])
    if not len(at):
        return

    def name(i: int) -> str:
        return f"its score: {then[i]}"

    if claim.target is None:
        words = dict.fromkeys(at.tolist(), "the answer does not hold the target as data")
        yield CheckColumn(at, [None] * len(at), name, words)
        return
    now = dict[int, Any]()
    found = claim.stated.found
    others = np.setdiff1d(np.arange(len(claim)), found)
    for some, after in ((found, claim.after if len(found) else None), (others, None)):
        if len(some):
            scores = claim.target.scores(claim.before.take(some), after)
            now |= zip(some.tolist(), scores, strict=True)
    passed = [one is not None and one.same_as(now[i]) for i in at.tolist() for one in [then[i]]]
    words = {
        i: f"computed again: {now[i] if now[i] else 'the model gives none'}"
        for i, fine in zip(at.tolist(), passed, strict=True)
        if not fine
    }
    yield CheckColumn(at, passed, name, words)


def _outputs(claim: Claim, prediction: Prediction) -> list[Any]:
    """What the estimator predicts for rows about the target's quantity."""
    return prediction.outputs() if claim.target is None else claim.target.outputs(prediction)


def _alike(at: IntArray, then: Sequence[Any], now: Sequence[Any], name: Callable[[int], str]) -> CheckColumn:
    """Check that predictions are the same as before. Numbers may differ in the last digits."""
    passed = [_same(a, b) for a, b in zip(then, now, strict=True)]
    words = {i: f"it predicts {one}" for i, one, fine in zip(at.tolist(), now, passed, strict=True) if not fine}
    return CheckColumn(at, passed, name, words)


def _same(then: Any, now: Any) -> bool:
    if isinstance(then, float) and isinstance(now, float):
        return close(then, now)
    return bool(then == now)


def _constraints_and_cost(claim: Claim) -> Iterator[CheckColumn]:
    """Check that the points keep the constraints and cost what is said."""
    at, listed = claim.stated.found, claim.answers.question.constraints
    if not len(at):
        return
    changes = claim.changes(at, claim.after)
    broken, inside = claim.broken(changes), claim.inside(changes)
    unknown = [text for text, one in zip(listed, claim.constraints, strict=False) if one is None]
    judged = [repr(one) for one in claim.known if isinstance(one, JudgedConstraint) and one.of_point]
    told = f"not held as data: {', '.join(unknown)}" if unknown else ""
    told = told or (f"{', '.join(judged)} judged by the forest that was given" if judged else "")
    passed, words = list[bool | None](), dict[int, str]()
    for k, i in enumerate(at.tolist()):
        wrong = (
            f"broken: {', '.join(broken[k])}" if broken[k] else "" if inside[k] else "a value lies outside its range"
        )
        passed.append(False if wrong else None if unknown else True)
        words |= {i: wrong or told} if wrong or told else {}
    name = "all constraints hold" if listed else "the values lie within their ranges"
    yield CheckColumn(at, passed, lambda _: name, words)
    yield _cost(claim)


def _cost(claim: Claim) -> CheckColumn:
    at, costs = claim.stated.found, claim.answers.costs

    def name(i: int) -> str:
        return f"the cost is {costs[i]:.6g}"

    if claim.cost is None or claim.target is None:
        words = f"the answer does not hold its cost as data: {claim.answers.question.cost}"
        return CheckColumn(at, [None] * len(at), name, dict.fromkeys(at.tolist(), words))
    following = following_in(claim.answers.question.spec)
    prices = price_beside(claim.cost, claim.answers.space, following)
    start, extra = claim.stated.starts[at], claim.target.offsets(claim.after, len(at))
    again = prices.total(start, claim.consequences.actions(start, claim.answers.point_codes[at])) + extra
    passed = np.abs(again - costs[at]) <= tolerated(again, prices.coin)
    words_of = {
        i: f"computed again, it is {one:.6g}"
        for i, one, fine in zip(at.tolist(), again.tolist(), passed.tolist(), strict=True)
        if not fine
    }
    return CheckColumn(at, passed.tolist(), name, words_of)


def _status(claim: Claim) -> CheckColumn:
    """Check that each claimed status follows from cost and bound."""
    certificates, costs = claim.stated.certificates, claim.answers.costs
    bounds = np.array([one.bound for one in certificates], dtype=np.float64)
    left_open = np.array([one.evidence.left_open for one in certificates], dtype=np.float64)
    due = statuses_of(costs, bounds, claim.coin, left_open)
    passed = [
        status is one.status and one.cost == cost and one.coin in (claim.coin, 1.0)  # files of before have none
        for status, one, cost in zip(due, certificates, costs.tolist(), strict=True)
    ]
    words = {
        i: f"cost and bound amount to {due[i].name}"
        + ("" if certificates[i].coin == claim.coin else f"; the smallest price that matters is {claim.coin:.6g}")
        for i, fine in enumerate(passed)
        if not fine
    }
    return CheckColumn(
        np.arange(len(claim)),
        passed,
        lambda i: f"the status {certificates[i].status.name} follows from cost and bound",
        words,
    )
