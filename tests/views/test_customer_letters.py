"""Whole letters: plain words, a date, a reference, whom to ask, and a folder of them that is written whole or not at all."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path

import pytest

import butfor as bf
from butfor.records import whole_file
from butfor.views.customer import _apart
from butfor.views.languages import languages
from tests.applicant import EXPLAINER, POSSIBLE, STUCK, X
from tests.shorter import first
from tests.views.answers import drawn, made
from tests.views.test_letters_in_words import ANSWER, GERMAN, NONE, plain

DAY = dt.date(2026, 11, 27)
OURS = {
    "en": r"cost|\bprove|counterfactual|model|constraint|admissible|feasib|optimal|solver|certificate|column|bound",
    "de": r"kosten|bewiesen|kontrafakt|modell|bedingung|zulässige (änder|zeile)|optimal|zertifikat|spalte|schranke",
    "es": r"coste|demostrad|contrafáct|modelo|restricci|óptim|certificado|columna|cota",
    "fr": r"coût|prouvé|contrefact|modèle|contrainte|optimal|certificat|colonne|borne",
}
PROMISES = {"en": "not a promise", "de": "keine Zusage", "es": "no es una promesa", "fr": "pas une promesse"}


def test_a_german_letter() -> None:
    letter = ANSWER.described(GERMAN).to_letter(
        "de", date=DAY, reference="2026-4711", contact="Frau Berger, Tel. 0123 456"
    )
    assert plain(letter) == (
        "27. November 2026\n\nUnser Zeichen: 2026-4711\n\nGuten Tag,\n\n"
        "auf Grundlage der Angaben, die uns vorliegen, lautet das Ergebnis derzeit „abgelehnt“.\n\n"
        "Mit den folgenden Angaben hätten wir Ihren Antrag bewilligt:\n"
        "- Jahreseinkommen: 22.150 EUR statt 19.800 EUR\n"
        "- Kreditbetrag: 11.750 EUR statt 12.800 EUR\n"
        "- Laufzeit: 21 Monate statt 24 Monate\n\n"
        "Wir haben diese Änderungen gemeinsam betrachtet. Einzelne davon reichen womöglich nicht aus.\n\n"
        "Bitte beachten Sie: Dies ist keine Zusage. Es beschreibt, wie das Ergebnis heute zustande kommt. Wenn sich andere "
        "Angaben oder unsere Regeln ändern, kann das Ergebnis anders lauten.\n\n"
        "Bei Fragen wenden Sie sich bitte an Frau Berger, Tel. 0123 456.\n\nMit freundlichen Grüßen"
    )


def test_an_english_letter_to_whom_nothing_helps() -> None:
    assert plain(NONE.to_letter(date=DAY)) == (
        "27 November 2026\n\nDear customer,\n\n"
        "On the basis of the details that we have, the answer is “rejected” at present.\n\n"
        "Unfortunately, none of the changes that we could take into account would make the answer “approved”.\n\n"
        "This stands in the way, which we have taken as given:\n"
        "- late_payments, amount and job keep their values\n"
        "- income moves by at most 5 % of its value\n\n"
        "At best, the probability of approved would be 3.58 %. At least 50 % is needed.\n\n"
        "This is the position today. If other details or our rules change, the answer may be another.\n\n"
        "Kind regards"
    )


@pytest.mark.parametrize("language", languages())
def test_no_word_of_ours_and_no_promise(language) -> None:
    for answer in (ANSWER.only, NONE.only, replace(ANSWER.only, rank=2), made(after=None, status=bf.Status.NOT_FOUND)):
        letter = answer.to_letter(language)
        assert not re.search(OURS[language], letter.lower())
        assert (PROMISES[language] in letter) is answer.found


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("status", bf.Status)
def test_what_is_proven_is_told_if_it_is_asked_for(language, status) -> None:
    answer = made(status=status, **({} if status.found else {"after": None}))
    told = {"en": "proven", "de": "bewiesen", "fr": "prouvé", "es": "demostrad"}[language]
    claims = status in (bf.Status.PROVEN_OPTIMAL, bf.Status.WITHIN_GAP, bf.Status.PROVEN_INFEASIBLE)
    assert (told in answer.to_letter(language, proof=True).lower()) is claims
    assert told not in answer.to_letter(language).lower()


@pytest.mark.parametrize("seed", first(6, range(30)))
@pytest.mark.parametrize("language", languages())
def test_any_answer_becomes_a_letter(seed, language) -> None:
    letter = drawn(seed).to_letter(language, proof=True)
    assert not re.search(r"\{\w+\}|\n\n\n", letter.replace(drawn(seed).question.cost, ""))


def test_several_answers_are_several_ways() -> None:
    two = EXPLAINER.explain(X.iloc[[206]], target="approved", constraints=POSSIBLE, k=2)
    letter = two.to_letter()
    assert letter.count("the answer would be “approved”:") == 2
    assert "With these details, too" in letter
    assert letter.count("not a promise") == 1
    with pytest.raises(bf.errors.InputError, match="answers to 2 rows"):
        EXPLAINER.explain(X.iloc[[204, 206]], target="approved").to_letter()


def test_what_follows_by_itself_is_told() -> None:
    rule = bf.follows("savings", 0.5, "income")
    answer = EXPLAINER.explain(X.iloc[[206]], target="approved", constraints=[*POSSIBLE, rule]).only
    assert ("this would change by itself:\n- savings:" in answer.to_letter()) is bool(answer.consequences)


def test_a_number_is_called_what_it_is() -> None:
    value = made(said=(206.1, 150.0), asked=made().question)
    assert "is 206.1 at present" in value.to_letter()


def test_a_row_that_has_the_answer_already() -> None:
    same = made((1.0, 0.5, 0.0), (1.0, 0.5, 0.0))
    assert "That is what was asked for. Nothing needs to change." in same.to_letter()


def test_a_template_is_a_text_or_a_file(tmp_path) -> None:
    own = "ACME Bank\n{date}\n\nDear Ms Smith,\n\n{text}\n\nA. Clerk"
    letter = ANSWER.to_letter(template=own, date="today")
    assert letter.startswith("ACME Bank\ntoday\n\nDear Ms Smith,\n\nOn the basis")
    assert letter.endswith("\n\nA. Clerk")
    file = tmp_path / "letter.txt"
    file.write_text(own, encoding="utf-8")
    assert ANSWER.to_letter(template=file, date="today") == letter
    told = ANSWER.to_letter(templates={"customer": {"greeting": "Hello,"}})
    assert "\n\nHello,\n\n" in told


def test_the_date_is_that_of_the_answer_unless_one_is_given() -> None:
    assert replace(ANSWER.only, created="2026-03-01T10:00:00+00:00").to_letter("de").startswith("1. März 2026\n")
    assert ANSWER.to_letter(date="").startswith("Dear customer,")


@pytest.mark.parametrize(
    ("numbers", "outwards", "texts"),
    [
        ((0.035710, 0.5), True, ("0.0358", "0.5")),
        ((0.49996, 0.5), True, ("0.49996", "0.5")),
        ((0.49996, 0.5), False, ("0.499", "0.5")),
        ((310.27, 250.0), True, ("310", "250")),
        ((0.0, 0.5), True, ("0", "0.5")),
        ((float("inf"), 0.5), True, ("inf", "0.5")),
    ],
)
def test_how_near_it_came_is_never_told_too_well_or_as_enough(numbers, outwards, texts) -> None:
    assert _apart(*numbers, outwards=outwards) == texts


def test_a_folder_of_letters(tmp_path) -> None:
    rows = X.iloc[[204, 206]].assign(case=["A1", "A2"])
    answers = EXPLAINER.explain(X.iloc[[204, 206]], target="approved", constraints=POSSIBLE)
    written = answers.letters(tmp_path / "post", "de", contact="Frau Berger", reference=rows["case"])
    assert [path.name for path in written] == ["204.txt", "206.txt"]
    assert (
        written[0].read_text(encoding="utf-8")
        == answers[0].to_letter("de", contact="Frau Berger", reference="A1") + "\n"
    )
    assert "Reference: 204\n" in answers.letters(tmp_path / "labels")[0].read_text(encoding="utf-8")
    by_column = answers.letters(tmp_path / "column", reference="job")
    assert f"Reference: {X['job'][206]}\n" in by_column[1].read_text(encoding="utf-8")
    assert sorted(path.name for path in (tmp_path / "post").iterdir()) == ["204.txt", "206.txt"]


def test_a_letter_that_is_there_stays_as_it_is(tmp_path) -> None:
    answers = EXPLAINER.explain(X.iloc[[204, 206]], target="approved", constraints=POSSIBLE)
    (tmp_path / "206.txt").write_text("mine")
    with pytest.raises(bf.errors.InputError, match=r"holds 206\.txt already"):
        answers.letters(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["206.txt"]
    assert (tmp_path / "206.txt").read_text() == "mine"


def test_nothing_is_left_half_written(tmp_path, monkeypatch) -> None:
    answers = EXPLAINER.explain(X.iloc[[204, 206]], target="approved", constraints=POSSIBLE)
    done = list[str]()

    def full(path: Path, goal: Path) -> Path:
        done.append(goal.name)
        if len(done) == 2:
            raise OSError(28, "No space left on device", str(goal))
        return path.replace(goal)

    monkeypatch.setattr(whole_file.Path, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        answers.letters(tmp_path)
    assert done == ["204.txt", "206.txt"]
    assert list(tmp_path.iterdir()) == []


BATCH = EXPLAINER.explain(X.iloc[[204, 206]], target="approved", constraints=STUCK)
ODD = EXPLAINER.explain(X.iloc[[204]].rename(index={204: "../204"}), target="approved", constraints=POSSIBLE)
TWICE = EXPLAINER.explain(X.iloc[[204, 206]].rename(index={206: 204}), target="approved", constraints=POSSIBLE)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ANSWER.to_letter("xx"), "languages are"),
        (lambda: ANSWER.to_letter(date=3), "datetime.date"),
        (lambda: ANSWER.to_letter(reference=3), "reference=3"),
        (lambda: ANSWER.to_letter(contact=None), "contact=None"),
        (lambda: ANSWER.to_letter(template=3), "template=3"),
        (lambda: ANSWER.to_letter(template="letter.txt"), "has no {text}"),
        (lambda: ANSWER.to_letter(template="{text} {name}"), "It may name"),
        (lambda: ANSWER.to_letter(templates={"customer": {"fuond": "x"}}), "names there are"),
        (lambda: BATCH.letters("x", reference="cas"), "columns are"),
        (lambda: BATCH.letters("x", reference=["A1"]), "1 texts"),
        (lambda: BATCH[:0].letters("x"), "no answer"),
        (lambda: ODD.letters("x"), "cannot name a file"),
        (lambda: TWICE.letters("x"), "2 rows have the label '204'"),
        (lambda: BATCH.letters(__file__), "is a file"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(call, words, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bf.ButforError, match=words):
        call()
    assert list(tmp_path.iterdir()) == []
