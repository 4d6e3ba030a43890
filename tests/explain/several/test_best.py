"""It names the best of several answers in each respect."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from tests.explain.several.small_worlds import MODELS, NUMBERS, world

QUICK = ["cost", "number of changes", "certainty", "similarity to the data"]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_each_respect_has_its_best(kind) -> None:
    here = next(one for one in (world(kind, seed) for seed in range(30)) if len(_menu(one)) > 1)
    menu = list(_menu(here))
    found = here.explainer.best(menu)
    points = pd.concat([option.point for option in menu])
    probability = here.explainer.model.predict_proba(points)[:, 1]
    assert found["cost"].cost == min(option.cost for option in menu)
    assert len(found["number of changes"].changes) == min(len(option.changes) for option in menu)
    sure = here.explainer.model.predict_proba(found["certainty"].point)[0, 1]
    assert sure == pytest.approx(probability.max())
    likeness = [_distance(here, option) for option in menu]
    assert _distance(here, found["similarity to the data"]) == pytest.approx(min(likeness))
    place = found.places["similarity to the data"]
    assert found.marks["similarity to the data"][place] == pytest.approx(min(likeness))
    radii = found.marks["robustness"]
    assert radii[found.places["robustness"]] == max(radii)
    assert all(radius <= _radius(here, one) + 1e-6 for radius, one in zip(radii, found, strict=True))
    assert found.compared == len(menu)
    assert [one.cost for one in found] == sorted(one.cost for one in found)


def _menu(here):
    return here.explainer.menu(here.row, 1)


def _distance(here, option) -> float:
    """The mean distance to the five nearest points: all points are the data."""
    row, points = option.point.iloc[0], here.points
    away = (points["level"] != row["level"]).astype(float)
    for name, count in NUMBERS.items():
        away += (points[name] - row[name]).abs() / (count - 1)
    return float(np.sort(away)[:5].mean())


def _radius(here, option) -> float:
    """The share of the ranges within which no listed point is predicted 0. Points outside the data are not listed."""
    row, points = option.point.iloc[0], here.points[~here.met]
    points = points[points["level"] == row["level"]]
    steps = [(points[name] - row[name]).abs() / (count - 1) for name, count in NUMBERS.items()]
    return float(np.max(steps, axis=0).min(initial=1.0))


def test_respects_can_be_chosen() -> None:
    here = world("forest", 1)
    found = here.explainer.best(_menu(here), ["cost"])
    assert list(found.places) == ["cost"]
    assert len(found) == 1


def test_what_the_model_cannot_say_is_left_out() -> None:
    here = world("forest", 1)
    box = bf.Explainer(bf.black_box(here.explainer.model.predict, classes=[0, 1]), here.points)
    answers = box.explain(here.row, target=1, k=3, solver=bf.Swarm(particles=20, iterations=10))
    found = box.best(answers)
    assert "robustness" not in found.places
    assert "cost" in found.places


def test_views() -> None:
    here = world("boosting", 3)
    found = here.explainer.best(here.explainer.explain(here.row, target=1, k=3, different="columns"), QUICK)
    frame = found.to_frame()
    assert list(frame["cost"]) == [one.cost for one in found]
    assert "cost" in frame["best in"].iloc[0]
    assert "the best of" in repr(found)
    assert found._repr_html_().count("<tr>") == 1 + len(found)


def test_bad_input() -> None:
    here = world("forest", 1)
    menu = _menu(here)
    for respects in ([], ["price"], "cost"):
        with pytest.raises(bf.errors.InputError, match="by="):
            here.explainer.best(menu, respects)
    with pytest.raises(bf.errors.InputError, match="no answer with a point"):
        here.explainer.best([])
    others = here.explainer.explain(here.points[~here.met].iloc[:2], target=1)
    with pytest.raises(bf.errors.InputError, match="several rows"):
        here.explainer.best(others)
    sure = here.explainer.explain(here.row, target=bf.probability(1, 0.55))
    with pytest.raises(bf.errors.InputError, match="several targets"):
        here.explainer.best([*menu, *sure])
