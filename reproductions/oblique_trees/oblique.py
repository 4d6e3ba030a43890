"""The paper's table 2: exact counterfactuals of TAO's oblique trees against search in the rows, on six data sets.

`python -m reproductions.oblique_trees.oblique` writes oblique.jsonl and the table oblique.md.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

import butfor as bf
from benchmarks.baselines import cheapest, keeping
from benchmarks.data import pipeline
from benchmarks.harness import SEED, UNLIMITED, arguments, where, write
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.oblique.exact import ObliqueExact
from butfor.solvers.outcome import Outcome
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.trees import TAOClassifier
from reproductions.oblique_trees.axis_aligned import (
    COSTS,
    HERE,
    SETS,
    SLACK,
    SMOKE,
    Data,
    checked,
    levels,
    markdown,
    number,
    sources,
    times,
)
from reproductions.oblique_trees.tao import Split, Table, depth_of

PIXELS = "MNIST (10k)"
PAPER = {
    ("Adult", "L1"): "570-810", ("Adult", "L2"): "570-810", ("Breast-Cancer", "L1"): "2-4", ("Breast-Cancer", "L2"): "2-4",
    ("Spambase", "L1"): "6-12", ("Spambase", "L2"): "6-12", ("Letter", "L1"): "16-190", ("Letter", "L2"): "16-190",
    ("German Credit", "L1"): "50-80", ("German Credit", "L2"): "50-80", (PIXELS, "L1"): "550-580", (PIXELS, "L2"): "40",
}  # fmt: skip
"""Its milliseconds an explanation, with Gurobi 9 on its machine and over all levels of fixed columns."""


class Clocked(AbstractSolver):
    """`oblique_exact`, with the seconds of processor time that it took since they were last read."""

    name, does = "oblique_exact, clocked", ObliqueExact.does
    many, block = ObliqueExact.many, ObliqueExact.block

    def __init__(self) -> None:
        self._solver, self._seconds = ObliqueExact(), 0.0

    def accepts(self, form: Form) -> Support:
        return self._solver.accepts(form)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        begin = time.process_time()
        outcome = self._solver.solve(problem, budget, k, seed)
        self._seconds += time.process_time() - begin
        return outcome

    def read(self) -> float:
        seconds, self._seconds = self._seconds, 0.0
        return seconds


def pixels(X: pd.DataFrame) -> np.ndarray:
    """Grey values from 0 to 1."""
    return np.asarray(X.to_numpy(np.float64) / 255)


def learnt(split: Split, depth: int) -> Any:
    """TAO on the training rows, its start and penalty chosen on parts of them: on pixels and numbers as they are, on
    categories one-hot.
    """
    tree = TAOClassifier(depth, random_state=SEED)
    model = tree if isinstance(split.train, np.ndarray) else pipeline(split.train, tree)
    return model.fit(split.train, split.y_train)


def explainers(model: Any, rows: Table) -> Iterator[tuple[str, bf.Explainer]]:
    """With numbers that may take any value, as in the paper; and with whole numbers whole, where there are any."""
    plain = bf.Explainer(model, data=rows)
    numbers = {feature.name: bf.Continuous() for feature in plain.space if feature.levels is None or feature.numbers}
    yield "any", bf.Explainer(model, data=rows, space=numbers)
    if not isinstance(rows, np.ndarray):
        yield "whole", plain


def questions(
    explainer: bf.Explainer, split: Split, fixed: Sequence[list[str]], each: int
) -> Iterator[dict[str, list[Any]]]:
    """Every source row at every level and cost, those of one level and cost in lists: our costs, and the nearest row's."""
    model, space, clock = explainer.model, explainer.space, Clocked()
    rows, said = space.encode(split.both), model.predict(split.both)
    asked = sources(model, split.test, each)
    for level, names in enumerate(fixed):
        constraints = [bf.fixed(*names)] if names else []
        kept = [space.index(name) for name in names]
        for cost, (priced, power) in COSTS.items():
            lists: dict[str, list[Any]] = {name: [] for name in ("row", "from", "to", "ours", "rows", "status")}
            lists |= {"solver_seconds": [], "explain_seconds": []}
            for row, label, target in asked:
                one = split.test[[row]] if isinstance(split.test, np.ndarray) else split.test.iloc[[row]]
                factual = space.encode(one)[0]
                if not lists["row"]:  # compiles
                    explainer.explain(one, target=target, cost=priced, constraints=constraints, solver=clock)
                clock.read()
                begin = time.process_time()
                answer = explainer.explain(one, target=target, cost=priced, constraints=constraints, solver=clock)
                took = time.process_time() - begin
                given = keeping(rows[said == target], factual, kept)
                line = {
                    "row": row, "from": str(label), "to": str(target),
                    "ours": number(checked(answer, space, factual, power)),
                    "rows": number(cheapest(space, factual, given, power)[1]),
                    "status": answer.certificate.status.name,
                    "solver_seconds": round(clock.read(), 5), "explain_seconds": round(took, 5),
                }  # fmt: skip
                for name, value in line.items():
                    lists[name].append(value)
            yield {"level": level, "cost": cost, **lists}


