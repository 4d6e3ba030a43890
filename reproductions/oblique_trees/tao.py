"""The paper's table 6: errors of CART, of TAO's oblique trees and of a forest, on its splits; and logistic regression.

`python -m reproductions.oblique_trees.tao` writes tao.jsonl, a line a fitted model, and the table tao.md. Lines that
this commit wrote stay as they are, so a run that was stopped goes on.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

from benchmarks.data import pipeline
from benchmarks.harness import SEED, arguments, of_this_commit, where, write
from butfor.trees import TAOClassifier
from reproductions.oblique_trees.axis_aligned import HERE, SETS, SMOKE, TEST, Data, full_tree, markdown, pruned_tree

TREES = 100
"""In a forest."""
STARTS = 3
FIRST_SEED = 100
"""Seeds of splits begin here: on those from 0 on, the penalties that `alpha="best"` tries were found."""
CART, WRITTEN, OURS, BENT, FOREST, LOGISTIC = (
    "CART", "TAO, as written", "TAO", "TAO, bent columns", "forest", "logistic regression",
)  # fmt: skip


@dataclass(frozen=True)
class Errors:
    """Per cent of wrong rows in the paper's table."""

    train: float
    test: float


@dataclass(frozen=True)
class Paper:
    """A line of the paper's table 6: errors, and the depth of TAO's tree."""

    cart: Errors
    tao: Errors
    forest: Errors
    depth: int

    def of(self, model: str) -> Errors | None:
        """What it has for a kind of model."""
        return {CART: self.cart, WRITTEN: self.tao, OURS: self.tao, BENT: self.tao, FOREST: self.forest}.get(model)


PAPER = {
    "Adult": Paper(Errors(12.6, 14.7), Errors(13.9, 14.6), Errors(13.2, 14.1), 12),
    "Breast-Cancer": Paper(Errors(1.4, 2.6), Errors(1.2, 2.1), Errors(0.01, 2.1), 3),
    "Spambase": Paper(Errors(3.1, 7.6), Errors(4.5, 4.8), Errors(0, 4.2), 5),
    "Letter": Paper(Errors(1.2, 12.1), Errors(3.8, 7.7), Errors(0, 3.7), 12),
    "German Credit": Paper(Errors(21.9, 23.5), Errors(17.5, 18.5), Errors(0, 21.9), 8),
    "MNIST (10k)": Paper(Errors(4.2, 11.9), Errors(1.4, 5.2), Errors(0, 3.1), 9),
}
TRAINING = {"Adult": 30_162, "Letter": 15_000}
"""Where the data come with test rows of their own: how many of the first rows are not among them."""
SPLITS = {"Breast-Cancer": 20, "Spambase": 20, "German Credit": 20, "Letter": 5}
"""How many splits there are, or, where the test rows are given, how many seeds of the learners: 1, or as many as these."""
SKEWED = ("Spambase",)
SMOKE_DEPTH = 3


Table = pd.DataFrame | np.ndarray


def depth_of(name: str) -> int:
    """The paper's depth of an oblique tree."""
    return PAPER[name].depth if name in PAPER else SMOKE_DEPTH


@dataclass(frozen=True, eq=False)
class Split:
    """The rows that a tree is learnt from, those that it is asked about, and all of them."""

    train: Table
    test: Table
    y_train: pd.Series[Any]
    y_test: pd.Series[Any]

    @classmethod
    def of(cls, X: Table, y: pd.Series[Any], seed: int = SEED) -> Split:
        """A fifth of the rows, at random, are asked about."""
        return cls(*train_test_split(X, y, test_size=TEST, stratify=y, random_state=seed))

    @property
    def both(self) -> Table:
        if isinstance(self.train, np.ndarray):
            return np.concatenate([self.train, self.test])
        return pd.concat([self.train, self.test], ignore_index=True)


def split_of(name: str, X: pd.DataFrame, y: pd.Series[Any], seed: int = SEED) -> Split:
    """The official test rows, or a fifth of all at random."""
    if name in TRAINING:
        first = TRAINING[name]
        return Split(X.iloc[:first], X.iloc[first:], y.iloc[:first], y.iloc[first:])
    return Split.of(X, y, seed)


def learners(name: str, seed: int) -> dict[str, Callable[[Split], Pipeline]]:
    """How each model is learnt from the training rows. Whatever is chosen is chosen on parts of them."""
    depth = depth_of(name)

    def ours() -> TAOClassifier:
        return TAOClassifier(depth, n_init=STARTS, random_state=seed)

    def plain(model: Any) -> Callable[[Split], Pipeline]:
        return lambda rows: pipeline(rows.train, model).fit(rows.train, rows.y_train)

    def cart(rows: Split) -> Pipeline:
        return pruned_tree(full_tree(rows.train, rows.y_train), rows.train, rows.y_train)

    written = TAOClassifier(depth, init="random", alpha=10, warm_up=30, max_iter=30, random_state=seed)
    bent = {BENT: plain(make_pipeline(PowerTransformer(), ours()))} if name in SKEWED else {}
    return {
        CART: cart,
        WRITTEN: plain(written),
        OURS: plain(ours()),
        **bent,
        FOREST: plain(RandomForestClassifier(TREES, random_state=seed)),
        LOGISTIC: plain(make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))),
    }


