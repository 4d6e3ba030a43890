"""The dossier: what an independent validator asks for, in a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from butfor.compiled.saying import silence
from butfor.errors import InputTypeError
from butfor.experimental import experimental
from butfor.explain.explainer import Explainer
from butfor.explanation.explanation import now
from butfor.explanation.explanations import Explanations
from butfor.problem.costs import AbstractCost
from butfor.problem.written.constraints import Constraints
from butfor.records.whole_file import whole_folder
from butfor.records.writing import batch_of
from butfor.report.lines import Line
from butfor.space.series import is_series
from butfor.validation.compared import compared
from butfor.validation.facts import DossierSection
from butfor.validation.limits import limits
from butfor.validation.material import DossierWish, Material, gathered
from butfor.validation.origin import (
    ANSWERS_FILE,
    DATA_FILE,
    HOW_FILE,
    PAGE_FILE,
    SUMS_FILE,
    digest,
    files_of,
    how_to_verify,
    origin,
    verify,
)
from butfor.validation.page import page
from butfor.validation.patience import ROW_SECONDS, ROWS_DRAWN
from butfor.validation.sections import asked, headline, levers, proven, reading, times

DOSSIER_FORMAT = "butfor.dossier/1"


@experimental
@dataclass(frozen=True, eq=False)
class Dossier:
    """What is known about a model and its answers, section by section. Print it for the short version.

    - `title`, `made`: what it is called, and when it was made;
    - `answers`: the answers to the sampled rows;
    - `folder`: where it was written.
    """

    title: str
    made: str
    sections: tuple[DossierSection, ...]
    answers: Explanations
    folder: Path

    @property
    def version(self) -> str:
        """The version of butfor that made it."""
        return self.answers.certificates[0].versions.get("butfor", "")

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, by the names of sections, facts and tables. Each value stands beside its text."""
        sections = {one.name: one.to_dict() for one in self.sections}
        return {
            "format": DOSSIER_FORMAT,
            "title": self.title,
            "made": self.made,
            "butfor": self.version,
            "sections": sections,
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=2) + "\n"

    def to_html(self) -> str:
        """The same as a page, which needs no other file."""
        return page(self.title, self.sections, self.version)

    def __repr__(self) -> str:
        short = next(one.says for one in self.sections if one.name == "summary")
        open_ = next(one.limits for one in self.sections if one.name == "limits")
        return "\n".join([self.title, *(f"  {words}" for words in short),
                          f"  {len(open_)} limits are listed, in {self.folder}"])  # fmt: skip


@experimental
def dossier(
    explainer: Explainer,
    X: Any,
    folder: str | os.PathLike[str],
    *,
    target: Any = None,
    cost: AbstractCost | str | None = None,
    constraints: Constraints = (),
    groups: str | Iterable[str] = (),
    sample: float = ROWS_DRAWN,
    seed: int = 0,
    time_limit: float | None = None,
    time_limit_per_row: float | None = ROW_SECONDS,
    title: str = "",
    files: Mapping[str, str | os.PathLike[str]] | None = None,
    progress: bool | None = None,
) -> Dossier:
    """Write what an independent validator asks for into a new folder: a page, the same as JSON, and how to verify it.

    Choose it before a model is approved, and again each time it is trained. It says how faithfully the model was read, of
    how many rows the answer is proven, how long rows take, by which columns the model can be moved, what answers cost each
    group, and what is *not* proven. The rows are drawn from those that do not meet the target yet.

    - `X`: the rows to draw from, as for `explain`; `target`, `cost`, `constraints`: the question;
    - `folder`: a folder that is not there yet, or is empty. It is written whole or not at all;
    - `groups`: the columns by which rows are compared. If the model reads one, the bias check asks whether it alone
      would change a decision;
    - `sample`: how many rows are drawn with the `seed`: a share such as 0.1, or a number;
    - `time_limit`, `time_limit_per_row`: seconds for all rows, and for each. Ctrl-C ends it with the rows that are done;
    - `title`: the title of the page;
    - `files`: where model and data come from, such as `{"model": "model.joblib"}`. Their digests are noted;
    - `progress`: whether to show a bar (default: on a terminal, when the work takes long).

    >>> import tempfile
    >>> from butfor import Explainer
    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> explainer = Explainer(loans.pipeline().fit(X, y), data=X)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     made = dossier(explainer, X, f"{home}/dossier", target="approved", groups="sex", sample=40)
    >>> made.to_dict()["sections"]["proven"]["facts"]["proven"]["text"]
    '40'
    """
    wish = DossierWish(
        {"target": target, "cost": cost, "constraints": constraints}, sample, _names(groups), seed, time_limit,
        time_limit_per_row, files or {}, "",
    )  # fmt: skip
    return written(explainer, X, folder, wish, title, progress)


def _names(groups: Any) -> tuple[str, ...]:
    """The columns that make groups, each once."""
    if is_series(groups) or isinstance(groups, np.ndarray):
        raise InputTypeError(
            f"groups was given as {type(groups).__name__}, a column itself.",
            "The name of a column of the rows is needed, or a list of names. The model need not read it.",
        )
    listed = [groups] if isinstance(groups, str) or not isinstance(groups, Iterable) else list(groups)
    if not all(isinstance(one, str) for one in listed):
        raise InputTypeError(f"groups={groups!r} was given.", "The name of a column is needed, or a list of names.")
    return tuple(dict.fromkeys(listed))


def written(
    explainer: Explainer,
    X: Any,
    folder: str | os.PathLike[str],
    wish: DossierWish,
    title: str = "",
    progress: bool | None = None,
) -> Dossier:
    """Gather what a dossier says and write it into its folder."""
    if not isinstance(explainer, Explainer):
        raise InputTypeError(f"{type(explainer).__name__} was given.", "An Explainer is needed, and then the rows.")
    if not isinstance(title, str):
        raise InputTypeError(f"title={title!r} was given.", "It must be a text.")
    files = files_of(wish.files)
    with whole_folder(folder) as (beside, goal), silence(progress is False):
        of = gathered(explainer, X, wish, progress)
        answers, made = batch_of(of.answers), now()
        sections = _sections(of, files, answers, made)
        named = title or f"Dossier of a {of.model}"
        found = Dossier(named, made, sections, of.answers, goal)
        texts = {
            ANSWERS_FILE: answers,
            DATA_FILE: found.to_json(),
            PAGE_FILE: found.to_html(),
            HOW_FILE: how_to_verify(sections[-1], named),
        }
        texts[SUMS_FILE] = "".join(f"{digest(text)}  {name}\n" for name, text in texts.items())
        for name, text in texts.items():
            (beside / name).write_text(text, encoding="utf-8", newline="\n")
    return found


def _sections(of: Material, files: list[Line], answers: str, made: str) -> tuple[DossierSection, ...]:
    """The sections in the order in which a reader meets them."""
    return (
        headline(of), limits(of), asked(of), reading(of), proven(of), times(of), levers(of), *compared(of),
        origin(of, files, answers, made), verify(of, files),
    )  # fmt: skip
