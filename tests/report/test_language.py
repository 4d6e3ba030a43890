"""Pages in German: nothing is left in English, numbers have a comma, and the English page is not touched."""

from __future__ import annotations

import ast
import re
from contextlib import suppress

import pytest

import butfor as bf
from butfor.groups.counted import NOT_LOOKED_FOR, STATUSES
from butfor.report.page import MANY, ONE
from butfor.report.reported import MEANINGS
from butfor.report.summary import QUARTILES
from butfor.solvers.conflict import MODEL, RANGES
from butfor.solvers.outcome import Status, Stopped
from butfor.verdict.verify import CHECKS
from butfor.views.languages import built_in, page_languages, say, speaking, spoken
from tests.applicant import EXPLAINER, POSSIBLE, ROW, STUCK, X
from tests.shorter import first
from tests.sources import modules
from tests.views.answers import drawn, made
from tests.views.test_letters_in_words import GERMAN

TOLD = built_in("de")["page"]
MANY_ANSWERS = EXPLAINER.explain(
    X.iloc[:40], target="approved", constraints=[bf.fixed("sex", "age", "late_payments"), bf.within("income", 0.3)]
).described(GERMAN)


def said() -> set[str]:
    """The texts that are given to `say` as they stand in the code."""
    found = set()
    for tree in modules().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "say" and node.args:
                found |= {
                    one.value
                    for one in ast.walk(node.args[0])
                    if isinstance(one, ast.Constant) and type(one.value) is str
                }
    return found


def test_whatever_a_page_says_is_said_in_german() -> None:
    listed = {
        *STATUSES, *(status.value for status in Status), *(one.words for one in Stopped if one), *QUARTILES, ONE, MANY,
        *MEANINGS.values(), *list(CHECKS.values())[1:], NOT_LOOKED_FOR, RANGES, MODEL,
    }  # fmt: skip
    literal = said()
    assert listed - TOLD.keys() == set()
    assert literal - TOLD.keys() <= {" {label}", "quantity"}


def test_each_translation_fills_in_the_same_names() -> None:
    for english, german in TOLD.items():
        assert set(re.findall(r"\{(\w+)\}", english)) == set(re.findall(r"\{(\w+)\}", german)), english


ENGLISH = re.compile(
    r"\b(the|before|after|change[sd]?|row|rows|cost|needed|column|columns|answer|answers|and|is|at least)\b"
)


def words(page: str) -> str:
    """What a reader sees, without what the solver and the libraries call themselves."""
    body = page[page.index("<body") : page.index("<footer")]
    body = re.sub(r"<script.*?</script>|<style.*?</style>", " ", body, flags=re.DOTALL)
    body = re.sub(r"<dt>(Verfahren|Versionen|Modell)</dt><dd>.*?</dd>", " ", body, flags=re.DOTALL)
    told = " ".join(re.findall(r'(?:aria-label|data-label|data-shown)="([^"]*)"', body))
    return told + " " + re.sub(r"<[^>]*>", " ", body)


@pytest.mark.parametrize(
    "page",
    [
        lambda: (
            EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE).described(GERMAN).to_html(language="de")
        ),
        lambda: EXPLAINER.explain(ROW, target="approved", constraints=STUCK).described(GERMAN).to_html(language="de"),
        lambda: MANY_ANSWERS.to_html(language="de"),
        lambda: MANY_ANSWERS.to_html(by="sex", language="de"),
        lambda: MANY_ANSWERS[:5].to_html(by="sex", language="de"),
        lambda: EXPLAINER.explain(
            ROW, target=bf.probability("approved", 0.6), constraints=bf.robust({"income": 500}), cost="L1+0.5*L0"
        ).to_html(language="de"),
    ],
)
def test_no_english_is_left_on_a_german_page(page) -> None:
    html = page()
    assert '<html lang="de">' in html
    assert not ENGLISH.search(words(html)), ENGLISH.findall(words(html))
    assert re.search(r"\d,\d", words(html))
    assert not re.search(r"\b0\.\d", words(html))


@pytest.mark.parametrize("seed", first(5, range(20)))
def test_any_answer_has_a_german_page(seed) -> None:
    assert '<html lang="de">' in drawn(seed).to_html(language="de")


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_german_page(status) -> None:
    answer = made(status=status, **({} if status.found else {"after": None}))
    html = answer.to_html(language="de")
    assert TOLD[status.short] in html


def test_the_language_ends_with_the_page(tmp_path) -> None:
    answer = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE)
    english = answer.to_html()
    answer.report(tmp_path / "de.html", language="de")
    assert "Zertifikat" in (tmp_path / "de.html").read_text(encoding="utf-8")
    assert spoken() == "en"
    assert answer.to_html() == english
    assert '<html lang="en">' in english
    with suppress(ZeroDivisionError), speaking("de"):
        assert say("Row") == "Zeile"
        raise ZeroDivisionError
    assert say("Row") == "Row"


def test_a_language_without_pages_is_refused() -> None:
    assert page_languages() == ["de", "en"]
    with pytest.raises(bf.errors.InputError, match=r"language='es' was given. Pages are written in 'de', 'en'"):
        MANY_ANSWERS.to_html(language="es")
