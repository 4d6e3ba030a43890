"""Whatever a user names and mistypes: the error says which name was meant."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.errors import choice, suggested, suggests

X, Y = loans.load()
MODEL = loans.pipeline().fit(X, Y)
EXPLAINER = bf.Explainer(MODEL, data=X)
ROW = X[MODEL.predict(X) == "rejected"].iloc[[0]]
ANSWERS = EXPLAINER.explain(ROW, k=3)


def asked(**options: Any) -> Any:
    return lambda: EXPLAINER.explain(ROW, **options)


MEANT = {
    "an argument": (asked(constraint=[]), "explain.*no argument 'constraint'.*Did you mean 'constraints'"),
    "another word for it": (asked(n=3), "Did you mean 'k'"),
    "an argument of a method with several answers": (
        lambda: EXPLAINER.menu(ROW, max=2),
        "Explainer.menu.*Did you mean 'most'",
    ),
    "an argument of an explainer": (lambda: bf.Explainer(MODEL, data=X, word=None), "Did you mean 'words'"),
    "an argument of an answer": (lambda: ANSWERS[0].to_text(lang="de"), "to_text.*Did you mean 'language'"),
    "an argument of answers": (lambda: ANSWERS.to_frame(from_="long"), "to_frame.*Did you mean 'form'"),
    "an argument of a cost": (lambda: bf.L1(weight={}), r"L1\(.*Did you mean 'weights'"),
    "an argument of a constraint": (lambda: bf.between("age", min=3), "between.*Did you mean 'low'"),
    "an argument of a target": (lambda: bf.value(atleast=3), "value.*Did you mean 'at_least'"),
    "an argument of survival": (lambda: bf.survival.mean_gain(3, units="days"), "mean_gain.*Did you mean 'unit'"),
    "an argument of a column": (lambda: bf.Integer(lo=3), "Integer.*Did you mean 'low'"),
    "an argument of words": (lambda: bf.Column("Age", units="years"), "Column.*Did you mean 'unit'"),
    "a class": (asked(target="aproved"), "Its classes are 'approved', 'rejected'.*Did you mean 'approved'"),
    "a class with a probability": (asked(target=bf.probability("Approved", 0.8)), "Did you mean 'approved'"),
    "a per cent": (asked(target=bf.probability("approved", 80)), "Did you mean 0.8"),
    "a column of a constraint": (asked(constraints=bf.fixed("agee")), r"^fixed\('agee'\).*Did you mean 'age'"),
    "a column of a text": (asked(constraints="incom <= 3"), "Did you mean 'income'"),
    "a word of a text": (asked(constraints="onlyup age"), "Did you mean 'only_up'"),
    "a column of a cost": (asked(cost=bf.L1({"Income": 2.0})), "Did you mean 'income'"),
    "a column of the space": (lambda: bf.Explainer(MODEL, X, space={"incme": bf.Integer()}), "Did you mean 'income'"),
    "a column of words": (lambda: ANSWERS.described(bf.describe({"incme": "I"})), "Did you mean 'income'"),
    "a column of a table": (lambda: EXPLAINER.explain(ROW.rename(columns={"income": "incom"})), "Rename 'incom' to"),
    "a column of a group": (lambda: bf.groups.statuses(ANSWERS, by="jobs"), "Did you mean 'job'"),
    "a cost": (asked(cost="Gowr"), "Did you mean 'Gower'"),
    "a level of a constraint": (asked(constraints=bf.allowed("job", ["permanant"])), "Did you mean 'permanent'"),
    "a level of a row": (lambda: EXPLAINER.explain(ROW.assign(job="permanant")), "Did you mean 'permanent'"),
    "a solver": (asked(solver="milpp"), "Did you mean 'milp'"),
    "a language": (lambda: ANSWERS[0].to_text(language="ed"), "'de'"),
    "a style": (lambda: ANSWERS[0].to_text("leter"), "Did you mean 'letter'"),
}


@pytest.mark.parametrize("case", MEANT)
def test_the_error_says_what_was_meant(case) -> None:
    call, words = MEANT[case]
    with pytest.raises(bf.ButforError, match=f"(?s){words}") as caught:
        call()
    assert isinstance(caught.value, ValueError | TypeError | KeyError)


@pytest.mark.parametrize(
    ("package", "name", "meant"),
    [
        (bf, "L3", "'L0', 'L1' or 'L2'"),
        (bf, "fix", "'fixed'"),
        (bf, "atmost", "'at_most_changes'"),
        (bf, "Explaner", "'Explainer'"),
        (bf, "InputError", "'errors.InputError'"),
        (bf, "register_step", "'teach.register_step'"),
        (bf.noise, "radus", "'radius'"),
        (bf.errors, "InputEror", "'InputError'"),
        (bf, "mean_gain", "'survival.mean_gain'"),
        (bf.plots, "status", "'statuses'"),
        (bf.survival, "meangain", "'mean_gain'"),
    ],
)
def test_a_name_that_a_package_does_not_have(package, name, meant) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'. Did you mean {meant}"):
        getattr(package, name)


def test_a_name_that_is_like_no_other_gets_no_suggestion() -> None:
    with pytest.raises(AttributeError) as caught:
        bf.quux  # noqa: B018
    assert "mean" not in str(caught.value)
    assert suggested("quux", X.columns) == []


def test_a_call_that_lacks_an_argument_says_which_there_are() -> None:
    with pytest.raises(bf.errors.InputTypeError, match=r"'step'.*Its arguments are name, step, anchor"):
        bf.step("age")


def test_an_error_inside_a_right_call_is_its_own() -> None:
    @suggests
    def broken(a: Any) -> Any:
        return a + None

    with pytest.raises(TypeError, match=r"^unsupported operand") as caught:
        broken(3)
    assert not isinstance(caught.value, bf.ButforError)


def test_the_likeliest_of_many_columns_come_first() -> None:
    many = [f"column {k}" for k in range(100)]
    needed, remedy = choice("The columns are", "colunm 73", many)
    assert needed.startswith("The columns are column 73")
    assert needed.endswith(" and 92 others.")
    assert remedy.startswith("Did you mean 'column 73'")
    assert choice("They are", "q", many)[0].endswith("column 19 and 80 others.")


def test_several_answers_say_how_they_are_drawn() -> None:
    with pytest.raises(bf.errors.InputError, match=r"answers\.alternatives\(\)\.plot\(\)"):
        ANSWERS.plot()
    many = EXPLAINER.explain(X[:3])
    with pytest.raises(bf.errors.InputError, match=r"bf\.plots\.statuses\(bf\.groups\.statuses\(answers\)\)"):
        many.plot()
    assert ANSWERS.alternatives().plot() is not None
    assert bf.plots.statuses(bf.groups.statuses(many)) is not None


def test_warnings_are_about_the_users_own_line() -> None:
    data = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0)})
    explainer = bf.Explainer(DecisionTreeClassifier().fit(data, data.a > 4), data=data)
    far = pd.DataFrame({"a": [99.0], "b": [0.0]})
    for ask in (explainer.explain, explainer, explainer.menu):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ask(far)
        assert {one.filename for one in caught} == {__file__}
