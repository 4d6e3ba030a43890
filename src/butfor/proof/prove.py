"""Proofs of answers, written into a folder with everything that a stranger needs to check them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from butfor.claim import claim_of, stated
from butfor.compiled.saying import silence
from butfor.errors import InputError, InputTypeError, RefutedError
from butfor.estimator.prediction import Prediction
from butfor.explain.arguments import seconds_of
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.portfolio.portfolio import Portfolio
from butfor.proof.adversary import Reply
from butfor.proof.asked import ProofQuestion
from butfor.proof.asking import asked_about
from butfor.proof.checker import CHECKER_FILE, checker, checker_file
from butfor.proof.failing import BesideError, CheaperError, UnprovenError, taken
from butfor.proof.further_ends import Ends, parted_further
from butfor.proof.kept import box, opposite
from butfor.proof.model_files import ModelFile, hexes, not_proven
from butfor.proof.patience import PROOF_SECONDS
from butfor.proof.proof_text import HOW_TO_VERIFY, free_file, sha256_of, signed, stem_of
from butfor.proof.proven import BESIDE, BEYOND_OTHER_END, REFUSED, Proofs, Proven
from butfor.proof.provers import prover_of
from butfor.proof.refuting import CheaperRowError, cheaper_row, refuting_row
from butfor.proof.wanted import OTHER_END
from butfor.records.whole_file import path_of, write_whole
from butfor.solvers.outcome import Status
from butfor.solvers.solver import Budget
from butfor.views.progress import bar

LEFT_TO_FLOATS = 1e-9
"""By which share the bound that is proven may be lower than the claimed one. What is proven is exact, and floats are not."""

ROWS_RECORDED = 20
"""So many rows are recorded with what the estimator says of them."""

LOWERED_AT_MOST = 5
"""How often a claim is lowered below a row that gets what is wanted only by rounding, or costs less only by that."""

BOLDER_TIMES, BOLDER_SECONDS = 4.0, 1.0
"""After the bound of a certificate, the whole cost is tried so many times as long, and at least so many seconds."""


def prove(
    answers: Explanation | Explanations | Portfolio,
    model: Any,
    folder: str | os.PathLike[str],
    *,
    models: Iterable[Any] = (),
    time_limit: float = PROOF_SECONDS,
    progress: bool | None = None,
) -> Proofs:
    """Write proofs of answers, which a stranger checks without butfor, into a folder.

    Choose it for readers who should not have to trust butfor: an auditor, a court, a client. A certificate says that
    nothing is cheaper, and `bf.check` lets butfor say it again. A proof shows it, in exact whole numbers, to one readable
    file of plain Python, which is written beside it.

    A proof is a tree of boxes of rows. In each box it gives a number for each set of values that a tree tells apart. With
    these numbers, the cost splits into a part for each column and each tree. The sum of the least values of the parts is
    a bound, whatever the numbers are.

    - `answers`: what `explain` returned, or a portfolio;
    - `model`: the estimator, or pipeline, that was explained;
    - `folder`: where the files go. It is made if it is not there;
    - `models`: those that constraints ask, which answers do not hold: the forests of `bf.plausible` and the models of
      `bf.robust_to`, in the order of the question;
    - `time_limit`: the seconds for each answer;
    - `progress`: whether to show a bar (default: on a terminal, when the work takes long).

    It takes sums of trees, single trees, linear models, networks, and what [the page of proofs](../how-to/proofs.md) lists.
    It refuses others by name. Of several answers to a row, the cheapest is proven.
    If a cheaper row refutes a claim, a `bf.errors.RefutedError` names the row, after all other proofs were written.

    >>> import tempfile
    >>> from butfor import Explainer
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> answers = Explainer(tree, data=X).explain(X.iloc[:3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     proofs = prove(answers, tree, folder)
    >>> proofs.verified
    3
    """
    if not isinstance(answers, Explanation | Explanations | Portfolio):
        raise InputTypeError(
            f"a {type(answers).__name__} was given as answers.", "They must be what explain returned, or a portfolio."
        )
    several = [answers] if isinstance(answers, Explanation) else answers
    if not len(several):
        raise InputError("no answer was given.", "There is nothing to prove.")
    seconds, home, besides = seconds_of("time_limit", time_limit), path_of(folder, "folder"), tuple(models)
    if home.exists() and not home.is_dir():
        raise InputError(f"{home} is a file.", "Proofs are written into a folder.", "Give another name.")
    each, refuted, given = list[Proven](), list[str](), set[str]()
    with silence(progress is False), bar(len(several), progress, "proving") as advance:
        for group in _groups(several):
            writer = _Writer.of(group, model, besides, home, given)
            for i in range(len(writer.asked.claim)):
                each.append(writer.proof(i, seconds, refuted))
                advance(1)
    proofs = Proofs(home, tuple(each))
    if refuted:
        raise RefutedError(
            f"{len(refuted)} of {len(each)} claims are false. {refuted[0]}",
            "That is a mistake of butfor, and no proof of it was written.",
            "Please report it, with the model and the row.",
        )
    return proofs


def _groups(answers: Any) -> Iterator[Explanation | Explanations]:
    """The answers, together as far as they belong together. A portfolio is read part by part."""
    if isinstance(answers, Portfolio):
        yield from answers.some(np.arange(len(answers)))
    elif isinstance(answers, Explanations):
        yield answers
    else:
        yield from answers


@dataclass(eq=False)
class _Writer:
    """Writes the proofs of answers to one question into a folder."""

    asked: ProofQuestion
    home: Path
    given: set[str]
    known: dict[str, tuple[list[str], Any]] = field(default_factory=dict)
    unwritten: dict[str, str] = field(default_factory=dict)
    rows_told: dict[int, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, group: Explanation | Explanations, model: Any, models: Sequence[Any], home: Path, given: set[str]
    ) -> _Writer:
        """All that can be refused is refused here, before anything is written. given: the names of proofs so far."""
        claim = claim_of(stated(group), model, models)
        then, now = claim.stated.certificates[0].fingerprint, claim.asking.fingerprint
        if then and then != now:
            raise InputError(
                f"another model was given: its fingerprint is {now or 'none'}, and the answers say {then}.",
                "A proof is about the model that was explained.",
            )
        writer = cls(asked_about(claim), home, given)
        writer._compare()
        its = writer.asked  # what a pipeline does to a number may be refused, too
        _ = its.wanted, its.columns, its.ball
        home.mkdir(parents=True, exist_ok=True)
        content = checker_file().read_text(encoding="utf-8")
        write_whole(home / CHECKER_FILE, [content])
        write_whole(
            home / "HOW_TO_VERIFY.txt", [HOW_TO_VERIFY.format(checker=CHECKER_FILE, sha256=sha256_of(content.encode()))]
        )
        write_whole(home / writer.model_name, [writer.file.content.decode()])
        return writer

    @property
    def file(self) -> ModelFile:
        return self.asked.file

    @cached_property
    def model_name(self) -> str:
        stem, _, ending = self.file.name.partition(".")
        return f"{stem}-{sha256_of(self.file.content)[:8]}.{ending}"

    def recorded(self, i: int) -> list[Any]:
        """Rows as the model gets them, with what the estimator says of their sums, or of what is wanted of row i."""
        key = i if self.file.tells == "target" else 0
        if key not in self.rows_told:
            self.rows_told[key] = self._recorded(i)
        return self.rows_told[key]

    def _recorded(self, i: int) -> list[Any]:
        claim = self.asked.claim
        inputs, rows = self.asked.given, list[Any]()
        for table in (claim.stated.factuals, claim.stated.points if len(claim.stated.found) else None):
            if table is not None:
                prediction = Prediction(claim.reading.source, table)
                some = prediction.take(np.arange(min(ROWS_RECORDED // 2, prediction.height))).table
                features, said = inputs.rows(some), self.asked.said(i, some)
                bad = np.isinf(features) if self.file.kind != "linear" else ~np.isfinite(features)  # trees read NaN
                each = zip(features.tolist(), map(self.file.recorded, said), np.any(bad, axis=1), strict=True)
                rows += [[hexes(row), one] for row, one, skipped in each if not skipped]
        return rows

    def _compare(self) -> None:
        """Refuse a model whose file says something else than the estimator."""
        rows = checker().parsed(json.dumps(self.recorded(0)))
        try:
            checker().recorded(rows, self.asked.model, self.asked.wanted[0])
        except checker().Wrong as wrong:
            raise not_proven(f"{self.file.of}, whose file says something else than itself ({wrong})") from None

    def _question(self, i: int, wanted: dict[str, Any], near: bool = False) -> tuple[list[str], Any]:
        """The name and the hash of the shared question about a target, for row i, and what the checker reads of it.

        Whether rows get what must not be `near` an answer, nobody said.
        """
        key = json.dumps(wanted)
        if key not in self.known:
            about = {
                "file": self.model_name,
                "sha256": sha256_of(self.file.content),
                "kind": self.file.kind,
                "of": self.file.of,
            }
            recorded = [] if near and self.file.tells == "target" else self.recorded(i)
            shared = {"format": "butfor.question/1", "wanted": wanted, "columns": self.asked.columns}
            text = json.dumps({**shared, "model": about, "recorded": recorded})
            sha256 = sha256_of(text.encode())
            name = f"question-{sha256[:8]}.json"
            with taken():
                self.known[key] = [name, sha256], self.asked.read.shared(json.dumps(shared))
            self.unwritten[name] = text
        return self.known[key]

    def proof(self, i: int, seconds: float, refuted: list[str]) -> Proven:
        """The proof of one answer. A row that refutes its claim is told to `refuted`."""
        answers, budget = self.asked.claim.answers, Budget(seconds)
        name = f"Row {answers.labels[i]}, answer {answers.ranks[i]}"
        try:
            if why := self.asked.why_not(i):
                raise UnprovenError(why)
            question, shared = self._question(i, self.asked.wanted[i])
            below, lines, words, less = self._bounded(i, question, shared, budget)
        except UnprovenError as error:
            return Proven(name, None, 0.0, str(error))
        except CheaperRowError as cheaper:
            row = cheaper.row
            refuted.append(f"{name}: at a cost of {row.cost:.9g}, {row.words}")
            return Proven(name, None, 0.0, f"refuted: {row.words}")
        if (whole := self._whole(i)) > below and not less:
            took = seconds - budget.left()
            a_share = Budget(min(budget.left(), max(BOLDER_SECONDS, BOLDER_TIMES * took)))
            with suppress(UnprovenError, CheaperRowError, BesideError):
                lines, words = self._lines(i, question, shared, whole, a_share)
                below = whole
        file = self._written(stem_of(answers.labels[i], int(answers.ranks[i])), question, lines)
        return Proven(name, file, below, words, self._near(i, budget, f"{file.stem}-near"), less)

    def _bounded(self, i: int, question: list[str], shared: Any, budget: Budget) -> tuple[float, list[str], str, str]:
        """The proof of the bound of a certificate, or of less: the bound, the lines, what the checker says, and why it is less.

        Raises `CheaperRowError` if a row refutes the bound.
        """
        certificate = self.asked.claim.stated.certificates[i]
        claimed, why = certificate.bound * (1 - LEFT_TO_FLOATS), REFUSED
        below = None if certificate.status is Status.PROVEN_INFEASIBLE else claimed
        for _ in range(LOWERED_AT_MOST):
            try:
                lines, words = self._lines(i, question, shared, below, budget)
            except UnprovenError as error:
                if error.args:
                    raise
                if budget.spent():
                    raise UnprovenError(f"not proven in {budget.seconds:g} seconds") from None
                break
            except CheaperRowError as cheaper:
                row = cheaper.row
                if row.met and row.paid < claimed:
                    raise
                why = BESIDE if row.met else REFUSED  # what is met costs what was claimed, but its cells reach farther
                if below is None or not row.cost > 0 or self._is_one_of_two_ends(i):
                    break
                below = row.cost * (1 - LEFT_TO_FLOATS)
            except BesideError as beside:
                why = BESIDE
                if below is None:
                    break
                below *= beside.share * (1 - LEFT_TO_FLOATS)
            else:
                its = np.inf if below is None else below
                return its, lines, words, why if its < claimed * (1 - LEFT_TO_FLOATS) else ""
        raise UnprovenError(BEYOND_OTHER_END if self._is_one_of_two_ends(i) else why)

    def _whole(self, i: int) -> float:
        """The cost of an answer that is called optimal, if that says more than the bound of its certificate; else 0."""
        certificate = self.asked.claim.stated.certificates[i]
        whole = certificate.cost * (1 - LEFT_TO_FLOATS)
        return whole if certificate.status is Status.PROVEN_OPTIMAL and whole > certificate.bound else 0.0

    def _is_one_of_two_ends(self, i: int) -> bool:
        """Whether more is proven than is wanted: that nothing cheaper reaches the end that a row misses."""
        return OTHER_END in self.asked.wanted[i].get("label", "")

    def _head(
        self, i: int, question: list[str], below: float | None, replies: Sequence[Reply], ends: Ends
    ) -> dict[str, Any]:
        columns = self.asked.row(i)
        for j, more in ends.items():
            columns[j]["ends"] = [*columns[j].get("ends", ()), *more]
        return {
            "format": "butfor.proof/1",
            "question": question,
            "row": str(self.asked.claim.answers.labels[i]),
            "columns": columns,
            "changes": self.asked.changes(),
            **{key: its for key, its in self.asked.joining(i).items() if its},
            **({"replies": list(replies)} if replies else {}),
            "below": None if below is None else float(below).hex(),
            "answer": self.asked.answer(i),
        }

    def _lines(
        self, i: int, question: list[str], shared: Any, below: float | None, budget: Budget
    ) -> tuple[list[str], str]:
        by, adversary = checker(), self.asked.adversary(i, shared[0][1].columns, budget.until)
        replies, ends = list[Reply](), Ends()
        if adversary is not None and (answer := self.asked.answer_at(i)) is not None:
            replies = adversary.replies(answer, always=True)
        while True:
            head = json.dumps(self._head(i, question, below, replies, ends), separators=(",", ":"))
            own = by.parsed(head)
            with taken():  # not a probability next to 1, or numbers that float32 does not hold
                questions = by.asked(shared, own)
            body = [head]
            for one in questions:
                try:
                    with taken():
                        body += [] if one.done else prover_of(one, budget, self.asked.answer_at(i)).prove()
                except CheaperError as cheaper:
                    if parted_further(one.columns, cheaper, ends):
                        break
                    row, cost = cheaper_row(self.asked, i, one.columns, cheaper)
                    more = [] if adversary is None else adversary.further(replies, row, one.columns, cheaper.chosen)
                    if not more:
                        raise CheaperRowError(refuting_row(self.asked, i, row, cost + float(one.extra))) from None
                    replies += more
                    break
            else:
                lines = signed(body)
                with taken():
                    return lines, by.proven(questions, own, lines)

    def _near(self, i: int, budget: Budget, stem: str) -> Path | None:
        """Write a proof that an answer keeps what is wanted in its box, if there is one and rounding leaves nothing open."""
        wanted = opposite(self.asked, i)
        if wanted is None:
            return None
        by = checker()
        told = {
            "format": "butfor.proof/1",
            "row": f"{self.asked.claim.answers.labels[i]}, around its answer",
            "columns": box(self.asked, i),
            **{"changes": None, "below": None, "answer": None},
        }
        try:
            question, shared = self._question(i, wanted, near=True)
            own = by.parsed(head := json.dumps({**told, "question": question}, separators=(",", ":")))
            (asked,) = by.asked(shared, own)
            lines = signed([head, *prover_of(asked, budget).prove()])
        except (CheaperError, BesideError, UnprovenError, by.Wrong):
            return None
        by.proven([asked], own, lines)
        return self._written(stem, question, lines)

    def _written(self, stem: str, question: list[str], lines: list[str]) -> Path:
        """Write a proof, and its question if no proof of it was written before."""
        asked = question[0]
        if asked in self.unwritten:
            write_whole(self.home / asked, [self.unwritten.pop(asked)])
        file = free_file(self.home, stem, lines[0], self.given)
        write_whole(file, ["\n".join(lines), "\n"])
        return file
