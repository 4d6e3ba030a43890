"""The paper's table 1: one person of Adult, and what three ever tighter sets of constraints do to the answer.

`python -m reproductions.oblique_trees.table1` writes table1.md.
"""

from __future__ import annotations

from typing import Any

import butfor as bf
from benchmarks.data import adult_like
from benchmarks.harness import arguments
from butfor.problem.constraints.constraint import AbstractConstraint
from reproductions.oblique_trees.axis_aligned import COSTS, HERE, SETS, markdown
from reproductions.oblique_trees.oblique import SMOKE_CHOICE, Split, choice, learnt

LESS, MORE = "<=50K", ">50K"
EDUCATION = ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
             "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate")  # fmt: skip
"""From the lowest to the highest."""
YEARS, HOURS = 10, 60
"""How much older one may have to become, and how long a week may be."""


def ladder(age: int) -> dict[str, list[AbstractConstraint]]:
    """The sets of constraints, each with those before it, for somebody of this age."""
    immutable: list[AbstractConstraint] = [bf.fixed("race", "sex", "native_country")]
    possible = [bf.only_up("age", "education"), bf.between("hours_per_week", 0, HOURS)]
    directed = [*immutable, *possible, bf.fixed("capital_gain", "capital_loss")]
    strict = [*directed, bf.fixed("marital_status", "relationship", "occupation"), bf.between("age", age, age + YEARS)]
    return {"immutable": immutable, "directed": directed, "strict": strict}


def person(model: Any, split: Split) -> Any:
    """The first test row, in the order of the file, of somebody of 25 to 45 without capital who is rightly put below 50K."""
    test, earns = split.test.sort_index(), split.y_test.sort_index()
    middling = test["age"].between(25, 45) & (test["capital_gain"] == 0) & (test["capital_loss"] == 0)
    return test[middling & (earns == LESS) & (model.predict(test) == LESS)].iloc[[0]]


def table(explainer: bf.Explainer, one: Any) -> list[dict[str, Any]]:
    """A line a column: its value, and what it becomes by each cost under each set of constraints."""
    sets = ladder(int(one["age"].iloc[0]))
    answers = {
        f"{cost}, {name}": explainer.explain(one, target=MORE, cost=priced, constraints=constraints)
        for cost, (priced, _) in COSTS.items()
        for name, constraints in sets.items()
    }
    after = {name: {change.name: change.after for change in answer.changes} for name, answer in answers.items()}
    lines = [
        {"column": name, "before": one[name].iloc[0], **{key: changed.get(name, "") for key, changed in after.items()}}
        for name in explainer.space.names
        if any(name in changed for changed in after.values())
    ]
    found = {key: f"{answer.cost:.4f}" if answer.found else "" for key, answer in answers.items()}
    known = {key: answer.certificate.status.name for key, answer in answers.items()}
    return [*lines, {"column": "*cost*", "before": "", **found}, {"column": "*status*", "before": "", **known}]


def main() -> None:
    """Learn the tree, ask, write."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    X, y = adult_like(1000)[:2] if asked.smoke else SETS[0].load()[:2]
    split = Split.of(X, y)
    model = learnt(split, SMOKE_CHOICE if asked.smoke else choice(SETS[0]))
    one = person(model, split)
    said = "".join(
        f"- **{name}**: {', '.join(map(repr, some))}\n" for name, some in ladder(int(one["age"].iloc[0])).items()
    )
    row = ", ".join(f"{name} {value}" for name, value in one.iloc[0].items())
    known = [] if asked.smoke else EDUCATION
    space = {"education": bf.Ordinal(known or sorted(X["education"].unique()))}
    explainer = bf.Explainer(model, data=split.both, space=space)
    page = f"Row {one.index[0]}: {row}.\n\n{said}\n{markdown(table(explainer, one))}"
    print(page)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table1.md").write_text(page)


if __name__ == "__main__":
    main()
