"""A dossier in a real browser: at four widths, light and dark, and on paper."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import butfor as bf
from tests.applicant import EXPLAINER, X
from tests.shorter import diagonal
from tests.web.browser import AXE, BROWSER, NARROWEST, measured, photograph, printed
from tests.web.test_report_in_browser import OVERFLOW, SERIOUS

pytestmark = [
    pytest.mark.web,
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="chromium is not installed"),
]
DOSSIER_WIDTHS = (1400, 768, 390, 320)
OUTSIDE = """
const inside = [...document.querySelectorAll("section.butfor, nav.butfor")];
return inside.flatMap(box => { const edge = box.getBoundingClientRect().right;
  return [...box.querySelectorAll("td, th, dd, dt, p, pre, li")].filter(one => one.getBoundingClientRect().right > edge + 1)
    .map(one => one.textContent); });
"""


def of(explainer: bf.Explainer, table: pd.DataFrame, **options: object) -> bf.Dossier:
    with TemporaryDirectory() as home:
        return bf.dossier(explainer, table, f"{home}/dossier", progress=False, **options)  # type: ignore[arg-type]


@cache
def dossiers() -> dict[str, str]:
    """One with impossible rows and groups, and one of names that do not break."""
    rules = ["fixed age, sex, late_payments, savings", bf.within("income", 0.02)]
    usual = of(EXPLAINER, X, target="approved", constraints=rules, groups=["sex", "housing"], sample=60)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 12)))
    table.columns = [f"a_very_long_name_of_a_column_without_any_blank_{j}" for j in range(12)]
    wanted, other = "ApprovedWithoutAnyFurtherCondition" * 2, "RejectedForReasonsThatAreNotTold" * 2
    model = LogisticRegression().fit(table, np.where(table.iloc[:, 0] + table.iloc[:, 1] > 0, wanted, other))
    long = of(
        bf.Explainer(model, table), table.assign(which=["a_group_without_a_blank_" * 3, "b"] * 30),
        target=wanted, cost="L2", groups="which", title="AVeryLongTitleWithoutAnyBlank" * 3,
    )  # fmt: skip
    return {"dossier": usual.to_html(), "long-dossier": long.to_html()}


@pytest.mark.parametrize(("name", "width"), diagonal(["dossier", "long-dossier"], DOSSIER_WIDTHS))
def test_nothing_is_wider_than_the_window_or_its_box(name: str, width: int, tmp_path: Path) -> None:
    needed, given = measured(dossiers()[name], OVERFLOW, tmp_path, width=width)
    assert given == width
    assert needed <= given
    assert measured(dossiers()[name], OUTSIDE, tmp_path, width=width) == []
    for dark in (False, True):
        photograph(dossiers()[name], name, tmp_path, width=width, dark=dark)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: make test-web fetches it")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [DOSSIER_WIDTHS[0], NARROWEST])
def test_axe_finds_nothing_serious_in_a_dossier(width: int, dark: bool, tmp_path: Path) -> None:
    script = AXE.read_text(encoding="utf-8").replace("</script", "<\\/script")
    assert measured(dossiers()["dossier"], script + SERIOUS, tmp_path, width=width, dark=dark) == []


def test_all_of_it_is_on_paper(tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="pypdf reads what is printed: pip install butfor[dev]")
    pages = [" ".join(page.split()) for page in printed(dossiers()["dossier"], "A4", tmp_path)]
    assert all(len(page) > len("7 / 7") for page in pages), "no page holds its number alone"
    for does, command in (("with the model itself", "butfor check"), ("Check them with Python", "butfor_check.py")):
        assert any(does in page and command in page for page in pages), "a command stands below what it does"
    text = " ".join(pages)
    for title in ("In short", "What is not proven here", "Groups by housing", "How to verify it", "sha256sum"):
        assert title in text
