"""The paper's figure 4: what turns a digit into another for an oblique tree, by several costs, as one picture.

`python -m reproductions.oblique_trees.figure4` writes figure4.png, figure4.jsonl with a line an answer, and the table figure4.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_digits

import butfor as bf
from benchmarks.harness import arguments, where, write
from butfor.problem.costs import AbstractCost
from butfor.trees import TAOClassifier
from reproductions.oblique_trees.axis_aligned import HERE, SETS, markdown
from reproductions.oblique_trees.oblique import PIXELS, learnt, pixels
from reproductions.oblique_trees.tao import Split, depth_of

PAIRS = ((2, 0), (7, 1), (6, 3), (5, 4), (3, 9), (2, 7), (7, 0), (2, 6), (6, 5))
"""The paper's: from which digit to which."""

L1, L2, ADD, ERASE, NEAREST = "$L_1$", "$L_2$", "$Q$, only add ink", "$Q$, only erase", "nearest image"
PAPER = {
    L1: (1.83, 2.01, 4.24, 4.01, 2.78, 2.73, 3.07, 4.9, 3.73),
    L2: (0.34, 0.2, 1.0, 0.95, 0.49, 0.55, 0.75, 0.91, 0.57),
    ADD: (0.06, 0.04, 0.27, 0.24, 0.07, 0.23, 0.14, 0.39, 0.12),
    ERASE: (0.66, 0.45, 1.11, 2.02, 2.55, 1.14, 2.66, 1.69, 0.81),
    NEAREST: (40.4, 55.6, 84.5, 51.1, 49.1, 74.03, 57.25, 81.73, 49.35),
}
"""Its costs, in the order of the pairs."""

RED, BLUE = "#b2182b", "#2166ac"