def compare(data: Data, each: int) -> Iterator[dict[str, Any]]:
    """All questions of one data set: a record a line of the table."""
    X, y, dropped = data.load()
    if data.name == PIXELS:
        X = X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)
    fixed = levels(data.steps, X)
    split = Split.of(pixels(X) if data.name == PIXELS else X, y)
    model = learnt(split, depth_of(data.name))
    tree = model[-1] if hasattr(model, "steps") else model
    about = {
        "rows_left_out": dropped,
        "leaves": int(tree.get_n_leaves()),
        "test_error": round(1 - model.score(split.test, split.y_test), 4),
        "chosen": {"max_depth": tree.max_depth, "init": tree.init_, "alpha": tree.alpha_},
        "seed": SEED,
        "budget": UNLIMITED,
        **where(),
    }
    for numbers, explainer in explainers(model, split.both):
        for line in questions(explainer, split, fixed, each):
            yield {"data": data.name, "numbers": numbers, "fixed": fixed[line["level"]], **line, **about}


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """A line of the table."""
    costs = pd.DataFrame({name: record[name] for name in ("ours", "rows")}, dtype=float)
    common = costs.dropna()
    statuses = Counter(record["status"])
    solver, whole = (1000 * np.array(record[name]) for name in ("solver_seconds", "explain_seconds"))
    return {
        "data": record["data"],
        "numbers": record["numbers"],
        "leaves": record["leaves"],
        "test error": f"{record['test_error']:.1%}",
        "fixed": len(record["fixed"]),
        "cost": record["cost"],
        "questions": len(costs),
        "optimal": statuses.pop("PROVEN_OPTIMAL", 0),
        "impossible": statuses.pop("PROVEN_INFEASIBLE", 0),
        "unproven": statuses.total(),
        **{f"found: {name}": f"{costs[name].notna().mean():.0%}" for name in costs},
        **{f"mean cost: {name}": f"{common[name].mean():.4g}" if len(common) else "" for name in costs},
        "rows / ours": times(costs, "rows"),
        "ours dearer": int((costs["ours"] > costs["rows"] + SLACK).sum()),
        "only rows found": int((costs["ours"].isna() & costs["rows"].notna()).sum()),
        "ms: solver": f"{np.median(solver):.1f}",
        "at most": f"{solver.max():.0f}",
        "ms: explain": f"{np.median(whole):.1f}",
        "ms: paper": PAPER.get((record["data"], record["cost"]), "") if record["numbers"] == "any" else "",
    }


def main() -> None:
    """Every data set in turn, a line on the screen each; everything is written as soon as it is known."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    records: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    for data in SMOKE if asked.smoke else SETS:
        begin, before = time.perf_counter(), len(lines)
        for record in compare(data, 1 if asked.smoke else 20):
            records.append(record)
            lines.append(summary(record))
            if folder:
                write(records, folder / "oblique.jsonl")
                (folder / "oblique.md").write_text(markdown(lines))
        count, *bad = (
            sum(line[word] for line in lines[before:])
            for word in ("questions", "unproven", "ours dearer", "only rows found")
        )
        took = time.perf_counter() - begin
        print(f"{data.name}: {count} questions in {took:.0f} s; unproven, dearer, missed: {bad}", flush=True)
    if not folder:
        print(json.dumps(lines[0]))


if __name__ == "__main__":
    main()
