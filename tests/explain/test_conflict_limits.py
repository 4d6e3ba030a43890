"""How far conflicts are looked for, that a named one is one, and what is said of those that were not looked for."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import butfor as bf
from butfor.cli import app
from butfor.datasets import loans
from butfor.explain import blame
from butfor.solvers.conflict import MODEL as ITSELF
from butfor.solvers.conflict import RANGES, smallest_conflict
from tests.applicant import EXPLAINER, MODEL, STUCK, X, Y
from tests.shorter import first

REJECTED = X[MODEL.predict(X) == "rejected"].iloc[:30]
MORE = [*STUCK, bf.fixed("savings"), bf.linear({"amount": 1.0, "income": -0.5}, "<=", 0.0)]


def named(answers: bf.Explanations) -> list[bool]:
    """For each impossible answer, whether it names a conflict."""
    return [bool(one.conflict) for one in answers.certificates if one.status is bf.Status.PROVEN_INFEASIBLE]


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("conflicts", "most"), [(False, 0), (0, 0), (3, 3), (None, 10), ("all", 30)])
def test_conflicts_are_looked_for_in_so_many_rows(conflicts, most) -> None:
    found = named(EXPLAINER.explain(REJECTED, target="approved", constraints=STUCK, conflicts=conflicts))
    assert len(found) > 10
    assert found == [True] * min(most, len(found)) + [False] * max(0, len(found) - most)


def test_a_full_forest_names_a_conflict_by_default() -> None:
    """Boxes count little, so that enough of them are asked about."""
    X, y = make_classification(1000, 12, n_informative=8, random_state=0)
    forest = RandomForestClassifier(80, random_state=0).fit(X.round(2), y)
    rows = X.round(2)[forest.predict(X.round(2)) == 0][1:3]
    answers = bf.Explainer(forest, X.round(2)).explain(rows, constraints=bf.fixed([f"x{j}" for j in range(2, 12)]))
    assert named(answers) == [True, True]
    assert all(len(one.conflict) < 10 for one in answers.certificates)


def test_what_is_not_looked_for_is_no_reason() -> None:
    answers = EXPLAINER.explain(REJECTED, target="approved", constraints=STUCK, conflicts=False)
    why = {one.why for one in answers.certificates if one.status is bf.Status.PROVEN_INFEASIBLE}
    assert all(one.startswith("no admissible change meets the target") for one in why)
    assert not any("was not" in one for one in why)


@pytest.mark.parametrize("wrong", [True, -1, 1.5, "some"])
def test_other_limits_are_refused(wrong) -> None:
    with pytest.raises(bf.errors.InputError, match=r"It must be False, a number of rows, or 'all'"):
        EXPLAINER.explain(REJECTED.iloc[:1], conflicts=wrong)


@pytest.mark.long
def test_equal_rows_share_one_search(monkeypatch) -> None:
    searched = list[Any]()
    search = blame.Blame.smallest
    monkeypatch.setattr(blame.Blame, "smallest", lambda self: searched.append(self) or search(self))
    stuck = EXPLAINER.explain(REJECTED, target="approved", constraints=STUCK, conflicts=False)
    at = [i for i, one in enumerate(stuck.statuses) if one is bf.Status.PROVEN_INFEASIBLE][:2]
    assert not searched
    rows = pd.concat([REJECTED.iloc[at]] * 5, ignore_index=True)
    answers = EXPLAINER.explain(rows, target="approved", constraints=STUCK, conflicts=2)
    assert len(searched) == 2
    assert named(answers) == [True] * 10
    for i, one in enumerate(answers):
        alone = EXPLAINER.explain(one.factual, target="approved", constraints=STUCK, conflicts=1)
        assert one.certificate.conflict == alone.certificate.conflict, i


KINDS = {
    "tree": None,
    "linear": LogisticRegression(),
    "boosting": GradientBoostingClassifier(n_estimators=15, random_state=0),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("count", first(1, [4, 8]))
@pytest.mark.parametrize("kind", KINDS)
def test_a_named_conflict_is_one_and_none_of_it_is_needless(kind, count) -> None:
    pipeline = loans.pipeline()
    if KINDS[kind] is not None:
        pipeline.steps[-1] = (pipeline.steps[-1][0], KINDS[kind])
    model = pipeline.fit(X, Y)
    explainer = bf.Explainer(model, X)
    rows = X[model.predict(X) == "rejected"].iloc[:count]
    asked: dict[str, Any] = {"target": "approved", "conflicts": False}
    atoms = {repr(atom): atom for rule in MORE for atom in rule.atoms()}
    seen = 0
    for one in explainer.explain(rows, target="approved", constraints=MORE, conflicts="all"):
        if not one.certificate.conflict or one.certificate.stopped is bf.Stopped.EFFORT:
            continue
        parts = [atoms[text] for text in one.certificate.conflict if text not in (RANGES, ITSELF)]
        again = explainer.explain(one.factual, constraints=parts, **asked).certificate
        assert again.status is bf.Status.PROVEN_INFEASIBLE
        for needless in parts:
            rest = [part for part in parts if part is not needless]
            assert explainer.explain(one.factual, constraints=rest, **asked).only.found
            seen += 1
    assert seen > count / 2


@pytest.mark.parametrize("seed", first(6, range(30)))
def test_what_answers_keep_by_chance_saves_questions_and_changes_nothing(seed) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 12))
    minimal = [frozenset(rng.choice(count, int(rng.integers(1, 4)), replace=False).tolist()) for _ in range(3)]

    def asked(keeps: bool) -> tuple[tuple[str, ...], int]:
        questions = 0

        def kept_by_answer(chosen: Any, widen: bool) -> frozenset[int] | None:
            nonlocal questions
            questions += 1
            kept = frozenset(chosen)
            if any(one <= kept for one in minimal):
                return None
            for i in rng.permutation(count).tolist() if keeps else ():
                kept = kept if any(one <= kept | {i} for one in minimal) else kept | {i}
            return kept if keeps else frozenset()

        words, sure = smallest_conflict(list(range(count)), kept_by_answer)  # type: ignore[arg-type]
        assert sure
        return words, questions

    (plain, many), (words, few) = asked(False), asked(True)
    size = min(map(len, minimal))
    for found in (plain, words):
        assert frozenset(map(int, found)) in minimal
        assert len(found) == size
    assert few <= many
    assert all(any(one <= frozenset(some) for one in minimal) is False for some in combinations(range(count), size - 1))


def page(**asked: Any) -> str:
    return EXPLAINER.explain(REJECTED, target="approved", constraints=STUCK, **asked).to_html()


@pytest.mark.long
def test_the_conflict_of_a_row_has_as_long_as_the_row(monkeypatch) -> None:
    given, search = list[float](), blame.Blame.smallest
    monkeypatch.setattr(blame.Blame, "smallest", lambda self: given.append(self.call.left()) or search(self))
    asked = {"target": "approved", "constraints": STUCK}
    assert sum(named(EXPLAINER.explain(REJECTED, **asked, time_limit_per_row=5.0))) == len(given) == 10
    assert 4 < min(given) <= max(given) <= 5
    given.clear()
    EXPLAINER.explain(REJECTED, **asked, time_limit_per_row=5.0, time_limit=3.0)
    assert 0 < max(given) <= 3


def test_a_conflict_that_takes_too_long_is_left_open_and_the_next_row_has_its_own_time(
    monkeypatch, quick_clock
) -> None:
    asked = blame.Blame.asked

    def slow(self, *question):
        quick_clock.sleep(1.0)
        return asked(self, *question)

    monkeypatch.setattr(blame.Blame, "asked", slow)
    answers = EXPLAINER.explain(REJECTED, target="approved", constraints=STUCK, time_limit_per_row=2.0)
    assert not any(named(answers))
    why = {one.why for one in answers.certificates if one.status is bf.Status.PROVEN_INFEASIBLE}
    assert any("time" in one for one in why), why


@pytest.mark.long
def test_a_report_says_quietly_what_was_not_looked_for() -> None:
    quiet, some, every = page(conflicts=False), page(conflicts=2), page(conflicts="all")
    assert "Why rows are impossible" not in quiet
    assert "impossible rows so was not looked for, or not found.</p>" in quiet
    assert "Why rows are impossible" in some
    assert some.index("Smallest conflict") < some.index('<p class="note">What makes')
    assert "not looked for</th>" not in quiet + some
    assert "was not looked for" not in every


@pytest.mark.long
def test_the_command_takes_the_same_limits(tmp_path) -> None:
    joblib.dump(MODEL, tmp_path / "model.joblib")
    REJECTED.to_csv(tmp_path / "rows.csv", index=False)
    X.to_csv(tmp_path / "loans.csv", index=False)
    fixed = [
        "-c",
        "fixed sex,age,late_payments,amount,months,job",
        "-c",
        "only_up education",
        "-c",
        "within income:0.05",
    ]
    for words, most in (("none", 0), ("2", 2), ("all", 30)):
        out = tmp_path / f"{words}.jsonl"
        command = ["explain", *(str(tmp_path / name) for name in ("model.joblib", "rows.csv")), "--row", "0:30"]
        more = [
            "--training",
            str(tmp_path / "loans.csv"),
            "--target",
            "approved",
            "--conflicts",
            words,
            "--out",
            str(out),
        ]
        done = CliRunner().invoke(app, [*command, *fixed, *more])
        assert done.exit_code == 0, done.output
        found = named(bf.Explanations.from_jsonl(out))
        assert sum(found) == min(most, len(found))
    assert CliRunner().invoke(app, [*command, *fixed, "--conflicts", "few"]).exit_code == 2
