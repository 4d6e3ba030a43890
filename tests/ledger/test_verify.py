"""Who changes a log by hand is found: `verify` names the first entry that is false."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.ledger.chain import linked
from tests.ledger.asked import answers, by_hand, filled, seen
from tests.portfolio.asked import explainer, table

CHANGED = "was changed: its digest is not that of what it says."
RECORD = "has a false record: its digest is not that of what it says."
BY_HAND = {
    "who asked": ("UPDATE butfor_entries SET who = 'Mr Yu' WHERE number = 5", 5, CHANGED),
    "when": ("UPDATE butfor_entries SET at = '2020' WHERE number = 5", 5, CHANGED),
    "the model": ("UPDATE butfor_entries SET model = '' WHERE number = 1", 1, CHANGED),
    "the question": ("UPDATE butfor_entries SET question = 'False' WHERE number = 8", 8, CHANGED),
    "the kind": ("UPDATE butfor_entries SET kind = 'purge' WHERE number = 5", 5, CHANGED),
    "the digest of the record": ("UPDATE butfor_entries SET content = digest WHERE number = 5", 5, CHANGED),
    "the record": ("UPDATE butfor_entries SET own = replace(own, '1', '2') WHERE number = 5", 5, RECORD),
    "the salt": ("UPDATE butfor_entries SET salt = '' WHERE number = 5", 5, RECORD),
    "no salt": ("UPDATE butfor_entries SET salt = NULL WHERE number = 5", 5, RECORD),
    "which text is shared": ("UPDATE butfor_entries SET shared = digest WHERE number = 5", 5, RECORD),
    "the text that all share": (
        "UPDATE butfor_shared SET text = replace(text, 'age', 'sex')",
        1,
        "has a false record: what it shares with others was changed.",
    ),
    "no text that all share": (
        "DELETE FROM butfor_shared",
        1,
        "has a false record: what it shares with others was changed.",
    ),
    "a removed entry": ("DELETE FROM butfor_entries WHERE number = 5", 5, "is missing."),
    "a removed first entry": ("DELETE FROM butfor_entries WHERE number = 1", 1, "is missing."),
    "removed last entries": (
        "DELETE FROM butfor_entries WHERE number > 6",
        7,
        "is missing: the log itself says that it has 8.",
    ),
    "no entries": ("DELETE FROM butfor_entries", 1, "is missing: the log itself says that it has 8."),
    "a record taken away": (
        "UPDATE butfor_entries SET own = NULL, salt = NULL, shared = NULL WHERE number = 5",
        5,
        "has no record, and no purge is noted that took it away.",
    ),
    "another head": (
        "UPDATE butfor_log SET digest = 'x'",
        8,
        "is not known to the head of the log, which is entry 8, x.",
    ),
    "an earlier head": (
        "UPDATE butfor_log SET number = 6, digest = 'x'",
        6,
        "is not known to the head of the log, which is entry 6, x.",
    ),
}


@pytest.mark.shorter(12)
@pytest.mark.parametrize("what", BY_HAND)
def test_what_is_changed_by_hand_is_found(where: str, what: str) -> None:
    words, number, why = BY_HAND[what]
    filled(where)
    by_hand(where, words)
    with bf.Log(where) as log:
        found = log.verify(explainer())
    assert (found.passed, found.false, found.why, found.entries) == (False, number, why, number - 1)
    assert repr(found) == f"FAILED - entry {number} {why}\nthe {number - 1} entries before it hold"


def test_entries_that_change_places_are_found(where: str) -> None:
    filled(where)
    by_hand(
        where,
        *(f"UPDATE butfor_entries SET number = {new} WHERE number = {old}" for old, new in ((3, 99), (4, 3), (99, 4))),
    )
    with bf.Log(where) as log:
        assert log.verify().false == 3


def test_an_entry_that_was_made_up_does_not_fit_the_next_one(where: str) -> None:
    filled(where)
    with bf.Log(where) as log:
        forged = replace(log.entry(4), who="Mr Yu")
        own = linked(forged, 4, forged.previous)
        by_hand(where, f"UPDATE butfor_entries SET who = 'Mr Yu', digest = '{own}' WHERE number = 4")
        found = log.verify()
        assert found.false == 5
        assert found.why.startswith("does not follow the entry before")


def test_a_purge_by_hand_is_found_though_another_one_is_noted(where: str) -> None:
    filled(where)
    with bf.Log(where) as log:
        log.purge("0 days")
        log.append(answers())
        by_hand(where, "UPDATE butfor_entries SET own = NULL, salt = NULL, shared = NULL WHERE number = 12")
        assert log.verify().false == 12


def test_a_chain_that_was_rewritten_lacks_the_head_that_was_noted(where: str) -> None:
    filled(where)
    with bf.Log(where) as log:
        noted = log.head
        log.append(answers())
        assert log.verify(head=noted).passed
        previous = log.entry(3).digest
        for number in range(4, 17):
            one = replace(log.entry(number), who="Mr Yu")
            digest = linked(one, number, previous)
            by_hand(
                where,
                f"UPDATE butfor_entries SET who = 'Mr Yu', previous = '{previous}', digest = '{digest}' "
                f"WHERE number = {number}",
            )
            previous = digest
        by_hand(where, f"UPDATE butfor_log SET digest = '{previous}'")
        assert log.verify().passed, "no chain alone shows that"
        with pytest.raises(ValueError, match="No entry has this digest"):
            log.verify(head=noted)


def test_a_false_answer_is_found_by_the_model(where: str) -> None:
    cheaper = replace(
        answers(), certificates=[replace(one, cost=one.cost / 2, bound=one.cost / 2) for one in answers().certificates]
    )
    with bf.Log(where) as log:
        log.append(answers())
        log.append(cheaper)
        assert log.verify().passed
        found = log.verify(explainer())
    wrong = [8 + i for i, cost in enumerate(answers().costs.tolist(), 1) if cost > 0]
    assert len(wrong) > 2
    assert [number for number, _ in found.failed] == wrong
    assert not found.passed
    assert "FAILED - the cost is" in found.failed[0][1]
    assert repr(found).startswith(f"FAILED - entry {wrong[0]}:\n")


def test_answers_of_other_models_are_counted(where: str) -> None:
    X, y = table()
    numbers = X.drop(columns="job")
    other = bf.Explainer(DecisionTreeClassifier(max_depth=2, random_state=0).fit(numbers, y), numbers)
    with bf.Log(where) as log:
        log.append(answers())
        log.append(other.explain(numbers.head(3), target=True))
        log.append(answers())
        found = log.verify(explainer(), bounds=False)
        assert (found.passed, found.checked, found.others) == (True, 16, 3)
        assert "3 of other models were not checked" in repr(found)
        assert log.verify(other.model).checked == 3
        with pytest.raises(ValueError, match="no answer in the log is of this model"):
            log.verify(DecisionTreeClassifier(max_depth=1).fit(numbers, y))


def test_black_boxes_of_other_classes_are_other_models(where: str) -> None:
    X, y = table()
    numbers = X.drop(columns="job").head(40)
    near = bf.Explainer(KNeighborsClassifier(1).fit(numbers, y[:40]), numbers)
    asked = bf.Explainer(bf.black_box(lambda rows: ~near.model.predict(rows), classes=[False, True]), numbers)
    with bf.Log(where) as log:
        for one in (near, asked):
            log.append(one.explain(numbers.head(3), target=True, solver=bf.Swarm(particles=5, iterations=5)))
        assert {entry.model for entry in log} == {""}
        for one in (near, asked):
            found = log.verify(one, bounds=False)
            assert (found.passed, found.checked, found.others) == (True, 3, 3), found


def test_an_empty_log_holds(where: str) -> None:
    with bf.Log(where) as log:
        assert log.verify(explainer()).passed
        assert list(log) == log.last(3) == []
        assert bool(log)
    assert seen(where, "SELECT number FROM butfor_log")[0][0] == 0
