"""Proofs under implications: what is proven is the least cost of the rows that keep them, by trying all rows."""

from __future__ import annotations

import inspect
import json
import random
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import butfor as bf
from butfor.errors import RefutedError
from butfor.problem.constraints.implications import Implication
from butfor.problem.written.constraints import as_constraints
from butfor.proof.checker import checker
from tests.proof import by_hand, judge, test_linear, test_relations
from tests.proof.attacks import attacks, broken_by
from tests.proof.cases import Case, estimator, read, with_holes
from tests.proof.cases import table as real_table
from tests.proof.test_relations import LEARNERS, table

WHOLE: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (bf.L1(), ("if a <= 3 then job != clerk",)),
    (bf.L2(), ("if a >= 5 then c <= 0", bf.implies(bf.becomes("job", "cook"), bf.rises("c", by=1)))),
    (bf.L1() + 0.3 * bf.L0(), (bf.implies(bf.rises("a"), bf.falls("b", by=1)), bf.at_most_changes(3))),
    (bf.L1(), ("if a >= 3 then b <= 4", "a + b <= 12")),
    (bf.L0(), (bf.implies(bf.between("b", 4), bf.allowed("size", [2.5, 4.0])), "if b <= 3 then c >= 1")),
    (bf.L1(), (bf.between("a", 9), "if a >= 9 then b <= 0", "if b <= 0 then a <= 8", bf.fixed("job"))),
)
"""Costs and constraints about whole numbers and levels. Nothing keeps the last ones."""

REAL: tuple[tuple[Any, ...], ...] = (
    (bf.implies(bf.rises("income"), bf.rises("age", by=2)),),
    ("if income >= 0.3 then job != judge",),
    (bf.implies(bf.between("age", high=35), bf.falls("income", by=0.25)), bf.at_most_changes(2)),
    (bf.implies(bf.becomes("job", "judge"), bf.between("income", high=0.5)),),
)
"""Constraints about real numbers, which may be missing."""

KINDS = ("forest", "xgboost", "histogram", "lost forest", "lost xgboost")


@cache
def whole_cases(kind: str) -> tuple[Case, ...]:
    """Proofs about whole numbers and levels."""
    X, y = table()
    y = y + (X["b"].to_numpy() > 6) if "three" in kind else y
    numbers = StandardScaler() if "linear" in kind else "passthrough"
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["job", "size"]), (numbers, ["a", "b", "c"]))
    model = make_pipeline(encoder, LEARNERS[kind]).fit(X, y)
    explainer, predicted, found = bf.Explainer(model, data=X), model.predict(X), []
    for k, (cost, constraints) in enumerate(WHOLE):
        wanted = 1 + (k % 2) * ("three" in kind)
        rows = X[predicted != wanted].iloc[[k % 5]]
        answers = explainer.explain(rows, target=bf.classes(wanted), cost=cost, constraints=list(constraints))
        found += proven(answers, model, f"{kind} {k}")
    return tuple(found)


@cache
def real_cases(kind: str) -> tuple[Case, ...]:
    """Proofs about real numbers."""
    X, y = real_table()
    X, holes = (with_holes(X), [bf.may_be_missing("age")]) if "lost" in kind else (X, [])
    model = estimator(kind).fit(X, y)
    explainer, rows = bf.Explainer(model, data=X), X[model.predict(X) == 0].iloc[:3]
    found = []
    for k, constraints in enumerate(REAL):
        answers = explainer.explain(rows, target=bf.classes(1), constraints=[*constraints, *holes])
        found += proven(answers, model, f"{kind} {k}")
    return tuple(found)


def proven(answers: Any, model: Any, name: str) -> list[Case]:
    """The proofs of answers."""
    with TemporaryDirectory() as folder:
        proofs = bf.prove(answers, model, folder)
        assert proofs.verified == len(proofs), proofs
        assert bf.check(answers, model, proof=folder).passed
        return [read(one.file, name) for one in proofs if one.file is not None]


@pytest.mark.long
@pytest.mark.parametrize("kind", LEARNERS)
def test_what_is_proven_is_the_least_cost(kind: str) -> None:
    for case in whole_cases(kind):
        assert "Never at once: " in case.check()
        assert not test_relations.is_false(case)
        if case.own["below"] is not None:
            assert test_relations.is_false(case.bolder(1 + 1e-6))
    assert whole_cases(kind)[-1].own["below"] is None


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_least_cost_of_real_numbers_is_proven(kind: str) -> None:
    for case in real_cases(kind):
        assert not case.false()
        if case.own["below"] is not None:
            assert case.bolder(1 + 1e-6).false()


