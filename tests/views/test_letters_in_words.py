"""Letters in the words of the person who gets them, also for those who cannot be helped; and constraints in words."""

from __future__ import annotations

import pytest

import butfor as bf
from butfor.views.languages import built_in, languages
from butfor.views.words import blamed_in_words, constraints_in_words, why_in_words
from tests.applicant import EXPLAINER, POSSIBLE, ROW, STUCK
from tests.explain.test_closest import stuck
from tests.views.answers import made

GERMAN = bf.describe(
    {
        "income": bf.Column("Jahreseinkommen", unit="EUR", phrase="einem Jahreseinkommen von {value}"),
        "amount": bf.Column("Kreditbetrag", unit="EUR", phrase="einem Kreditbetrag von {value}"),
        "months": bf.Column("Laufzeit", unit="Monate"),
        "job": bf.Column("Beschäftigung", levels={"permanent": "unbefristet"}),
    },
    prediction=bf.Column(
        "Entscheidung",
        levels={"approved": "bewilligt", "rejected": "abgelehnt"},
        phrase="hätten wir Ihren Antrag {value}",
    ),
)
ANSWER = EXPLAINER.explain(ROW, target="approved", constraints=POSSIBLE)
NONE = EXPLAINER.explain(ROW, target="approved", constraints=STUCK)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_german_letter_in_the_customers_words() -> None:
    assert plain(ANSWER.described(GERMAN).to_text(language="de")).startswith(
        "Bei einem Jahreseinkommen von 22.150 EUR statt 19.800 EUR, einem Kreditbetrag von 11.750 EUR statt 12.800 EUR und "
        "„Laufzeit“ 21 Monate statt 24 Monate hätten wir Ihren Antrag bewilligt. Vorher beträgt die Wahrscheinlichkeit für "
        "„bewilligt“ 3,57 %, nachher 65 %. Nötig sind mindestens 50 %. Es ist bewiesen, dass keine kleinere zulässige"
    )


def test_a_level_is_told_as_one() -> None:
    answer = EXPLAINER.explain(ROW, target="approved", constraints=bf.fixed("income", "amount", "months"))
    assert "With “permanent” instead of “unemployed” for your job and your savings at" in answer.to_text()


@pytest.mark.parametrize("language", languages())
def test_who_cannot_be_helped_learns_what_stands_in_the_way_and_how_near_it_came(language) -> None:
    letter = plain(NONE.described(GERMAN).to_text(language=language))
    assert "Kreditbetrag" in letter
    assert "amount" not in letter
    assert "fixed(" not in letter
    for number in ("5 %", "3.571 %" if language == "en" else "3,571 %", "50 %"):
        assert number in letter
    kept = built_in(language)["constraints"]["fixed_many"]
    assert kept.replace("{label}", "") in letter


def test_the_closest_way_is_told_if_one_is_known() -> None:
    answer = stuck()
    assert answer.closest is not None
    text = plain(answer.to_text())
    assert (
        "The closest way that was found, with your income at " in text
        or "with your education at " in text
        or ("The closest way that was found, with “" in text)
    )
    reached = answer.certificate.evidence.farthest.closest
    assert f"gets to {100 * float(f'{reached:.4g}'):.6g} %." in text


def test_no_promise_is_made_in_any_language() -> None:
    words = {"en": "no promise", "de": "keine Zusage", "es": "no es una promesa", "fr": "pas une promesse"}
    for language, told in words.items():
        assert told in ANSWER.to_text(language=language)
        assert told not in ANSWER.to_text("brief", language=language)
        assert told not in NONE.to_text(language=language)
        assert told not in made((1.0, 0.5, 0.0), (1.0, 0.5, 0.0)).to_text(language=language)


def test_a_template_that_is_replaced_stays_in_its_language() -> None:
    own = {"letter": {"change": "{label} = {after}"}}
    assert "income = 22.150" in ANSWER.to_text(templates=own, language="de")
    assert "Jahreseinkommen = 22.150" in plain(ANSWER.described(GERMAN).to_text(templates=own, language="de"))


def test_a_phrase_needs_its_value() -> None:
    with pytest.raises(bf.errors.InputError, match=r"\{value\}"):
        bf.Column("Income", phrase="an income")


def test_constraints_are_told_with_labels_and_units() -> None:
    rules = [
        bf.between("income", high=90_000),
        bf.allowed("job", ["permanent", "unemployed"]),
        bf.linear({"amount": 1, "income": -0.5}, "<=", 0),
        bf.implies(bf.allowed("job", ["permanent"]), bf.between("income", 20_000)),
    ]
    question = EXPLAINER.explain(ROW, target="approved", constraints=rules).question
    assert [plain(one) for one in constraints_in_words(question, GERMAN)] == [
        "Jahreseinkommen is at most 90,000 EUR",
        "Beschäftigung is unbefristet or unemployed",
        "Kreditbetrag − 0.5 × Jahreseinkommen ≤ 0",
        "if Beschäftigung is unbefristet, then Jahreseinkommen is at least 20,000 EUR",
    ]
    assert plain(constraints_in_words(question, GERMAN, built_in("de"))[3]) == (
        "wenn gilt: Beschäftigung ist unbefristet, dann gilt auch: Jahreseinkommen beträgt mindestens 20.000 EUR"
    )


def test_the_page_tells_the_reason_with_labels() -> None:
    why = why_in_words(NONE.certificate, NONE.question, GERMAN)
    assert why.startswith(
        "impossible if late_payments, Kreditbetrag and Beschäftigung keep their values and Jahreseinkommen"
    )
    page = NONE.described(GERMAN).to_html()
    assert "Kreditbetrag and Besch" in page
    assert "fixed(" not in page
    assert blamed_in_words(NONE.question, ["the ranges of the data"]) == ["the ranges of the data"]
