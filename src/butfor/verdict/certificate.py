"""What is known about an answer, recomputed with the user's own estimator. No solver is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.conflict import MODEL, RANGES
from butfor.solvers.outcome import NOBODY, Credit, Status, Stopped, statuses_of
from butfor.verdict import evidence as known_evidence
from butfor.verdict.evidence import NO_EVIDENCE, Evidence


@dataclass(frozen=True)
class Certificate:
    """What is known of an answer, and what was computed again with your own estimator. Print it to see.

    Look here before you rely on an answer: `status` says what is proven, and `why` the reason.

    - `status`: what is known;
    - `bound`: a proven lower bound on the cost (infinity: no answer exists);
    - `why`: the reason in words;
    - `solver`: who found it, and why this solver was chosen;
    - `checks`: what was recomputed with the estimator, and whether it passed;
    - `conflict`: a smallest set of constraints that makes an answer impossible, if it was looked for and found;
    - `stopped`: why the search ended early, if it did;
    - `evidence`: how far rows get, how large a ball may be, what the worst neighbour is, as far as it is known;
    - `notes`: numbers from a solver that searches, such as the cost before polishing or the calls of the model;
    - `seconds`: the time of the call, divided by its answers;
    - `seed`, `fingerprint`, `versions`: the seed, a hash of the model, and the libraries with which it was made;
    - `coin`: the smallest price that matters. An optimal answer is optimal to a millionth of coin + cost.
    """

    status: Status
    cost: float
    bound: float
    why: str
    solver: str
    checks: tuple[tuple[str, bool], ...] = ()
    conflict: tuple[str, ...] = ()
    seconds: float = 0.0
    seed: int = 0
    fingerprint: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    notes: dict[str, float] = field(default_factory=dict)
    evidence: Evidence = NO_EVIDENCE
    stopped: Stopped = Stopped.DONE
    coin: float = 1.0

    @property
    def gap(self) -> float:
        """The share of the cost that is not proven necessary: (cost - bound) / cost."""
        if not np.isfinite(self.cost) or self.cost == 0:
            return 0.0 if self.status.settled else np.inf
        return max(0.0, (self.cost - self.bound) / self.cost)

    @property
    def excess(self) -> float:
        """How far the cost lies above the optimum at most, as a share of the optimum: (cost - bound) / bound."""
        if self.cost <= self.bound:
            return 0.0
        return self.cost / self.bound - 1 if self.bound > 0 else np.inf

    def __str__(self) -> str:
        return f"{self.status.name}: {self.why}"

    def __repr__(self) -> str:
        lines = [str(self), *(f"  {'passed' if fine else 'FAILED'} - {name}" for name, fine in self.checks)]
        around = self.evidence.around
        if around is not None:
            worst = "" if around.score is None else f"; the worst has {around.score:.6g}"
            lines.append(f"  {around.predicted} neighbours were predicted{worst}")
        if self.evidence.confidence is not None:
            lines.append(f"  the true coefficients agree at a confidence of {self.evidence.confidence:.6g}")
        return "\n".join([*lines, f"  solver {self.solver}"])

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain data. Infinities become None."""
        return {
            "status": self.status.name,
            "cost": finite(self.cost),
            "bound": finite(self.bound),
            "gap": finite(self.gap),
            "why": self.why,
            "solver": self.solver,
            "stopped": self.stopped.name,
            "checks": [{"check": name, "passed": passed} for name, passed in self.checks],
            "conflict": list(self.conflict),
            "seconds": self.seconds,
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "versions": self.versions,
            "notes": self.notes,
            "evidence": self.evidence.to_dict(),
            "coin": self.coin,
        }


@dataclass(frozen=True, eq=False)
class Certificates(Sequence[Certificate]):
    """The certificates of many answers, in columns. A single one is made when it is indexed.

    - `passed` (answers, checks): whether each check passed;
    - `credit` (answers): which solver gave the answer;
    - `stopped` (answers): why the search ended;
    - `conflict`: the conflicting constraints of impossible answers, as far as they were looked for;
    - `evidence`: what else is known about some answers;
    - `left_open` (answers): a difference of costs that the rounding of the model leaves open (NaN: none);
    - `ranks` (answers): the place of each answer among those to its row (None: each is the first).
    """

    target: str
    cost: FloatArray
    bound: FloatArray
    stopped: IntArray
    checks: tuple[str, ...]
    passed: BoolArray
    credit: NDArray[Any]
    conflict: dict[int, tuple[str, ...]]
    seconds: float
    seed: int
    fingerprint: str
    versions: dict[str, str]
    notes: dict[str, FloatArray] = field(default_factory=dict)
    evidence: Mapping[int, Evidence] = field(default_factory=dict)
    left_open: FloatArray | None = None
    coin: float = 1.0
    ranks: IntArray | None = None

    def __len__(self) -> int:
        return len(self.cost)

    @cached_property
    def statuses(self) -> list[Status]:
        """The status of each answer: what the solver proved, unless a check failed."""
        claimed = statuses_of(self.cost, self.bound, self.coin, self.left_open)
        return [
            status if good or not status.found else Status.NOT_FOUND
            for status, good in zip(claimed, np.all(self.passed, axis=1).tolist(), strict=True)
        ]

    @overload
    def __getitem__(self, index: int) -> Certificate: ...
    @overload
    def __getitem__(self, index: slice) -> list[Certificate]: ...
    def __getitem__(self, index: int | slice) -> Certificate | list[Certificate]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        i = range(len(self))[index]
        status = self.statuses[i]
        solved = bool(np.isfinite(self.cost[i]))
        made = Certificate(
            status=status,
            cost=float(self.cost[i]) if status.found else np.inf,
            bound=float(min(self.bound[i], self.cost[i])) if status.found else float(self.bound[i]),
            why="",
            solver=str(self.credit[i]),
            checks=tuple(zip(self.checks, self.passed[i].tolist(), strict=True)) if solved else (),
            conflict=self.conflict.get(i, ()),
            seconds=self.seconds,
            seed=self.seed,
            fingerprint=self.fingerprint,
            versions=self.versions,
            notes={name: float(column[i]) for name, column in self.notes.items() if np.isfinite(column[i])},
            evidence=self._evidence(i),
            stopped=Stopped(int(self.stopped[i])),
            coin=self.coin,
        )
        rank = 1 if self.ranks is None else int(self.ranks[i])
        return replace(made, why=reason(made, self.target, self.credit[i].none_found, rank))

    def _evidence(self, i: int) -> Evidence:
        known = self.evidence.get(i, NO_EVIDENCE)
        open_ = np.nan if self.left_open is None else float(self.left_open[i])
        return known if np.isnan(open_) else replace(known, left_open=open_)