def test_a_rule_holds_where_the_implication_does() -> None:
    """Of every row of small grids, butfor's own constraints say the same as the rules in the proof."""
    X, _ = table()
    encoder = make_column_transformer((OneHotEncoder(), ["job", "size"]), remainder="passthrough")
    space = bf.Explainer(make_pipeline(encoder, LEARNERS["tree"]).fit(X, X["a"] > 4), data=X).space
    for case, (_, constraints) in zip(whole_cases("tree"), WHOLE, strict=True):
        kept = {**case.own, "relations": []}
        rows = [row for row, _, _ in test_linear.rows_of(case)]
        mine = [one["now"] if "prices" in one else float.fromhex(one["now"]) for one in case.own["columns"]]
        after = np.array(rows, dtype=float)
        holds = np.ones(len(rows), dtype=bool)
        for one in as_constraints(constraints, space):
            if isinstance(one, Implication):
                holds &= one.holds_between(space, np.tile(np.array(mine, dtype=float), (len(rows), 1)), after)
        assert holds.tolist() == [test_relations.keeps(kept, row) for row in rows]
        assert holds.sum() < len(rows)


def another(r: random.Random, case: Case) -> Case:
    """A case with something changed: the claim, a rule, an end of a cell, or a step."""
    own, steps = json.loads(json.dumps(case.own)), list(case.steps)
    own["answer"] = None
    for _ in range(r.choice([1, 1, 2])):
        what, rule, k = r.randrange(5), r.choice([rule for rule in own["never"] if rule]), r.randrange(len(steps))
        place = r.choice(rule)
        if what == 0 and own["below"] is not None:
            own["below"] = (float.fromhex(own["below"]) * r.choice([1 + 1e-7, 1.01, 1.3, 3.0])).hex()
        elif what == 1 and len(place) == 2:
            place[1] = r.sample(range(3), r.randrange(4))
        elif what == 1:
            place[r.choice([1, 2])] = r.choice([None, (r.randrange(-9, 20) / 2).hex(), float(r.randrange(9)).hex()])
        elif what == 2:
            more = r.choice([rule[:1], rule[1:], rule[::-1], rule * 2, []])
            own["never"] = [*own["never"], more] if r.random() < 0.3 else [more, rule][more != [] :]
        elif what == 3:
            column = r.choice(own["columns"])
            if "ends" in column:
                column["ends"] = [x for x in column["ends"] if r.random() < 0.7] + [(r.randrange(-9, 20) / 2).hex()]
        else:
            j = r.randrange(len(own["columns"]))
            split = {"split": [j, r.choice([1, "1", "2", (r.randrange(-9, 20) / 2).hex(), "stay"])]}
            steps[k] = json.dumps(r.choice([{"end": "dual"}, {"end": "score"}, {"drop": 1}, split]))
    return replace(case, own=own, steps=steps)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 40), pytest.param(1, 2500, marks=pytest.mark.long)])
def test_no_attack_makes_a_false_claim_verify(seed: int, count: int) -> None:
    r, every = random.Random(seed), [case for kind in LEARNERS for case in whole_cases(kind)]
    accepted = [case for case in (another(r, r.choice(every)) for _ in range(count)) if case.accepted()]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if test_relations.is_false(case)]


@pytest.mark.long
@pytest.mark.parametrize(("seed", "count"), [(0, 20), pytest.param(1, 1500, marks=pytest.mark.long)])
def test_no_lie_about_real_numbers_is_believed(seed: int, count: int) -> None:
    every = tuple(case for kind in KINDS for case in real_cases(kind))
    accepted = [case for case in attacks(random.Random(seed), every, count) if case.accepted()]
    assert len(accepted) > count / 20
    assert not [case for case in accepted if case.false()]


def ruled(name: str, rules: list[Any], below: float, *steps: Any, **own: Any) -> Case:
    """A claim about x and y, which cost 1 a unit from 0 on. What is wanted is x above 1, and rules join them."""
    columns = [by_hand.number(0.0, 1.0), {**by_hand.number(0.0, 1.0), **own}]
    tree, parted = by_hand.tree((0, 1.0, 1, 2), 0.0, 1.0), [{"split": [0, 1]}, {"end": "score"}]
    case = by_hand.case(name, [tree], columns, 1.0, below, *parted, *steps)
    return replace(case, own={**case.own, "never": rules})


def x_and_y(x: float | None, y: float | None, most: float | None = None) -> list[Any]:
    """That x is above a number, and y above and at most others."""
    ends = [None if end is None else float(end).hex() for end in (x, y, most)]
    return [[0, ends[0], None, False], [1, *ends[1:], False]]