def lines(data: Data, splits: int, known: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each model on each split, but those that are known: its errors and its size."""
    X, y, dropped = data.load()
    have = {(line["split"], line["model"]) for line in known if line["data"] == data.name}
    for seed in range(FIRST_SEED, FIRST_SEED + splits):
        rows = split_of(data.name, X, y, seed)
        about = {"rows": len(rows.train), "rows_tested": len(rows.test), "rows_left_out": dropped}
        for name, learn in learners(data.name, seed).items():
            if (seed, name) in have:
                continue
            begin = time.process_time()
            model = learn(rows)
            took = time.process_time() - begin
            yield {
                "data": data.name, "split": seed, "model": name, **errors(model, rows), "seconds": round(took, 2),
                **size(model), **about, **where(),
            }  # fmt: skip


def errors(model: Pipeline, rows: Split) -> dict[str, float]:
    """Per cent of wrong rows."""
    return {
        "train_error": 100 * (1 - model.score(rows.train, rows.y_train)),
        "test_error": 100 * (1 - model.score(rows.test, rows.y_test)),
    }


def size(model: Pipeline) -> dict[str, Any]:
    """Leaves, depth and what was chosen, of a single tree."""
    last = model[-1][-1] if isinstance(model[-1], Pipeline) else model[-1]
    if not hasattr(last, "get_n_leaves"):
        return {}
    chosen = {name: getattr(last, name) for name in ("init_", "alpha_", "ccp_alpha") if hasattr(last, name)}
    return {"leaves": int(last.get_n_leaves()), "depth": int(last.get_depth()), "chosen": chosen}


def page(records: Sequence[Mapping[str, Any]]) -> str:
    """The table, and what TAO has more than CART and the forest."""
    table = pd.DataFrame(records)
    sets = [group for _, group in table.groupby("data", sort=False)]
    differences = [line for group in sets for line in apart(group)]
    return markdown([line for group in sets for line in summary(group)]) + "\n" + markdown(differences)


def summary(group: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The table's lines of one data set: means and standard deviations over the splits, the paper's numbers beside."""
    data = group["data"].iloc[0]
    for name, mine in group.groupby("model", sort=False):
        theirs = PAPER[data].of(name) if data in PAPER else None
        yield {
            "data": data,
            "model": name,
            "splits": f"official, seeds: {len(mine)}" if data in TRAINING else len(mine),
            "train error": f"{mine['train_error'].mean():.1f}",
            "test error": spread(mine, official=data in TRAINING),
            "paper: train": f"{theirs.train:g}" if theirs else "",
            "paper: test": f"{theirs.test:g}" if theirs else "",
            "at or below the paper": below(mine["test_error"], theirs) if theirs else "",
            "leaves": mean(mine, "leaves"),
            "depth": mean(mine, "depth"),
            "seconds": f"{mine['seconds'].median():.1f}",
        }


def spread(mine: pd.DataFrame, *, official: bool) -> str:
    """The mean error, and its standard deviation over splits; of given test rows, that of drawing so many."""
    mean, count = mine["test_error"].mean(), mine["rows_tested"].iloc[0]
    drawn = official or len(mine) == 1
    deviation = np.sqrt(mean * (100 - mean) / count) if drawn else mine["test_error"].std()
    return f"{mean:.2f} ± {deviation:.2f}"


def below(test: pd.Series[Any], theirs: Errors) -> str:
    """On how many splits the error is the paper's or less, as far as the paper's digits go."""
    return f"{int((test.round(1) <= theirs.test).sum())} of {len(test)}"


def mean(mine: pd.DataFrame, what: str) -> str:
    return "" if what not in mine or mine[what].isna().any() else f"{mine[what].mean():.0f}"


def apart(group: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """How much more TAO errs than CART and the forest of the same splits, and where the paper's difference lies."""
    data = group["data"].iloc[0]
    error = group.pivot_table(index="split", columns="model", values="test_error", sort=False)
    for name in (OURS, BENT):
        for rival in (CART, FOREST):
            if name not in error:
                continue
            gap = (error[name] - error[rival]).dropna()
            line = {"data": data, "difference": f"{name} - {rival}", "splits": len(gap), "mean": f"{gap.mean():+.2f}"}
            many = len(gap) > 1
            line["standard deviation"] = f"{gap.std():.2f}" if many else ""
            line["standard error"] = f"{gap.std() / np.sqrt(len(gap)):.2f}" if many else ""
            line["paper"] = line["paper, in standard deviations from the mean"] = ""
            if data in PAPER:
                tao, other = PAPER[data].of(name), PAPER[data].of(rival)
                assert tao is not None
                assert other is not None
                line["paper"] = f"{tao.test - other.test:+.1f}"
                if many:
                    away = (tao.test - other.test - gap.mean()) / gap.std()
                    line["paper, in standard deviations from the mean"] = f"{away:+.1f}"
            yield line


def main() -> None:
    """Every data set in turn; everything is written as soon as it is known."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    warnings.simplefilter("ignore", ConvergenceWarning)
    records = of_this_commit(folder / "tao.jsonl") if folder else []
    for data in SMOKE if asked.smoke else SETS:
        for line in lines(data, 2 if asked.smoke else SPLITS.get(data.name, 1), tuple(records)):
            records.append(line)
            print(
                f"{line['data']}, split {line['split']}, {line['model']}: {line['test_error']:.2f} % "
                f"({line['seconds']:.0f} s)",
                flush=True,
            )
            if folder:
                write(records, folder / "tao.jsonl")
        if folder:
            (folder / "tao.md").write_text(page(records))
    if not folder:
        print(json.dumps(records[0]))


if __name__ == "__main__":
    main()
