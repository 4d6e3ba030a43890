"""`python -m reproductions.robust.pictures` draws answers and their regions in two dimensions, and how large radii must be.

The answers are those of the example that the paper's authors publish with their code: two columns of Iris, scaled to
[0, 1], one row between the classes, and a radius of 0.05. It writes answers.png, fronts.png, radii.png, and answers.jsonl
with a line per answer.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch, Polygon, Rectangle
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.harness import SEED, arguments, where, write

HERE = Path(__file__).parent / "results"
RADIUS, NORMS = 0.05, ("linf", "l2", "l1")
RADII = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15)
COUNTS = (1, 2, 5, 10, 34)
"""Numbers of columns; 34 are those of Ionosphere."""

SHARES = np.linspace(0.01, 0.99, 50).tolist()
"""The probabilities that are drawn."""

ROW = pd.DataFrame([[0.55, 0.3]], columns=["sepal length", "sepal width"])
GREY, GREEN, ORANGE, BLUE = "#e8e8e8", "#d5ead5", "#d95f02", "#2166ac"
DASHES = ("-", "-", (0, (3, 3)), "-")
"""Forest and boosting have the same answers here. One is dashed, so that both are seen."""

SYMBOLS = {"linf": r"$\ell_\infty$", "l2": r"$\ell_2$", "l1": r"$\ell_1$"}

MODELS: Mapping[str, Any] = {
    "tree, depth 10": DecisionTreeClassifier(max_depth=10, random_state=SEED),
    "forest, 20 trees": RandomForestClassifier(20, max_depth=3, random_state=SEED),
    "boosting, 20 trees": GradientBoostingClassifier(n_estimators=20, max_depth=2, random_state=SEED),
    "network (10,)": MLPClassifier((10,), max_iter=5000, random_state=SEED),
}


def two_columns(model: Any) -> bf.Explainer:
    """An explainer of a model that is fitted to tell virginica from the others."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.iloc[:, :2].set_axis(list(ROW.columns), axis=1)
    X, y = (X - X.min()) / (X.max() - X.min()), (y == 2).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks stop early
        fitted = clone(model).fit(X, y)
    return bf.Explainer(fitted, X, space={column: bf.Continuous(0, 1) for column in X})


def explainers(smoke: bool) -> Iterator[tuple[str, bf.Explainer]]:
    """An explainer of each model."""
    for name, model in list(MODELS.items())[: 1 if smoke else None]:
        yield name, two_columns(model)


def wanted(explainer: bf.Explainer) -> int:
    """The class that the row does not have."""
    return 1 - int(explainer.model.predict(ROW)[0])


def ask(explainer: bf.Explainer, norm: Any) -> bf.Explanation:
    """The cheapest answer that stays valid in a ball."""
    kept = [bf.robust(RADIUS, norm=norm)]
    return explainer.explain(ROW, target=wanted(explainer), constraints=kept, time_limit=60).only


def record(name: str, norm: str, answer: bf.Explanation, plain: bf.Explanation) -> dict[str, Any]:
    """A line about one answer."""
    return {
        "model": name, "norm": norm, "radius": RADIUS, "status": answer.certificate.status.name,
        "cost": answer.cost, "plain_cost": plain.cost, "point": answer.point.iloc[0].tolist(), **where(),
    }  # fmt: skip