def false_by_hand() -> list[Case]:
    """False claims, each for one fault that a checker could have. Rows with x above 1 cost 1, if y may stay 0."""
    end, ends = {"end": "dual"}, {"ends": [(-0.5).hex(), (1.5).hex(), (0.0).hex()]}
    cut, middle = 1.0 + 2.0**-23, 1.0 + 1.5 * 2.0**-23  # what lies in the middle is read as more
    just = ruled("the middle itself", [[[0, middle.hex(), None, False]]], 1.5, end)
    reads = just.content.replace('"reads": "float64"', '"reads": "float32"')
    just = replace(
        just, content=reads.replace('"cut": ["' + (1.0).hex(), '"cut": ["' + cut.hex()), steps=['{"end":"score"}']
    )
    return [
        ruled("y is 0, and above -0.5", [x_and_y(1, -0.5, -0.5)], 1.5, end, **ends),
        ruled("y is not above 0", [x_and_y(1, 0)], 1.5, end, **ends),
        ruled("only if x is above 2", [x_and_y(2, None)], 1.5, end),
        ruled("y may be above 1.5", [x_and_y(1, None, 1.5)], 3.0, end, **ends),
        ruled("y may be at most -0.5", [x_and_y(1, -0.5)], 2.0, end, **ends),
        ruled("a part of a cell", [x_and_y(1, None, 0.25)], 1.6, end, ends=[1]),
        ruled("the upper part of a cell", [x_and_y(1, -0.25)], 1.6, end, ends=[(-0.5).hex()]),
        ruled("two rules that do not meet", [x_and_y(2, None), x_and_y(None, 3)], 1.5, end, **ends),
        ruled("nothing never", [[]], 1.5, end),
        replace(
            ruled("y need not be above 0.5", [x_and_y(1, 0.5)], 1.5, ends=[(0.5).hex()]), steps=['{"end":"score"}']
        ),
        just,
    ]


def true_by_hand() -> list[Case]:
    """Rows with x above 1 cost 1.5 if y must be at most -0.5 then, and there are none if x must not be so much."""
    end, ends = {"end": "dual"}, {"ends": [(-0.5).hex()]}
    none = replace(ruled("no x", [[[0, 1, None, False]]], 4.0), steps=['{"end":"score"}'])
    return [ruled("y follows", [x_and_y(1, -0.5)], 1.499, end, **ends), none]


def weighed(
    name: str, rule: list[Any], below: float, *, low: float = -10.0, fee: float = 0.0, stay: bool = True
) -> Case:  # fmt: skip
    """A claim about the value of x, which is to be at least 1. It is 0, and costs 1 a unit; a fee is for changing y."""
    columns = [
        {**by_hand.number(0.0, 1.0, low), "stay": stay},
        {**by_hand.number(0.0, 1.0), "price": [fee.hex(), 0, 0]},
    ]
    case = by_hand.case(name, [], columns, 1.0, below, {"end": "dual"}, grid=["1/2", "0"])
    about = [{**its, "line": [1, 0, 0]} for its in case.shared["columns"]]
    told = {"format": "butfor.linear/1", "sum": "value", "base": 0, "weights": [1, 0]}
    shared, own = {**case.shared, "columns": about}, {**case.own, "never": [rule]}
    return replace(case, shared=shared, own=own, kind="linear", content=json.dumps(told))


def false_by_weights() -> list[Case]:
    """False claims, each for one fault that a checker could have: rows of 1 cost 1, and of 2.5 cost 2.5."""
    two, half, one, five = ((x).hex() for x in (2.0, 0.5, 1.0, 5.0))
    return [
        weighed("x is above 2", [[0, None, two, False]], 2.6),
        weighed("x is at most 2", [[0, two, None, False]], 1.5),
        weighed("x is above 0.5", [[0, None, half, False]], 1.5),
        weighed("x may be 1", [[0, one, None, False]], 1.5, low=1.0, stay=False),
        weighed("y may stay 0", [[1, five, None, False]], 2.0, fee=3.0),
        weighed("y may be 0, too", [[0, half, None, False], [1, None, half, False]], 4.5, fee=3.0),
    ]


def is_false(case: Case) -> bool:
    """Whether a row that costs less gets what is wanted, by the judge."""
    if case.kind != "linear":
        return case.false()
    rows = test_linear.rows_of(case)
    return any(row[0] >= 1 and cost < judge.number(case.own["below"]) and test_relations.keeps(case.own, row)
               for row, cost, _ in rows)  # fmt: skip


