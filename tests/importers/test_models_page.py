"""The page on models says class by class what is read, and the code agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from butfor.estimator.boosters import native_names
from butfor.importers import registry
from butfor.importers.builtin import LIBRARIES, load_builtin
from tests.importers.checks import why_unread

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
KNOWN_AND_REFUSED = {"sksurv.FastKernelSurvivalSVM"}
"""Classes whose importer refuses them by name, with a better reason than that they are not known."""


def rows(part: str) -> Iterator[tuple[str, str]]:
    """Each class of a part of the page, and how it is read."""
    text = PAGE.read_text(encoding="utf-8")
    begin = text.index(f"## {part}")
    for line in text[begin : text.find("\n## ", begin + 3)].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `"):
            yield from ((name, cells[2]) for name in re.findall(r"`([\w.]+)`", cells[1]))


def shipped(readers: Any) -> set[str]:
    """The names of what butfor's own importers read. Other tests may have taught it more."""
    modules = {f"butfor.importers.libraries.{library}" for library in LIBRARIES}
    named = zip(readers.names(), readers.values(), strict=True)
    return {name for name, read in named if read.__module__ in modules and not name.startswith("_")}


@pytest.mark.parametrize("part", ["Models", "Steps before the model"])
def test_the_page_and_the_code_agree(part) -> None:
    load_builtin()
    if part == "Models":
        known = shipped(registry._models) & {*registry.known_models()} | {*native_names()}
    else:
        known = shipped(registry._steps)
    told = dict(rows(part))
    assert len(told) == len(list(rows(part))), "a class is told twice"
    assert {*told.values()} == {"exact", "searched"}
    assert {name for name, how in told.items() if how == "exact"} == known - KNOWN_AND_REFUSED
    assert not {name for name, how in told.items() if how == "searched"} & (known - KNOWN_AND_REFUSED)


@pytest.mark.parametrize("name", [name for name, how in rows("Models") if how == "searched" and "." not in name])
def test_what_is_searched_is_named(name) -> None:
    from sklearn.utils import all_estimators

    made = dict(all_estimators())[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    regresses = name.endswith(("Regressor", "SVR"))
    assert name in why_unread(made().fit(X, X[:, 0] if regresses else X[:, 0] > 0), X)