TOP, BLOCK = 0.35, 2.9
"""Inches of the picture: above all, and of one row of panels with the changes below it."""


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture (none where there is no answer), what stands above and below it, and what is written of it."""

    title: str
    caption: str
    picture: np.ndarray | None
    record: Mapping[str, Any]


def neighbours(side: int) -> np.ndarray:
    """1 on the diagonal, -1/4 between a pixel and the four around it: positive definite, and smooth changes are cheap."""
    pixel = np.arange(side * side)
    down, across = np.divmod(pixel, side)
    apart = np.abs(down[:, None] - down) + np.abs(across[:, None] - across)
    return np.where(apart == 0, 1.0, np.where(apart == 1, -0.25, 0.0))


def wanted(names: Sequence[str]) -> dict[str, tuple[AbstractCost, list[Any]]]:
    """The questions: a cost, and constraints."""
    smooth = bf.Quadratic(neighbours(int(np.sqrt(len(names)))))
    return {
        L1: (bf.L1(), []),
        L2: (bf.L2(), []),
        ADD: (smooth, [bf.only_up(*names)]),
        ERASE: (smooth, [bf.only_down(*names)]),
    }


def panels(explainer: bf.Explainer, split: Split, digit: int, target: int) -> Iterator[Panel]:
    """A row of pictures: the test image most like others of its class, the nearest image of the other, answers.

    Images are those that the tree gets right.
    """
    predict = explainer.model.predict
    able = np.flatnonzero((split.y_test == digit) & (predict(split.test) == digit))
    typical = split.train[split.y_train == digit].mean(axis=0)
    row = int(able[np.argmin(((split.test[able] - typical) ** 2).sum(axis=1))])
    one = split.test[[row]]
    yield Panel("original", f"{digit}", one[0], {})
    every, labels = split.both, np.concatenate([split.y_train, split.y_test])
    others = every[(labels == target) & (predict(every) == target)]
    squared = ((others - one) ** 2).sum(axis=1)
    nearest = others[np.argmin(squared)]
    about = {"row": row, "from": digit, "to": target}
    at = PAIRS.index((digit, target))
    yield Panel(
        NEAREST, f"{target}, $L_2$ cost {squared.min():.0f}", nearest,
        {**about, "answer": NEAREST, "cost": round(float(squared.min()), 6), "paper": PAPER[NEAREST][at]},
    )  # fmt: skip
    for title, (cost, constraints) in wanted(explainer.space.names).items():
        begin = time.perf_counter()
        answer = explainer.explain(one, target=target, cost=cost, constraints=constraints)
        took = time.perf_counter() - begin
        record = {
            **about, "answer": title, "status": answer.certificate.status.name, "seconds": round(took, 3),
            "cost": round(answer.cost, 6) if answer.found else None, "paper": PAPER[title][at],
            "pixels": len(answer.changes),
        }  # fmt: skip
        picture = answer.point[0] if answer.found else None
        caption = f"{answer.after}, cost {answer.cost:.2g}" if answer.found else "proven impossible"
        yield Panel(title, caption, picture, record)


def draw(rows: Sequence[Sequence[Panel]], path: Path) -> None:
    """Each row of panels, and below it what each changes: red is added ink, blue is erased."""
    across = len(rows[0])
    width, height = 1.25 * across, TOP + BLOCK * len(rows)
    figure = plt.figure(figsize=(width, height))
    outer = figure.add_gridspec(len(rows), 1, hspace=0, left=0.01, right=0.99, bottom=0, top=1 - TOP / height)
    for at, row in enumerate(rows):
        inner = outer[at].subgridspec(3, across, hspace=0.25, wspace=0.1, height_ratios=[1, 1, 0.12])
        original = row[0].picture
        assert original is not None
        for column, panel in enumerate(row):
            above = figure.add_subplot(inner[0, column])
            _picture(above, panel.picture, "gray_r", 0, 1)
            above.set_xlabel(panel.caption, fontsize=8.5, labelpad=3)
            if at == 0:
                above.set_title(panel.title, fontsize=9, pad=6)
            below = figure.add_subplot(inner[1, column])
            if column == 0:
                below.axis("off")
                below.text(0.5, 0.62, f"{panel.caption} → {row[1].caption[0]}", fontsize=17, ha="center", va="center")
                below.text(0.5, 0.28, "ink added", fontsize=7.5, ha="center", color=RED)
                below.text(0.5, 0.14, "ink erased", fontsize=7.5, ha="center", color=BLUE)
            elif panel.picture is not None:
                change = panel.picture - original
                size = float(np.abs(change).max())
                _picture(below, change, "RdBu_r", -size, size)
                below.set_xlabel(f"up to ±{size:.2g}", fontsize=7, labelpad=3, color="0.4")
            else:
                below.axis("off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _picture(axes: Axes, picture: np.ndarray | None, colours: str, low: float, high: float) -> None:
    axes.set(xticks=[], yticks=[])
    for edge in axes.spines.values():
        edge.set(linewidth=0.5, color="0.7")
    if picture is None:
        axes.set_box_aspect(1)
        return
    side = int(np.sqrt(len(picture)))
    axes.imshow(picture.reshape(side, side), cmap=colours, vmin=low, vmax=high, interpolation="nearest")


def digits(smoke: bool) -> tuple[Split, TAOClassifier]:
    """Pictures and a tree: MNIST, or the small pictures that scikit-learn brings."""
    if smoke:
        X, y = load_digits(return_X_y=True, as_frame=True)
        split = Split.of(X.to_numpy() / 16, y)
        return split, learnt(split, 5)
    data = next(data for data in SETS if data.name == PIXELS)
    X, y, _ = data.load()
    split = Split.of(pixels(X), y)
    return split, learnt(split, depth_of(PIXELS))


def page(records: Sequence[Mapping[str, Any]]) -> str:
    """Our costs, and the paper's in brackets. Its tree and its images are others."""
    lines: dict[tuple[int, int], dict[str, Any]] = {}
    for record in records:
        cost = "impossible" if record["cost"] is None else f"{record['cost']:.3g}"
        pair = record["from"], record["to"]
        line = lines.setdefault(pair, {"pair": f"{pair[0]} → {pair[1]}"})
        line[record["answer"]] = f"{cost} ({record['paper']:g})"
    return markdown(list(lines.values()))


def main() -> None:
    """Learn the tree, answer, draw."""
    asked = arguments(__doc__ or "")
    folder = asked.out or (None if asked.smoke else HERE / "results")
    split, model = digits(asked.smoke)
    every = {f"x{j}": bf.Continuous(0, 1) for j in range(split.train.shape[1])}
    explainer = bf.Explainer(model, data=split.train, space=every)
    list(panels(explainer, split, *PAIRS[0]))  # compiles
    rows = []
    for digit, target in PAIRS[:1] if asked.smoke else PAIRS:
        rows.append(list(panels(explainer, split, digit, target)))
        said = ", ".join(f"{panel.title}: {panel.caption}" for panel in rows[-1][1:])
        print(f"{digit} to {target}: {said}", flush=True)
    if folder:
        draw(rows, folder / "figure4.png")
        records = [{**panel.record, **where()} for row in rows for panel in row if panel.record]
        write(records, folder / "figure4.jsonl")
        (folder / "figure4.md").write_text(page(records))


if __name__ == "__main__":
    main()