@pytest.mark.parametrize("case", [*false_by_hand(), *false_by_weights()], ids=lambda case: case.name)
def test_a_false_claim_by_hand_is_refused(case: Case) -> None:
    assert case.name == "nothing never" or is_false(case)
    assert not case.accepted()
    assert all(one.accepted() for one in true_by_hand())


def chain(count: int) -> Case:
    """Each of some columns must be "yes" if the one before is, which costs 1. The first must be. The last rule comes first."""
    column = {"now": 0, "prices": [0, 1]}
    columns = [{**column, "prices": [None, 1]}, *[column] * (count - 1)]
    found = by_hand.case("", [by_hand.tree((0, 0.5, 1, 2), 1.0, 1.0)], [], 1.0, count - 0.5, {"end": "score"})
    about = [{"name": f"x{j}", "features": [j], "levels": [["no", 0], ["yes", 1]]} for j in range(count)]
    never = [[[j - 1, [1]], [j, [0]]] for j in range(count - 1, 0, -1)]
    return replace(
        found, shared={**found.shared, "columns": about}, own={**found.own, "columns": columns, "never": never}
    )


def test_a_long_chain_of_rules_ends() -> None:
    case, limit = chain(300), sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        assert case.accepted()
    finally:
        sys.setrecursionlimit(limit)
    assert not replace(case, own={**case.own, "below": (300.5).hex()}).accepted()


SABOTAGE = {
    "leaves out what may be": ("if len(free) < 2:", "if len(free) < 3:"),
    "takes a cell for the set": ("inside = [end <= most and", "inside = [begin < most and"),
    "takes the end of a cell for the next one": ("(begin == above and open)) for", "begin == above) for"),
    "begins cells too low": ("and (begin > above or", "and (end > above or"),
    "keeps what is in the set": ("lambda j, cells, its: cells & ~its", "lambda j, cells, its: cells & its"),
    "takes part of a range for the set": ("change and not (begins and ends)", "change and not (begins or ends)"),
    "forgets that numbers may stay": ("stay and not self.column.lies(self.column.now, its)", "False"),
    "leaves out the other side": ("above = max(above, its[1])", "above = max(above, its[1] + 1)"),
    "misses the range of a column": ("min(most, self.column.high) <= its[1]", "min(most, self.column.low) <= its[1]"),
    "takes an end for a number of the set": ("max(above, self.column.low) > its[0]", "max(above, self.column.low) >= its[0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_broken_checker_is_found_out(name: str) -> None:
    by = broken_by(*SABOTAGE[name])
    assert any(case.accepted(by) for case in [*false_by_hand(), *false_by_weights()])


def test_a_false_claim_ends_in_a_row_that_keeps_the_rule(tmp_path: Path) -> None:
    X, y = table()
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["job", "size"]), remainder="passthrough")
    for kind in ("forest", "linear"):
        model = make_pipeline(encoder, LEARNERS[kind]).fit(X, y)
        answers = bf.Explainer(model, data=X).explain(
            X[model.predict(X) == 0].iloc[:1], target=bf.classes(1), constraints=["if a >= 2 then b <= 5"]
        )
        (one,) = answers.certificates
        false = replace(answers, certificates=[replace(one, bound=2 * one.cost, cost=2 * one.cost)])
        with pytest.raises(RefutedError, match="1 of 1 claims are false"):
            bf.prove(false, model, tmp_path)


@pytest.mark.long
def test_an_answer_that_breaks_a_rule_is_refused() -> None:
    for kind in ("forest", "linear"):
        case = next(case for case in whole_cases(kind) if case.own["answer"])
        values = [x if isinstance(x, int) else float.fromhex(x) for x in case.own["answer"]]
        parts = [[j, [x]] if isinstance(x, int) else [j, (x - 0.5).hex(), (x + 0.5).hex(), False]
                 for j, x in enumerate(values)]  # fmt: skip
        with pytest.raises(checker().Wrong, match="the answer breaks a relation or a rule"):
            replace(case, own={**case.own, "never": [parts]}).check()


def test_the_words_are_those_of_the_rule() -> None:
    assert "Never at once: a is at most 3.5, and job is clerk." in whole_cases("tree")[0].check()
    found = "".join(case.check() for case in real_cases("lost forest"))
    assert "or missing" in found


def test_a_missing_number_in_a_rule_must_be_one_that_may_be_missing() -> None:
    for case in (true_by_hand()[0], whole_cases("linear")[0]):
        rule = [next([j, None, None, True] for j, its in enumerate(case.own["columns"]) if "prices" not in its)]
        with pytest.raises(checker().Wrong, match="is missing in a rule"):
            replace(case, own={**case.own, "never": [rule], "answer": None}).check()