def draw_answer(ax: Axes, explainer: bf.Explainer, norm: str, plain: bf.Explanation, answer: bf.Explanation) -> None:
    """The two classes, the row, both answers, what the ball promises, and for boxes the widest region around the answer."""
    across = np.linspace(0, 1, 401)
    grid = pd.DataFrame(np.array(np.meshgrid(across, across)).reshape(2, -1).T, columns=ROW.columns)
    met = (explainer.model.predict(grid) == wanted(explainer)).reshape(len(across), -1)
    ax.contourf(across, across, met, levels=[-0.5, 0.5, 1.5], colors=[GREY, GREEN])
    for answered, colour in ((plain, BLUE), (answer, ORANGE)):
        ax.annotate("", answered.point.iloc[0], ROW.iloc[0], arrowprops={"arrowstyle": "->", "color": colour})
    ax.plot(*ROW.iloc[0], "ko", markersize=4)
    x, y = answer.point.iloc[0]
    edge: dict[str, Any] = {"fill": False, "edgecolor": ORANGE, "linewidth": 1.3}
    corners = [(x - RADIUS, y), (x, y - RADIUS), (x + RADIUS, y), (x, y + RADIUS)]
    ball: dict[str, Patch] = {
        "linf": Rectangle((x - RADIUS, y - RADIUS), 2 * RADIUS, 2 * RADIUS, **edge),
        "l2": Circle((x, y), RADIUS, **edge),
        "l1": Polygon(corners, **edge),
    }
    ax.add_patch(ball[norm])
    if norm == "linf":
        region = explainer.region(answer, wanted(explainer), time_limit=20)
        width, height = region.high - region.low
        ax.add_patch(Rectangle(tuple(region.low), width, height, fill=False, linestyle=":", edgecolor="black"))
    ax.set(xlim=(0.3, 0.95), ylim=(0.05, 0.7), aspect="equal", xticks=[], yticks=[])
    ax.set_xlabel(f"cost {answer.cost:.3f} (plain {plain.cost:.3f})", fontsize=8)


def draw_answers(smoke: bool) -> tuple[Figure, Figure, list[dict[str, Any]]]:
    """A panel per norm and model; what robustness costs; and the lines about the answers."""
    known = list(explainers(smoke))
    figure, axes = plt.subplots(len(NORMS), len(known), figsize=(2.7 * len(known), 8.4), squeeze=False)
    costs, against = plt.subplots(figsize=(5.2, 3.6))
    records = []
    for column, (name, explainer) in enumerate(known):
        plain = explainer.explain(ROW, target=wanted(explainer)).only
        for ax, norm in zip(axes[:, column], NORMS, strict=True):
            answer = ask(explainer, norm)
            draw_answer(ax, explainer, norm, plain, answer)
            records.append(record(name, norm, answer, plain))
            if column == 0:
                ax.set_ylabel(SYMBOLS[norm], fontsize=12)
        axes[0, column].set_title(name, fontsize=10)
        found = explainer.trade_off(ROW, wanted(explainer), against="radius", radii=RADII, time_limit=60)
        against.plot(
            RADII,
            [found.cost_of(radius)[1] for radius in RADII],
            marker="o",
            markersize=3,
            label=name,
            linestyle=DASHES[column],
        )
    against.set(xlabel=f"radius ({SYMBOLS['linf']})", ylabel="cost of the cheapest robust answer")
    against.legend(fontsize=8)
    drawn = [
        Line2D([], [], marker="o", color="black", linestyle="", label="the row"),
        Line2D([], [], color=BLUE, label="cheapest answer"),
        Line2D([], [], color=ORANGE, label="cheapest robust answer, and its ball"),
        Line2D([], [], color="black", linestyle=":", label="widest region around it"),
        Patch(facecolor=GREEN, label="the other class"),
    ]
    figure.legend(handles=drawn, loc="lower center", ncols=min(5, 2 * len(known)), fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    costs.tight_layout()
    return figure, costs, records


def draw_radii() -> Figure:
    """How often normal noise stays within a radius, for several numbers of columns."""
    figure, axes = plt.subplots(1, len(NORMS), figsize=(9.6, 3.2), sharey=True)
    for ax, norm in zip(axes, NORMS, strict=True):
        for count in COUNTS:
            radii = [bf.noise.radius(1.0, share, norm, count) for share in SHARES]
            ax.plot(radii, SHARES, label=f"{count} column{'s' if count > 1 else ''}")
        ax.axhline(0.95, color="0.6", linewidth=0.8, linestyle=":")
        ax.set(title=SYMBOLS[norm], xlabel=r"radius / $\sigma$", xscale="log")
    axes[0].set_ylabel("probability of staying within")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    return figure


def main() -> None:
    """All pictures, and the lines about the answers."""
    asked = arguments(__doc__ or "")
    out = asked.out or (None if asked.smoke else HERE)
    answers, fronts, records = draw_answers(asked.smoke)
    pictures = {"answers": answers, "fronts": fronts, "radii": draw_radii()}
    for one in records:
        print({key: one[key] for key in ("model", "norm", "status", "cost", "plain_cost")})
    if out:
        write(records, out / "answers.jsonl")
        for name, figure in pictures.items():
            figure.savefig(out / f"{name}.png", dpi=120)


if __name__ == "__main__":
    main()
