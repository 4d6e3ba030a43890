"""Rules in a file: what they mean is what the same arguments mean, they are noted, written again, and wrong ones are placed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import butfor as bf
from butfor.datasets import loans
from butfor.problem.written.constraints import read_constraint

TEXT = """
target = "approved"
cost = "L1 + 0.1*L0"
constraints = ["income <= 90000", "if job == permanent then income >= 20000"]

[columns.age]
frozen = true
label = "Age"

[columns.education]
direction = "up"

[columns.amount]
range = [1000, 20000]
step = 500
unit = "EUR"

[columns.months]
kind = "step"
step = 6
low = 12
high = 72
price = 2

[prediction]
levels = { approved = "granted" }
"""
X, Y = loans.load()
X = X.head(300)
MODEL = loans.pipeline().fit(X, Y[:300])
ROW = X.iloc[[206]]

BY_HAND: dict[str, Any] = {
    "target": "approved",
    "cost": bf.L1(weights={"months": 2.0}) + 0.1 * bf.L0(weights={"months": 2.0}),
    "constraints": [
        bf.fixed("age"), bf.only_up("education"), bf.between("amount", 1000, 20000), bf.step("amount", 500),
        bf.between("income", high=90000), bf.implies(bf.allowed("job", ["permanent"]), bf.between("income", 20000)),
    ],
}  # fmt: skip
WORDS = bf.describe(
    {"age": bf.Column("Age"), "amount": bf.Column(unit="EUR")}, prediction=bf.Column(levels={"approved": "granted"})
)


def test_rules_mean_what_the_same_arguments_mean(tmp_path) -> None:
    (tmp_path / "rules.toml").write_text(TEXT, encoding="utf-8")
    read = bf.rules(tmp_path / "rules.toml")
    ruled = bf.Explainer(MODEL, X, rules=read).explain(ROW)
    plain = bf.Explainer(MODEL, X, space={"months": bf.Step(6, low=12, high=72)}, words=WORDS).explain(ROW, **BY_HAND)
    assert ruled.only.found
    assert ruled == plain
    assert ruled.question.spec == plain.question.spec
    assert repr(ruled) == repr(plain)
    assert ruled.meta == {"rules": {"file": "rules.toml", "sha256": read.origin.digest}}
    assert "rules.toml" in ruled.to_html()
    assert bf.Explanations.from_json(ruled.to_json()).meta == ruled.meta
    assert bf.check(ruled, MODEL).passed


@pytest.mark.long
def test_every_question_is_under_the_rules() -> None:
    explainer, plain = bf.Explainer(MODEL, X, rules=bf.rules(TEXT)), bf.Explainer(MODEL, X, space=bf.rules(TEXT).space)
    assert [one.cost for one in explainer.menu(ROW, most=2)] == [one.cost for one in plain.menu(ROW, most=2, **BY_HAND)]
    under = {name: BY_HAND[name] for name in ("cost", "constraints")}
    goals = [bf.probability("approved", 0.5), bf.probability("approved", 0.6)]
    assert [one.cost for one in explainer.ladder(ROW, goals)] == [one.cost for one in plain.ladder(ROW, goals, **under)]
    levers, known = bf.groups.levers(explainer, X[204:208]), bf.groups.levers(plain, X[204:208], **BY_HAND)
    assert levers.equals(known)
    assert repr(explainer.solvers(ROW)) == repr(plain.solvers(ROW, **BY_HAND))
    further = explainer.explain(ROW, constraints="fixed amount")
    assert further == plain.explain(ROW, **{**BY_HAND, "constraints": [*BY_HAND["constraints"], bf.fixed("amount")]})
    answer = explainer.explain(ROW)
    again = explainer.without(answer, answer.changes[0].name)
    assert answer.changes[0].name not in [change.name for change in again.changes]


def test_a_portfolio_is_under_the_rules_and_so_is_its_second_pass(tmp_path) -> None:
    explainer = bf.Explainer(MODEL, X, rules=bf.rules(TEXT))
    made = explainer.portfolio(X[200:210], tmp_path / "folder", n_jobs=1, progress=False)
    assert [one.cost for one in made] == [one.cost for one in explainer.explain(X[200:210])]
    again = explainer.retry(tmp_path / "folder", time_limit_per_row=5, n_jobs=1, progress=False)
    assert [one.cost for one in again] == [one.cost for one in made]


def test_what_was_asked_is_written_and_read_again() -> None:
    read = bf.rules(TEXT)
    again = bf.rules(read.to_toml())
    assert (again.cost, again.space, again.words) == (read.cost, read.space, read.words)
    answer = bf.Explainer(MODEL, X, rules=read).explain(ROW)
    for rules in (again, bf.rules(bf.rules(answer).to_toml())):
        asked = bf.Explainer(MODEL, X, space=None if rules.space else read.space, rules=rules).explain(ROW)
        assert asked.question.spec == answer.question.spec
    assert pickle.loads(pickle.dumps(read)) == read


WRITTEN = {
    "names": (bf.fixed("age", "sex"), bf.only_down("late_payments"), bf.may_be_missing("savings")),
    "ends": (bf.between("age", 20), bf.between("income", high=22150.5), bf.between("education", "school", "college")),
    "steps": (bf.within("income", 0.1), bf.step("amount", 250), bf.at_most_changes(3), bf.margin(0.001)),
    "levels": (bf.allowed("job", ["permanent", "temporary"]), bf.allowed("housing", ["rents"])),
    "sums": (bf.linear({"amount": 1, "income": -0.6}, "<=", -12.5),),
    "conditions": (
        bf.implies(bf.between("income", 30000), bf.allowed("job", ["permanent", "temporary"])),
        bf.implies(bf.allowed("job", ["permanent", "temporary"]), bf.allowed("housing", ["owns", "rents"])),
        bf.implies(bf.rises("education"), bf.rises("age", 2)), bf.implies(bf.becomes("job", "permanent"), bf.between("age", 20)),
    ),
    "consequences": (
        bf.follows("savings", 0.25, "income"), bf.follows("age", 2, bf.rises("education")),
        bf.follows("months", -3.5, bf.becomes("job", "permanent")),
    ),
    "together": (bf.combinations("job", "housing"), bf.at_most_changes(4)),
    "balls": (bf.robust({"income": 500, "age": 2}),),
    "one ball": (bf.robust(0.01),),
}  # fmt: skip


@pytest.mark.parametrize("constraints", WRITTEN.values(), ids=WRITTEN)
def test_constraints_survive_a_file(constraints) -> None:
    explainer = bf.Explainer(MODEL, X)
    written = bf.rules(bf.rules({"constraints": constraints}).to_toml()).constraints
    assert all(isinstance(one, str) for one in written)
    specs = [explainer.explain(ROW, "approved", constraints=given).question.spec for given in (constraints, written)]
    assert specs[0] == specs[1]


@pytest.mark.parametrize(
    "constraint",
    [bf.computed("savings", "round(income / 2 - 3 * age, 1)"), bf.linked("education", "months"), bf.confident(0.95)],
    ids=repr,
)
def test_constraints_that_this_data_contradicts_survive_a_file(constraint) -> None:
    (written,) = bf.rules(bf.rules({"constraints": [constraint]}).to_toml()).constraints
    assert read_constraint(written, bf.Explainer(MODEL, X).space) == [constraint]


COSTS = [
    bf.L1(), 0.5 * bf.L2() + bf.L0(), bf.Gower(), bf.L1({"age": 3.0}) + bf.LInf({"age": 3.0}),
    11 * bf.L0(), bf.L1() + 21.0 * bf.L2(),
    bf.L1() + bf.Missing(lost=3.0, found={"savings": 0.1}), 2 * bf.L1({"age": 0.0}) + bf.Missing(found=0.5),
]  # fmt: skip


@pytest.mark.parametrize("cost", COSTS, ids=repr)
def test_costs_survive_a_file(cost) -> None:
    assert bf.rules(bf.rules({"cost": cost}).to_toml()).cost == cost


@pytest.mark.parametrize("cost", [bf.L1(scale="mad"), bf.L1({"age": 2.0}) + bf.L0(), bf.Table({"job": {"nurse": 1.0}})])
def test_costs_that_a_file_cannot_say_are_refused(cost) -> None:
    with pytest.raises(ValueError, match="cannot be written into a file"):
        bf.rules({"cost": cost}).to_toml()


TARGETS = [
    'target = ["approved", "rejected"]', 'target = "other"', "[target]\nclass = \"approved\"\nprobability = 0.6",
    '[target]\nclass = "approved"\nprobability = 0.4\nprobability_at_most = 0.6', "[target]\nclass_costs = {approved = 0.5}",
    "[target]\nat_least = 3\nat_most = 4.5", "[target]\nrelative_change = -0.2", '[target]\nmean_gain = 90.0\nunit = "days"',
    "[target]\nmedian_gain = 90.0", "[target]\nsurvival_at = [365.0, 0.8]", "[target]\nquantile_at_least = [0.25, 365.0]",
]  # fmt: skip


@pytest.mark.parametrize("text", TARGETS)
def test_targets_survive_a_file(text) -> None:
    read = bf.rules(text + "\n")
    assert bf.rules(read.to_toml()).target == read.target


def test_labels_that_are_no_text_are_classes() -> None:
    rows = X[["age", "income"]].to_numpy(dtype=float)
    model = LogisticRegression(max_iter=5000).fit(rows, rows[:, 1] > 30_000)
    answer = bf.Explainer(model, rows, rules=bf.rules("target = true\n")).explain(rows[[6]])
    assert answer.after


WRONG = {
    "not TOML": ("target = approved", "is not TOML"),
    "unknown name": ('\ntrget = "approved"', "line 2: 'trget' is not known.*'target'"),
    "unknown name of a column": ("[columns.age]\nfrozn = true", r"line 2: 'frozn' is not known in \[columns.age\].*'frozen'"),
    "below a table": ('[target]\nclass = "approved"\nconstraints = []', "line 3: 'constraints' stands in .target"),
    "unknown class": ('target = "aproved"', "line 1: the target 'aproved'.*'approved'"),
    "two targets": ("[target]\nat_least = 3\nrelative_change = 0.2", "at_least in .target. and relative_change in .target."),
    "unknown column": ("[columns.incom]\nfrozen = true", "line 2: there is no column 'incom'.*'income'"),
    "unknown column with words": ('[columns.incom]\nlabel = "x"', "line 1: there is no column 'incom'.*'income'"),
    "unknown column in a text": ('constraints = [\n  "incme <= 3",\n]', "line 2: the constraint 'incme <= 3'.*'income'"),
    "unreadable text": ('constraints = [\n"",\n"income is 3"]', "cannot be read"),
    "no direction": ('[columns.age]\ndirection = "upwards"', 'line 2: direction.*"up" or "down"'),
    "one end": ("[columns.age]\nrange = 3", "takes two ends"),
    "an end without a kind": ("[columns.age]\nlow = 3", "has an end or values, and no kind"),
    "unknown kind": ('[columns.age]\nkind = "int"', "The kinds are continuous, integer"),
    "a step of integers": ('[columns.age]\nkind = "integer"\nstep = 3', "with step"),
    "price below 0": ("[columns.age]\nprice = -1", "line 2: the price -1"),
    "price that a cost lacks": ('cost = "Gower"\n[columns.age]\nprice = 2', "have prices of their own"),
    "price of an unknown column": ("[columns.agee]\nprice = 2", "line 2: .*'agee'.*'age'"),
    "unknown cost": ('cost = "L7"\n', "line 1: cost='L7'"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_wrong_rules_are_told_with_their_place(text, said) -> None:
    with pytest.raises(bf.ButforError, match=f"(?s){said}"):
        bf.Explainer(MODEL, X, rules=bf.rules(text + "\n"))


def test_one_thing_is_said_in_one_place() -> None:
    explainer = bf.Explainer(MODEL, X, rules=bf.rules(TEXT))
    for arguments, said in (({"target": "approved"}, "target='approved' was given"), ({"cost": bf.L1()}, "cost=L1")):
        with pytest.raises(bf.ButforError, match=said):
            explainer.explain(ROW, **arguments)
    with pytest.raises(bf.ButforError, match="space declares 'months'"):
        bf.Explainer(MODEL, X, rules=bf.rules(TEXT), space={"months": bf.Integer()})
    with pytest.raises(bf.ButforError, match="words= was given"):
        bf.Explainer(MODEL, X, rules=bf.rules(TEXT), words=WORDS)


def test_other_things_are_no_rules(tmp_path) -> None:
    with pytest.raises(FileNotFoundError):
        bf.rules(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes('[columns]\nage = "Größe"'.encode("latin-1"))
    with pytest.raises(ValueError, match="not text in UTF-8"):
        bf.rules(tmp_path / "latin.toml")
    with pytest.raises(TypeError, match="Rules are needed"):
        bf.Explainer(MODEL, X, rules="rules.toml")
    with pytest.raises(TypeError, match="int was given"):
        bf.rules(3)
    ends = bf.implies(bf.between("education", "school", "college"), bf.rises("age", 2))
    for unsayable in (bf.candidates(X), ends, bf.allowed("job", ["'\"`"])):
        with pytest.raises(ValueError, match="cannot be written into a file"):
            bf.rules({"constraints": [unsayable]}).to_toml()
    regressor = bf.Explainer(Ridge().fit(X[["age", "income"]], range(300)), X[["age", "income"]])
    answer = regressor.explain(X[["age", "income"]].head(1), bf.value(at_least=100), cost=bf.Table({"age": abs_price}))
    with pytest.raises(ValueError, match="does not hold"):
        bf.rules(answer)


def abs_price(before: float, after: Any) -> Any:
    return abs(after - before)


def test_a_file_of_words_is_a_file_of_rules(tmp_path) -> None:
    path: Path = tmp_path / "words.toml"
    path.write_text(
        '[columns]\nage = "Age"\n[columns.amount]\nunit = "EUR"\n[prediction]\nlevels = {approved = "granted"}'
    )
    assert bf.rules(path).words == bf.describe(path) == WORDS