def reason(known: Certificate, target: str, none_found: str = Credit.none_found, rank: int = 1) -> str:
    """The sentence `why`. It follows from the other facts of a certificate, the target in words, and the answer's rank.

    `none_found`: what it means that the solver proved that there is no answer.
    """
    failed = [check for check, fine in known.checks if not fine]
    if known.status is Status.NOT_FOUND and failed:
        return f"the solver's point failed a check: it is not true that {' and that '.join(failed)}"
    if known.status is Status.PROVEN_INFEASIBLE:
        return _why_not(known, target, none_found)
    if known.solver == str(NOBODY):
        return "the target is already met: nothing needs to change"
    if known.status is Status.PROVEN_OPTIMAL:
        rounded = (
            f"; up to {known.cost:.6g}, the rounding of the model decides"
            if known.evidence.left_open is not None
            else ""
        )
        change = "change" if rank == 1 else "change that differs from the answers before it"
        return f"no admissible {change} costs less than {known.bound:.6g}{rounded}"
    if known.status is Status.WITHIN_GAP:
        facts = "; ".join(filter(None, [f"proven lower bound {known.bound:.6g}", known.stopped.words]))
        return f"at most {known.excess:.1%} above the optimum ({facts})"
    if known.status is Status.VALID:
        return "optimality is not claimed"
    least = f"it costs at least {known.bound:.6g}, if there is one" if known.bound > 0 else "there may be one"
    return f"no answer was found, {known.stopped.words or 'although no limit was reached'}; {least}"


def _why_not(known: Certificate, target: str, none_found: str) -> str:
    farthest, radius, far = known.evidence.farthest, known.evidence.radius, ""
    if farthest is not None:
        far = f"; {farthest}"
        far += "" if farthest.closest is None else f"; the closest that was found has {farthest.closest:.4g}"
    elif radius is not None:
        far = f"; with {100 * radius.possible:.4g} % of the radius there is one" if radius.possible else ""
        far += f"; with {100 * radius.impossible:.4g} % there is none" if radius.impossible < 1 else ""
    return _blamed(known, target, none_found) + far


def _blamed(known: Certificate, target: str, none_found: str) -> str:
    conflict = known.conflict
    if conflict == (MODEL,):
        return f"the model never predicts {target}, whatever the values"
    if conflict == (RANGES,):
        return f"no values within the ranges of the data reach {target}; widen them with space={{...}}"
    if not conflict:
        return none_found + _NOT_BLAMED.get(known.stopped, "")
    listed = " and ".join(conflict)
    if known.stopped is Stopped.EFFORT:
        return f"impossible with {listed}; whether all of them are needed for that was left open"
    return f"impossible with {listed}; without {'it' if len(conflict) == 1 else 'any one of them'} there is an answer"


_NOT_BLAMED = {
    Stopped.TIME: "; what makes it impossible was not searched: the time was up",
    Stopped.INTERRUPTED: "; what makes it impossible was not searched: it was interrupted",
    Stopped.EFFORT: "; what makes it impossible was not found with the effort that is allowed for it",
}
"""What is said if an impossible answer names no conflict, for each way in which its search ended."""


def from_dict(data: dict[str, Any]) -> Certificate:
    """The certificate that `to_dict` wrote."""
    status = Status[data["status"]]
    missing_bound = np.inf if status is Status.PROVEN_INFEASIBLE else 0.0
    return Certificate(
        status=status,
        cost=np.inf if data["cost"] is None else data["cost"],
        bound=missing_bound if data["bound"] is None else data["bound"],
        why=data["why"],
        solver=data["solver"],
        checks=tuple((item["check"], item["passed"]) for item in data["checks"]),
        conflict=tuple(data["conflict"]),
        seconds=data["seconds"],
        seed=data["seed"],
        fingerprint=data["fingerprint"],
        versions=dict(data["versions"]),
        notes=dict(data.get("notes", {})),
        evidence=known_evidence.from_dict(data["evidence"]),
        stopped=Stopped[data.get("stopped", "DONE")],
        coin=data.get("coin", 1.0),
    )


def finite(x: float) -> float | None:
    """A number as plain data: None if it is infinite or missing."""
    return float(x) if np.isfinite(x) else None
