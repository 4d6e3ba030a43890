"""Proofs of answers: how large they are, how long they take to make, and to check: `python -m benchmarks.proofs`.

It writes results/proofs, a file a table. Each row is explained, its answer is proven, and a process of its own checks the
proof, as a stranger would: the checker in plain Python, and the second one in C, where a compiler is there.
"""

from __future__ import annotations

import lzma
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import butfor as bf
from benchmarks.data import TABLES, table
from benchmarks.ensembles.models import ENSEMBLES, Ensemble, Question, ask
from benchmarks.ensembles.scale import SMOKE, Scale, while_patient
from benchmarks.harness import SEED, Number, main
from butfor.proof.checker import checker_file

LINEAR = Ensemble(
    "logistic regression", lambda _: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), 1
)

NETWORK = Ensemble(
    "network of 50 units",
    lambda _: make_pipeline(MinMaxScaler(), MLPClassifier(50, alpha=1e-3, max_iter=3000, random_state=SEED)),
    1,
    tables=("banknote", "breast", "pima"),
)


class Proof(NamedTuple):
    """One proven row: seconds to search, to prove, and to check by the first and the second checker, and megabytes."""

    searched: float
    made: float
    checked: float
    second: float | None
    size: float
    compressed: float


def measure(name: str, smoke: bool) -> Iterator[Number]:
    """Every model of a table. None where it is absent."""
    scale = SMOKE if smoke else Scale()
    found = table(name)
    for ensemble in (*ENSEMBLES, LINEAR, NETWORK) if found is not None else ():
        if ensemble.fits(name) and ensemble.there:
            question = ask(found, ensemble.make(scale.trees(ensemble.trees)), scale.rows)
            yield from _measured(f"{name}, {ensemble.name}", question, scale)


def _measured(name: str, question: Question, scale: Scale) -> Iterator[Number]:
    """The numbers of a model. A row whose proof was not made in time counts as asked, and not as proven."""
    question.explainer.explain(question.rows.iloc[:1], target=1, time_limit=scale.limit)
    explain = partial(question.explainer.explain, target=1, time_limit_per_row=scale.limit, progress=False)
    searched, answers = _took(partial(explain, question.rows))
    claimed = [i for i, one in enumerate(answers.certificates) if one.bound > 0]  # of others, there is nothing to prove
    if not claimed:
        return
    answers = answers[claimed]
    with TemporaryDirectory() as folder:
        program = _compiled(Path(folder))
        bf.prove(answers[0], question.model, folder, progress=False)  # loads and compiles
        made, together = _took(partial(bf.prove, answers, question.model, folder, progress=False))
        asked = [
            _proven(question, answers[k], i, Path(folder), program, scale)
            for k, i in while_patient(list(enumerate(claimed)), scale.patience)
        ]
    proofs = [one for one in asked if one is not None]
    about = {"data": question.table.about, "leaves": question.leaves}
    number = partial(Number, budget=scale.budget)
    rows = {"rows": len(answers), "proven": together.verified}
    share = searched / len(question.rows)
    if not proofs:
        return
    yield number(f"{name}, made together", [made / len(answers)], "s", {"search together": share}, {**about, **rows})
    each = partial(number, about={**about, "rows": len(asked), "proven": len(proofs)})
    alone, made_alone, checked, by_second, size, compressed = (list(every) for every in zip(*proofs, strict=True))
    yield each(f"{name}, made alone", made_alone, "s", {"search alone": median(alone)})
    yield each(f"{name}, checked", checked, "s", {"limit": 0.5})
    if None not in by_second:
        yield each(f"{name}, checked by the second", by_second, "s", {"a tenth of the first": median(checked) / 10})
    yield each(f"{name}, size", size, "MB")
    yield each(f"{name}, size compressed", compressed, "MB", {"limit": 0.002})


def _proven(question: Question, answer: Any, i: int, folder: Path, program: Path | None, scale: Scale) -> Proof | None:
    """One row, asked and proven by itself; None if it has no proof."""
    row = question.rows.iloc[[i]]
    searched, _ = _took(partial(question.explainer.explain, row, target=1, time_limit=scale.limit, progress=False))
    made, (proof,) = _took(partial(bf.prove, answer, question.model, folder, progress=False))
    if proof.file is None:
        return None
    checked, _ = _took(partial(_run, [sys.executable, folder / "butfor_check.py", proof.file]))
    second = None if program is None else _took(partial(_run, [program, proof.file]))[0]
    content = proof.file.read_bytes()
    return Proof(searched, made, checked, second, len(content) / 1e6, len(lzma.compress(content)) / 1e6)


def _compiled(folder: Path) -> Path | None:
    """The second checker as a program; None without a compiler."""
    compiler, program = shutil.which("cc"), folder / "second"
    if compiler is not None:
        _run([compiler, "-O2", "-o", program, checker_file().with_suffix(".c"), "-lm"])
    return program if compiler is not None else None


def _run(command: Sequence[Any]) -> None:
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)


def _took(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came out."""
    begin = time.perf_counter()
    found = run()
    return time.perf_counter() - begin, found


if __name__ == "__main__":
    main({f"proofs/{name}": partial(measure, name) for name in TABLES}, __doc__ or "")
