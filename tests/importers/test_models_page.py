"""The page on models says class by class what is read, and the code agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from butfor.importers.builtin import load_builtin
from butfor.importers.registry import known_models, known_steps
from tests.importers.checks import why_unread

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
KNOWN_AND_REFUSED = {"AdaBoostRegressor", "sksurv.FastKernelSurvivalSVM"}
"""Classes whose importer refuses them by name, with a better reason than that they are not known."""


def rows(part: str) -> Iterator[tuple[str, str]]:
    """Each class of a part of the page, and how it is read."""
    text = PAGE.read_text(encoding="utf-8")
    begin = text.index(f"## {part}")
    for line in text[begin : text.find("\n## ", begin + 3)].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `"):
            yield from ((name, cells[2]) for name in re.findall(r"`([\w.]+)`", cells[1]))


@pytest.mark.parametrize("part", ["Models", "Steps before the model"])
def test_the_page_and_the_code_agree(part) -> None:
    load_builtin()
    known = {*(known_models() if part == "Models" else known_steps())}
    told = dict(rows(part))
    assert len(told) == len(list(rows(part))), "a class is told twice"
    assert {*told.values()} == {"exact", "searched"}
    assert {name for name, how in told.items() if how == "exact"} == known - KNOWN_AND_REFUSED
    assert not {name for name, how in told.items() if how == "searched"} & (known - KNOWN_AND_REFUSED)


@pytest.mark.parametrize("name", [name for name, how in rows("Models") if how == "searched" and "." not in name])
def test_what_is_searched_is_named(name) -> None:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.utils import all_estimators

    made = dict(all_estimators())[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    regresses = name.endswith(("Regressor", "SVR"))
    inner = [("a", Ridge() if regresses else LogisticRegression())]
    model = made(inner) if name.startswith("Stacking") else made()
    assert name in why_unread(model.fit(X, X[:, 0] if regresses else X[:, 0] > 0), X)
