"""The run: model after model, question after question, until the time is over."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from butfor.errors import ButforError
from tests.fuzz.case import Bench, Case, Inquiry, random_inquiry, random_setting
from tests.fuzz.judge import FAILURES, Finding, put
from tests.fuzz.models import installed
from tests.fuzz.proofs import PROVEN_EVERY, proven
from tests.fuzz.save import save
from tests.fuzz.shrink import failing, settled, shrunk
from tests.fuzz.tally import Tally

SHRINKING = 6.0
"""Seconds for making one failing problem smaller."""
QUESTIONS, ROWS, TWICE = 10, 6, 0.02
"""Questions to each model, rows in most of them, and the share of questions that are asked twice."""


@dataclass(frozen=True)
class Orders:
    """What to run.

    - `seed`: problem i is a function of the seed and i alone;
    - `minutes`, `problems`, `models`: when to stop, whichever comes first;
    - `only`: a part of the estimator's name;
    - `folder`: where failing problems are saved, smaller (None: nowhere);
    - `quiet`: whether to say nothing on the way.
    """

    seed: int = 0
    minutes: float = np.inf
    problems: float = np.inf
    models: float = np.inf
    only: str = ""
    folder: Path | None = None
    quiet: bool = False


def estimators(only: str = "") -> list[str]:
    """The installed estimators whose names contain a text."""
    return [name for name in installed() if only.lower() in name.lower()]


def bench_of(seed: int, number: int, only: str = "") -> tuple[str, np.random.Generator, Bench]:
    """The model of a problem, and the generator that its questions are drawn from."""
    rng = np.random.default_rng([seed, number])
    names = estimators(only)
    name = names[number % len(names)]
    return name, rng, Bench(random_setting(rng, name))


def questions(rng: np.random.Generator, bench: Bench) -> Iterator[tuple[Inquiry, list[int], bool]]:
    """The questions to a model: each with its rows, and whether it is asked twice."""
    for _ in range(QUESTIONS):
        inquiry = settled(random_inquiry(rng, bench), bench)
        rows = rng.choice(bench.setting.sheet.rows, 1 if rng.random() < 0.2 else ROWS, replace=False).tolist()
        yield inquiry, rows, bool(rng.random() < TWICE)


def run(plan: Orders) -> Tally:
    """Ask until the plan is fulfilled. Ctrl-C ends the run and keeps what was counted."""
    if not estimators(plan.only):
        raise ValueError(f"no installed estimator has {plan.only!r} in its name")
    tally, begin, told, number = Tally(plan.seed), time.monotonic(), 0.0, 0
    try:
        while tally.problems < plan.problems and number < plan.models:
            _one_model(plan, tally, number)
            number += 1
            tally.seconds = time.monotonic() - begin
            if tally.seconds > 60 * plan.minutes:
                break
            if not plan.quiet and tally.seconds - told > 10:
                told = tally.seconds
                print(tally.line(), file=sys.stderr)
    except KeyboardInterrupt:
        tally.seconds = time.monotonic() - begin
    return tally


def _one_model(plan: Orders, tally: Tally, number: int) -> None:
    try:
        name, rng, bench = bench_of(plan.seed, number, plan.only)
    except Exception as error:
        _not_built(plan, tally, number, error)
        return
    tally.models += 1
    for q, (inquiry, rows, twice) in enumerate(questions(rng, bench)):
        if q % PROVEN_EVERY == 0:
            told, wrong = proven(bench, inquiry, rows)
            tally.claims.update(told)
            for one in wrong:
                _note(plan, tally, Case(bench.setting, inquiry, rows[0]), name, one, f"{number}.{q}")
        for row, verdict, found in put(bench, inquiry, rows, twice):
            tally.problems += 1
            tally.verdicts[name, inquiry.aim.word, verdict] += 1
            for one in found:
                _note(plan, tally, Case(bench.setting, inquiry, row), name, one, f"{number}.{q}.{row}")


def _not_built(plan: Orders, tally: Tally, number: int, error: Exception) -> None:
    """Count a model that could not be made: butfor refused it, or raised, or the library itself could not fit it."""
    names = estimators(plan.only)
    key = (names[number % len(names)], "none", kind_of(error))
    tally.findings[key] += 1
    tally.first.setdefault(key, (str(number), f"{type(error).__name__}: {str(error)[:200]}"))


def kind_of(error: Exception) -> str:
    """Whose error it is: butfor's refusal, an error raised inside butfor, or the model's own."""
    if isinstance(error, ButforError):
        return "refused"
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    inside = any("butfor" in file and "testing" not in Path(file).parts for file in files)
    return "raised" if inside else "refused"


def _note(plan: Orders, tally: Tally, case: Case, name: str, finding: Finding, problem: str) -> None:
    """Count a finding. The first of each kind is made smaller and saved."""
    key = (name, case.inquiry.aim.word, finding.kind)
    tally.findings[key] += 1
    if key in tally.first:
        return
    tally.first[key] = (problem, finding.words)
    if plan.folder is None or finding.kind not in (*FAILURES, "missed"):
        return
    begin = time.monotonic()
    small = shrunk(case, finding.kind, SHRINKING)
    again = failing(small, finding.kind)
    short, found = (small, again) if again else (case, finding)
    title = f"Seed {plan.seed}, problem {problem}: {finding.kind} ({name}, {case.inquiry.aim.word})."
    file = f"{finding.kind}_{name}_{case.inquiry.aim.word}_seed{plan.seed}_{problem.replace('.', '_')}"
    tally.saved.append(save(short, found, file.lower(), title, plan.folder))
    tally.shrinking += time.monotonic() - begin


def tell(seed: int, problem: str, only: str = "") -> Iterator[str]:
    """All about one problem: its number is that of a model, of a model and a question, or also of a row."""
    parts = [int(part) for part in problem.split(".")]
    name, rng, bench = bench_of(seed, parts[0], only)
    yield f"{name}\nX = {bench.setting.sheet.text()}\ny = np.array({list(bench.setting.labels)!r})"
    yield f"model = {bench.setting.model_text()}.fit(X, y)\nspace = {bench.setting.sheet.space()}"
    for q, (inquiry, rows, twice) in enumerate(questions(rng, bench)):
        if len(parts) > 1 and q != parts[1]:
            continue
        yield f"\nquestion {q}: " + ", ".join(f"{word}={text}" for word, text in inquiry.texts().items())
        for row, verdict, found in put(bench, inquiry, rows, twice):
            if len(parts) < 3 or row == parts[2]:
                yield f"row {row}, {bench.rows_text([row], inquiry.narrow)}: {verdict}"
                yield from (f"  {one.kind}: {one.words}" for one in found)
