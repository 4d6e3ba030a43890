"""Reports in a real browser: at three widths, light and dark, on paper, and with a list that is filtered and sorted.

`make test-web` also fetches axe-core, and leaves pictures of the pages to look at in `screenshots`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import butfor as bf
from tests.applicant import EXPLAINER, POSSIBLE, ROW, X
from tests.shorter import diagonal
from tests.web.browser import AXE, BROWSER, NARROWEST, WIDTHS, measured, photograph, printed

pytestmark = [
    pytest.mark.web,
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="chromium is not installed"),
]
OVERFLOW = "return [document.documentElement.scrollWidth, innerWidth];"
ROBUST = bf.robust({"income": 500})
NARROW = """
return [...document.querySelectorAll(".facts dd")].map(one => [one.previousElementSibling.textContent, one.clientWidth]);
"""
STROKES = """
return [...document.querySelectorAll("svg line")].map(one => [one.className.baseVal, getComputedStyle(one).stroke]);
"""
SERIOUS = """
const found = await axe.run(document, { resultTypes: ["violations"] });
return found.violations.filter(one => ["serious", "critical"].includes(one.impact))
  .map(one => [one.id, one.nodes.length, one.nodes[0].html]);
"""


def long_names() -> bf.Explanations:
    """Answers with many changes, in a table whose names have no blanks."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 30)), index=[f"{i:032x}-of-a-very-long-label" for i in range(60)])
    table.columns = [f"a_very_long_name_of_a_column_without_any_blank_{j}" for j in range(30)]
    wanted, other = "ApprovedWithoutAnyFurtherCondition" * 2, "RejectedForReasonsThatAreNotTold" * 2
    model = LogisticRegression().fit(table, np.where(table.iloc[:, 0] + table.iloc[:, 1] > 0, wanted, other))
    return bf.Explainer(model, data=table).explain(table.iloc[:3], target=wanted, cost="L2")


@cache
def pages() -> dict[str, str]:
    """One answer, a few, many with groups, none at all, and names that do not break."""
    table = X.set_axis([f"A-{i:04d}" for i in range(len(X))])
    many = EXPLAINER.explain(table.iloc[:200], target="approved", constraints=POSSIBLE)
    stuck = [bf.fixed(*[name for name in X.columns if name != "savings"])]
    return {
        "one": EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE).to_html(),
        "few": EXPLAINER.explain(ROW, target="approved", k=3).to_html(),
        "many": many.to_html(by="sex"),
        "long": long_names().to_html(by=["a_group_with_a_name_that_does_not_break_" * 2, "another", "a"]),
        "robust": EXPLAINER.explain(ROW, target="approved", constraints=[ROBUST]).to_html(),
        "none": EXPLAINER.explain(ROW, target="approved", constraints=stuck).to_html(by=["all"]),
    }


NAMES = ("one", "few", "many", "robust", "none", "long")


@pytest.mark.parametrize(("name", "width"), diagonal(NAMES, WIDTHS))
def test_nothing_is_wider_than_the_window(name: str, width: int, tmp_path: Path) -> None:
    needed, given = measured(pages()[name], OVERFLOW, tmp_path, width=width)
    assert given == width
    assert needed <= given
    for dark in (False, True):
        photograph(pages()[name], name, tmp_path, width=width, dark=dark)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_fact_is_written_letter_by_letter(width: int, tmp_path: Path) -> None:
    facts = measured(pages()["robust"], NARROW, tmp_path, width=width)
    assert "Neighbours that the model predicted" in dict(facts)
    assert min(dict(facts).values()) > 60


@pytest.mark.parametrize("name", ["one", "robust"])
def test_every_line_of_a_drawing_is_seen(name: str, tmp_path: Path) -> None:
    strokes = measured(pages()[name], STROKES, tmp_path)
    assert {kind for kind, _ in strokes} == {"track", "path", "was"} | ({"stays"} if name == "robust" else set())
    assert all(stroke != "none" for _, stroke in strokes)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: make test-web fetches it")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [WIDTHS[0], NARROWEST])
@pytest.mark.parametrize("name", ["few", "many"])
def test_axe_finds_nothing_serious(name: str, width: int, dark: bool, tmp_path: Path) -> None:
    html = pages()[name].replace("<details>", "<details open>")
    script = AXE.read_text(encoding="utf-8").replace("</script", "<\\/script")
    assert measured(html, script + SERIOUS, tmp_path, width=width, dark=dark) == []


def test_the_list_is_filtered_by_row_and_status(tmp_path: Path) -> None:
    script = """
    const tools = document.querySelector(".tools"), shown = () =>
      [...document.querySelectorAll(".rows tbody tr")].filter(one => !one.hidden).map(one => one.cells[0].textContent);
    const choose = (name, value) => { tools.elements[name].value = value; tools.dispatchEvent(new Event("input")); };
    const all = shown().length;
    choose("Row", "a-00");
    const labelled = shown();
    choose("Status", "proven optimal");
    const both = shown(), told = tools.querySelector("p").textContent;
    choose("Row", ""); choose("Status", "");
    return { all, labelled, both, told, again: shown().length, hidden: tools.hidden };
    """
    found = measured(pages()["many"], script, tmp_path)
    assert found["all"] == found["again"] == 200
    assert found["labelled"] == [f"A-{i:04d}" for i in range(100)]
    assert 0 < len(found["both"]) < 100
    assert found["told"] == f"{len(found['both'])} of 200 are shown."
    assert not found["hidden"]


def test_the_list_is_sorted_by_any_column(tmp_path: Path) -> None:
    script = """
    const table = document.querySelector(".rows"), heads = [...table.tHead.rows[0].cells];
    const at = heads.findIndex(head => head.textContent === "Cost"), click = () => heads[at].firstChild.click();
    const costs = () => [...table.tBodies[0].rows].map(row => row.cells[at].textContent);
    click(); const up = costs(), first = heads[at].ariaSort; click();
    return { up, down: costs(), first, second: heads[at].ariaSort };
    """
    found = measured(pages()["many"], script, tmp_path)
    assert (found["first"], found["second"]) == ("ascending", "descending")
    for way, up in (("up", True), ("down", False)):
        known = [float(cost) for cost in found[way] if cost]
        assert known == sorted(known, reverse=not up)
        assert not any(found[way][len(known) :]), "rows without a cost come last"


def test_a_status_leads_to_its_certificate(tmp_path: Path) -> None:
    script = """
    const link = document.querySelector('.rows a[href^="#certificate-"]');
    link.click();
    await new Promise(done => setTimeout(done, 200));
    return [link.textContent, document.querySelector(link.hash).querySelector("h3").textContent,
      document.querySelector(link.hash).closest("details").open];
    """
    status, title, unfolded = measured(pages()["many"], script, tmp_path)
    assert title.startswith(status)
    assert unfolded


@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_on_paper_no_row_is_split_and_every_page_has_the_headings(paper: str, tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="pypdf reads what is printed: pip install butfor[dev]")
    found = printed(pages()["many"], paper, tmp_path)
    assert all(len(page.split()) > 10 for page in found), "no page is empty"
    rows = [(page, number) for page in found for number in range(200) if f"A-{number:04d} " in page]
    assert [number for _, number in rows] == list(range(200)), "each row stands on one page, in order"
    for page in found:
        lines = page.count("A-0")
        if lines:
            assert page.count("Prediction") == 1
            ends = sum(page.count(status) for status in ("already", "proven"))
            assert ends >= lines, "the end of each row stands on the page of its beginning"
    assert "Recomputed with the model itself" in found[-1] + found[-2], "what is folded is printed"
    assert f"1 / {len(found)}" in found[0]
