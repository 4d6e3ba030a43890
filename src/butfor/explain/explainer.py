"""The whole path from a row to a certified answer, and the Explainer that offers it."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError, number
from butfor.explanation.explanation import Explanation, Explanations, Question
from butfor.formulation.evaluated import evaluated
from butfor.formulation.oracles import Examples, Inquiry
from butfor.formulation.plausibility import Likenesses
from butfor.formulation.side_by_side import with_least
from butfor.importers.read import Reading, read
from butfor.model.questions import parts as model_parts
from butfor.model.questions import score_count
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.relations import Candidates
from butfor.problem.constraints.restrictions import Restriction, admissible
from butfor.problem.costs import AbstractCost
from butfor.problem.oracle import AbstractOracle
from butfor.problem.problem import Pool, Problem
from butfor.problem.question import Asked
from butfor.problem.question import asked as ask
from butfor.problem.spec import to_spec
from butfor.problem.targets.target import Group, Prediction
from butfor.solvers.choose import choose, exact, supports
from butfor.solvers.conflict import smallest_conflict, widened
from butfor.solvers.several import several
from butfor.solvers.solver import (
    AbstractSolver,
    Budget,
    Outcome,
    Status,
    Support,
    joined,
    merged,
    nothing_found,
    renumbered,
)
from butfor.space import frames
from butfor.space.feature import Override
from butfor.space.space import Space
from butfor.verdict.certificate import STAYED, Certificates
from butfor.verdict.verify import CHECKS, Bench, Verdict

GUARDS = (1e-13, 1e-11, 1e-9, 1e-7)
"""Where rounding in the estimator undoes an answer on the boundary, it is solved again this share of a score inside."""

BLAMED, BLAMING = 10, 1.0
"""For how many impossible rows of one call a smallest conflict is looked for, and for how many seconds."""


class Explainer:
    """Finds the cheapest change to a row that makes a fitted model answer differently, with a certificate.

    `model` is a fitted scikit-learn estimator or pipeline (or any class taught with `register_importer`), `data` the rows
    it was trained on: they say what values each column takes. `space` overrides what is inferred, per column.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
    >>> answer = explainer.explain(X.iloc[[60]], target=2)
    >>> answer.certificate.status.name
    'PROVEN_OPTIMAL'
    """

    def __init__(self, model: Any, data: Any, *, space: Mapping[str, Override] | None = None) -> None:
        self._reading = read(model, data, space)

    @classmethod
    def from_reading(cls, reading: Reading) -> Explainer:
        """An explainer over a model that was read before."""
        made = cls.__new__(cls)
        made._reading = reading
        return made

    @property
    def space(self) -> Space:
        """What was inferred of each column; print it."""
        return self._reading.space

    @property
    def model(self) -> Any:
        """The estimator as it was given."""
        return self._reading.source.estimator

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what the model computes, the same for equal models in any process."""
        arrays = model_parts(self._reading.model)
        if not arrays:
            return ""
        digest = hashlib.sha256(repr(self._reading.readout.classes).encode())
        for array in arrays:
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
        return digest.hexdigest()[:16]

    def explain(
        self,
        X: Any,
        *,
        target: Any = "other",
        cost: AbstractCost | None = None,
        constraints: Iterable[AbstractConstraint] = (),
        k: int = 1,
        solver: str | AbstractSolver = "auto",
        time_limit: float | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: bool | None = None,
        compare: Literal["exact"] | None = None,
    ) -> Any:
        """The cheapest admissible change of each row of `X` that meets the target.

        One row and `k=1` give an `Explanation`, otherwise `Explanations`. `target` is a class, a collection of classes, a
        dict of class costs, "other", or one of `bf.probability`, `bf.value`, `bf.relative_change`. `time_limit` is in
        seconds for the whole call: what is found by then is returned with its bound. Ctrl-C does the same.
        `n_jobs` threads (None: one, -1: one a processor) share the rows where the solver can; the answers are the same.
        `progress` shows a bar (default: on a terminal, when it takes long). `solver` is a name or a solver with settings of its
        own, such as `bf.Swarm(particles=200)`; `compare="exact"` adds the bound of an exact solver to what one that proves
        nothing found, where an exact one takes the question.
        """
        table = frames.as_table(X)
        if frames.height(table) == 0:
            raise InputError("no row was given to explain.", "At least one is needed.")
        asked = ask(self.space, self._reading.source, target, cost, constraints, k, solver, seed)
        if compare not in (None, "exact"):
            raise InputError(f"compare={compare!r} was given.", "It is 'exact', or left out.")
        budget = Budget(np.inf if time_limit is None else _positive(time_limit), threads=_threads(n_jobs))
        factuals = self.space.encode(table)
        before = Prediction(self._reading.source, table)
        asked = replace(asked, target=asked.target.settled(self._reading.readout, before))
        bench = Bench(self._reading, self._likenesses, asked, factuals, before)
        outcome, solved_by = self._solve(bench, budget, progress)
        verdict = bench.judge(outcome)
        for guard in GUARDS:
            wrong = np.unique(outcome.row[outcome.found() & ~verdict.passed[:, 0]])
            if not len(wrong) or budget.spent():
                break
            again, _ = self._solve(bench.rows(wrong), budget, progress, guard)
            outcome = merged(outcome, renumbered(again, wrong))
            verdict = bench.judge(outcome)
        if compare:
            outcome, solved_by = self._compared(bench, outcome, solved_by, budget)
        found = self._certified(asked, factuals, before, outcome, verdict, solved_by, budget)
        return found[0] if len(found) == 1 and k == 1 else found

    def solvers(
        self,
        target: Any = "other",
        cost: AbstractCost | None = None,
        constraints: Iterable[AbstractConstraint] = (),
        X: Any = None,
    ) -> list[tuple[AbstractSolver, Support]]:
        """Every solver, whether it takes such a problem (for the rows `X`, default a typical one) and why."""
        source = self._reading.source
        asked = ask(self.space, source, target, cost, constraints)
        table = self._typical() if X is None else frames.as_table(X)
        factuals = self.space.encode(table)
        before = Prediction(source, table)
        _, problem = next(self._problems(asked, factuals, before))
        return supports(problem.form())

    def _typical(self) -> Any:
        typical = np.array([[feature.typical for feature in self.space.features]])
        return self.space.decode(typical, self._reading.sample)

    def _problems(
        self,
        asked: Asked,
        factuals: FloatArray,
        before: Prediction,
        constraints: Sequence[AbstractConstraint] | None = None,
        space: Space | None = None,
    ) -> Iterator[tuple[IntArray, Problem]]:
        """The rows in groups that share a union of score sets, each as a problem."""
        reading = asked.target.focus(self._reading, before)
        listed = asked.constraints if constraints is None else constraints
        space = space or self.space
        domain = admissible(space, factuals, listed)
        relations = tuple(c for c in listed if not isinstance(c, Restriction))
        pools = [c for c in relations if isinstance(c, Candidates)]
        likeness = self._likenesses.of(relations)
        whole = Problem(
            space, self._likenesses.model(likeness, reading.model), factuals, (), asked.prices, domain, relations
        )
        if not model_parts(reading.model):
            groups: list[Group] = [(np.arange(len(factuals)), ())]
        else:
            groups = asked.target.groups(reading.readout, before)
        for rows, sets in groups:
            if likeness:
                least = [one.least for one in likeness]
                sets = tuple(with_least(part, score_count(reading.model), least) for part in sets)
            problem = replace(whole.rows(rows), sets=sets)
            if not pools:
                yield rows, problem
                continue
            for at, row in enumerate(rows.tolist()):
                pool = self._pool(asked, before, pools, row)
                yield rows[[at]], replace(problem.rows(np.array([at])), pool=pool)

    @cached_property
    def _likenesses(self) -> Likenesses:
        return Likenesses(self._reading)

    def _pool(self, asked: Asked, before: Prediction, pools: list[Candidates], row: int) -> Pool:
        """The rows that every `candidates` constraint lists, with what the estimator says of them."""
        table = pools[0].table
        points = pools[0].rows(self.space)
        said = _prediction(self._pools, id(table), self._reading.source, table)
        start = before.take(np.full(len(points), row))
        met = asked.target.met(start, said)
        for other in pools[1:]:
            met &= other.met(self.space, points, points)
        for likeness in self._likenesses.of(asked.constraints):
            met &= likeness.met(table)
        return Pool(points, met, asked.target.offsets(said, len(points)))

    @cached_property
    def _pools(self) -> dict[int, Prediction]:
        return {}

    def _solve(
        self, bench: Bench, budget: Budget, progress: bool | None, guard: float = 0.0
    ) -> tuple[Outcome, dict[int, tuple[str, str]]]:
        """All rows: those that already meet the target stay, the others go to the solver of their group."""
        from butfor.views.progress import bar

        asked = bench.asked
        done: list[Outcome] = []
        solved_by: dict[int, tuple[str, str]] = {}
        interrupted = False
        with bar(len(bench.factuals), progress) as advance:
            for rows, problem in self._problems(asked, bench.factuals, bench.before):
                already = bench.already(rows, problem)
                if already.any():
                    done.append(renumbered(_stay(problem.rows(np.flatnonzero(already))), rows[already]))
                rest, problem = rows[~already], replace(problem.rows(np.flatnonzero(~already)), guard=guard)
                if not len(rest):
                    continue
                solver, why = choose(problem.form(), asked.solver)
                if not solver.exact:
                    problem = replace(problem, oracle=self._oracle(bench, rest, problem))
                solved_by.update(dict.fromkeys(rest.tolist(), (solver.name, why)))
                size = solver.block if solver.apart or not problem.apart else 1
                for start in range(0, len(rest), size):
                    block = np.arange(start, min(start + size, len(rest)))
                    part = problem.rows(block)
                    try:
                        if interrupted or (budget.spent() and done):
                            raise KeyboardInterrupt
                        found = several(solver, part, budget, asked.k, asked.seed)
                    except KeyboardInterrupt:
                        interrupted = interrupted or not budget.spent()
                        found = nothing_found(part, exhausted=True)
                    done.append(renumbered(found, rest[block]))
                    advance(len(block))
        return joined(done), solved_by

    def _oracle(self, bench: Bench, rows: IntArray, problem: Problem) -> AbstractOracle:
        """Who says what the model predicts: its evaluator, or, where it could not be read, the estimator itself."""
        if model_parts(problem.model):
            return evaluated(problem, self._examples.points)
        return Inquiry(self._examples, bench.asked.target, bench.before.take(rows))

    @cached_property
    def _examples(self) -> Examples:
        return Examples(self._reading)

    def _compared(
        self, bench: Bench, outcome: Outcome, solved_by: dict[int, tuple[str, str]], budget: Budget
    ) -> tuple[Outcome, dict[int, tuple[str, str]]]:
        """The bounds of exact solvers added, where one takes the question; and who did it."""
        bound, named = outcome.bound.copy(), dict(solved_by)
        for rows, problem in self._problems(bench.asked, bench.factuals, bench.before):
            unproven = np.array([row in solved_by and bool((bound[outcome.row == row] <= 0).all()) for row in rows])
            judge = exact(problem.form())
            for row in rows[unproven].tolist():
                name, why = solved_by[row]
                if judge is None:
                    named[row] = (name, f"{why}; no exact solver takes the question")
                elif not budget.spent():
                    alone = problem.rows(np.flatnonzero(rows == row))
                    bound[outcome.row == row] = judge.solve(alone, budget).bound[0]
                    named[row] = (name, f"{why}; the bound is that of {judge.name}")
        return replace(outcome, bound=bound), named

    def _certified(
        self,
        asked: Asked,
        factuals: FloatArray,
        before: Prediction,
        outcome: Outcome,
        verdict: Verdict,
        solved_by: dict[int, tuple[str, str]],
        budget: Budget,
    ) -> Explanations:
        """The answers with their certificates; what failed a check is not shown as found."""
        stayed = (STAYED, "the target is already met")
        solvers = (stayed, *dict.fromkeys(solved_by.values()))
        number = {pair: k for k, pair in enumerate(solvers)}
        certificates = Certificates(
            target=repr(asked.target),
            cost=verdict.cost,
            bound=outcome.bound,
            exhausted=outcome.exhausted,
            checks=tuple(check.format(target=asked.target) for check in CHECKS),
            passed=verdict.passed,
            solver=np.array([number[solved_by.get(row, stayed)] for row in outcome.row.tolist()], dtype=np.intp),
            solvers=solvers,
            notes=outcome.notes,
            conflict=self._conflicts(asked, outcome, factuals, before),
            seconds=(time.perf_counter() - budget.start) / len(outcome.row),
            seed=asked.seed,
            fingerprint=self.fingerprint,
            versions=library_versions(),
        )
        found = np.array([status.found for status in certificates.statuses], dtype=np.bool_)
        said = asked.target.said(before)
        return Explanations(
            space=self.space,
            row=outcome.row,
            factual_codes=factuals,
            point_codes=outcome.points,
            table=before.table,
            before=[said[row] for row in outcome.row],
            after=verdict.after,
            cost=np.where(found, verdict.cost, np.inf),
            certificates=certificates,
            question=self._question(asked),
            model=type(self.model).__name__,
        )

    def _conflicts(
        self, asked: Asked, outcome: Outcome, factuals: FloatArray, before: Prediction
    ) -> dict[int, tuple[str, ...]]:
        """For the first impossible answers, a smallest set of constraints that makes them so."""
        impossible = np.flatnonzero(~outcome.found() & (outcome.bound == np.inf))
        if any(isinstance(constraint, Candidates) for constraint in asked.constraints):
            return {}
        budget = Budget(BLAMING)
        return {
            int(i): self._conflict(asked, factuals[[row]], before.take(np.array([row])), budget)
            for i, row in zip(impossible[:BLAMED], outcome.row[impossible[:BLAMED]], strict=True)
            if not budget.spent()
        }

    def _conflict(self, asked: Asked, factuals: FloatArray, before: Prediction, budget: Budget) -> tuple[str, ...]:
        """A smallest set of constraints that makes one row impossible."""
        atoms = [atom for constraint in asked.constraints for atom in constraint.atoms()]
        wide = widened(self.space)

        def impossible(chosen: Sequence[AbstractConstraint], widen: bool) -> bool:
            _, problem = next(self._problems(asked, factuals, before, chosen, wide if widen else self.space))
            solver, _ = choose(problem.form())
            given = (
                budget if solver.exact else Budget(0.0)
            )  # one that proves nothing else sees at once if no value is left
            return solver.solve(problem, given).status()[0] is Status.PROVEN_INFEASIBLE

        return smallest_conflict(atoms, impossible, budget)

    def _question(self, asked: Asked) -> Question:
        spec = {
            "target": to_spec(asked.target),
            "cost": to_spec(asked.cost),
            "constraints": [to_spec(constraint) for constraint in asked.constraints],
        }
        return Question(repr(asked.target), repr(asked.cost), tuple(map(repr, asked.constraints)), spec)


def _stay(problem: Problem) -> Outcome:
    zero = np.zeros(len(problem))
    return Outcome(np.arange(len(problem)), problem.factuals, zero, zero, np.zeros(len(problem), dtype=np.bool_))


def _prediction(known: dict[int, Prediction], key: int, source: Any, table: Any) -> Prediction:
    if key not in known or known[key].table is not table:
        known[key] = Prediction(source, table)
    return known[key]


def _positive(seconds: float) -> float:
    said = (f"time_limit={seconds!r} was given.", "A time limit is a positive number of seconds.")
    if not number(seconds, *said) > 0:
        raise InputError(*said)
    return float(seconds)


def _threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise InputError(f"n_jobs={n_jobs!r} was given.", "A number of threads is needed, or -1 for one a processor.")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


@cache
def library_versions() -> dict[str, str]:
    """The versions that an answer depends on."""
    from importlib.metadata import PackageNotFoundError, version

    out = {"python": platform.python_version()}
    for name in ("butfor", "numpy", "scikit-learn", "highspy"):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            continue
    return out


__all__ = ["Explainer", "Explanation", "Explanations"]
