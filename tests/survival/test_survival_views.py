"""An answer about survival in words and pictures."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import butfor as bf
from butfor.model.survival.curves import MeanTime
from butfor.views.survival_words import figures, target_of
from tests.survival.samples import CURVED, own_mean, patients, weibull

S = bf.survival


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def asked(name: str, target):
    X, y = patients()
    codes = make_column_transformer((OneHotEncoder(drop="first"), ["stage", "drug"]), remainder="passthrough")
    model = make_pipeline(codes, CURVED[name]()).fit(X, y)
    explainer = bf.Explainer(model, data=X, space={"crp": bf.Continuous()})
    ill = X.iloc[[int(np.argsort(model.predict(X))[160])]]
    return explainer, ill, explainer.explain(ill, target=target)


@pytest.mark.parametrize("name", ["cox", "forest"])
def test_a_sentence(name) -> None:
    explainer, x, answer = asked(name, S.mean_gain(60, horizon=1000, unit="days"))
    said = S.sentence(answer)
    start = own_mean(explainer.model, x, horizon=1000)[0]
    reached = own_mean(explainer.model, answer.point, horizon=1000)[0]
    assert said.startswith("if ")
    assert f"mean time to event within 1000 days would rise from {start:.4g} to {reached:.4g} days" in said
    assert f"(wanted: {start + 60:.4g})" in said
    for change in answer.changes:
        assert f"{change.name} were {change.text[1]} instead of {change.text[0]}" in said
    assert f"{start:.4g} → {reached:.4g} days" in repr(answer).replace("\n", " ")
    again = bf.Explanation.from_json(answer.to_json())
    assert S.sentence(again) == said


def test_a_report_tells_the_quantity_with_its_unit() -> None:
    X, y = patients()
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(drop="first"), ["stage", "drug"]), remainder="passthrough"),
        CURVED["cox"](),
    ).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:6], target=S.mean_gain(60, horizon=1000, unit="days"))
    html = answers.to_html(by="drug")
    for one in answers[answers.found]:
        before, after, _ = figures(one.before, one.after, target_of(one))
        assert f"{before} → {after}" in html
        assert after.endswith(" days")


def test_what_falls_and_what_is_no_time() -> None:
    answer = asked("cox", S.mean_loss(50, unit="months"))[2]
    assert "would fall from" in S.sentence(answer)
    chance = asked("cox", S.survival_at(300, at_most=0.2, unit="days"))[2]
    assert "chance to outlast 300 days would fall from" in S.sentence(chance)
    assert "(wanted: 0.2)" in S.sentence(chance)
    met = asked("cox", S.survival_at(300, at_least=0.01))[2]
    assert S.sentence(met).endswith("nothing needs to change")
    risk = asked("cox", S.risk_change(-0.5))[2]
    assert "risk score would fall from" in S.sentence(risk)
    assert repr(risk).startswith("risk score: ")


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    "target",
    [S.mean_gain(60, unit="months"), S.survival_at(300, at_most=0.2), S.quantile_at_least(0.3, 400), S.mean_gain(4500)],
    ids=repr,
)
@pytest.mark.parametrize("name", ["cox", "forest"])
def test_functions_are_drawn_as_the_estimator_has_them(name, target) -> None:
    explainer, x, answer = asked(name, target)
    ax = S.curves(explainer, answer)
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) > 2]
    assert len(lines) == 1 + answer.found
    times = explainer.model[-1].unique_times_
    now = explainer.model.predict_survival_function(x, return_array=True)[0]
    assert lines[0].get_xdata()[1:] == pytest.approx(times)
    assert lines[0].get_ydata()[0] == 1.0
    assert lines[0].get_ydata()[1:] == pytest.approx(now)
    if answer.found:
        after = explainer.model.predict_survival_function(answer.point, return_array=True)[0]
        assert lines[1].get_ydata()[1:] == pytest.approx(after)
    if target == S.mean_gain(60, unit="months"):
        marks = [line.get_xdata()[0] for line in ax.get_lines() if len(line.get_xdata()) == 1]
        assert marks == pytest.approx([answer.before, answer.after])
        assert any(text.get_text() == f"{answer.after - answer.before:+.4g} months" for text in ax.texts)
        assert ax.get_xlabel() == "months"


def test_only_survival_is_drawn() -> None:
    explainer, _, answer = asked("cox", S.risk_change(-0.5))
    with pytest.raises(bf.errors.InputError, match="risk score"):
        S.curves(explainer, answer)


@pytest.mark.parametrize("name", ["cox", "forest", "boosting"])
def test_a_map_shows_the_mean_of_the_estimator(name) -> None:
    X, y = weibull(columns=2)
    model = CURVED[name]().fit(X, y)
    explainer = bf.Explainer(model, data=X, space={"x0": bf.Continuous(), "x1": bf.Continuous()})
    target = S.mean_gain(20.0)
    x = X[[int(np.argmax(model.predict(X)))]]
    answer = explainer.explain(x, target=target, cost=bf.L2(scale="none"))
    ax = S.map_of(explainer, x, target, ("x0", "x1"), {"exact": answer, "a row": X[[1]]}, steps=15)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["now", "exact", "a row"]
    levels = ax.collections[0].get_array() if ax.collections[0].get_array() is not None else ax.collections[0].levels
    grid = np.array(np.meshgrid(*(np.linspace(*side, 15) for side in (ax.get_xlim(), ax.get_ylim())))).reshape(2, -1).T
    inside = own_mean(model, grid)
    step = np.ptp(levels) / 20
    assert np.min(levels) == pytest.approx(inside.min(), abs=step)
    assert np.max(levels) == pytest.approx(inside.max(), abs=step)
    outline = ax.collections[-1].get_paths()[0].vertices
    distance = np.linalg.norm(outline - x[0], axis=1)
    assert distance == pytest.approx(np.full(len(outline), np.linalg.norm(answer.point - x)), abs=0.02)
    bare = S.map_of(explainer, x, target, ("x0", "x1"), {"exact": answer}, ball=False, steps=15)
    assert len(bare.collections) == len(ax.collections) - 1


def test_maps_are_asked_for_two_columns_of_a_model_that_was_read() -> None:
    X, y = weibull(columns=2)
    explainer = bf.Explainer(CURVED["cox"]().fit(X, y), data=X)
    with pytest.raises(bf.errors.UnknownColumnError, match="Two of"):
        S.map_of(explainer, X[:1], S.mean_gain(5), ("x0", "x7"))
    with pytest.raises(bf.errors.InputError, match="a time or a chance"):
        S.map_of(explainer, X[:1], S.risk_change(-1), ("x0", "x1"))
    opaque = bf.Explainer(S.black_box(lambda X: np.exp(-np.outer(X[:, 0], [1.0, 2.0])), [1.0, 2.0]), data=X)
    with pytest.raises(bf.errors.UnsupportedModelError, match="not read"):
        S.map_of(opaque, X[:1], S.mean_gain(0.1), ("x0", "x1"))


def test_a_map_over_categories_names_them() -> None:
    explainer, x, answer = asked("cox", S.mean_gain(60))
    ax = S.map_of(explainer, x, S.mean_gain(60), ("age", "stage"), {"proven": answer}, steps=9)
    levels = [str(level) for level in explainer.space["stage"].levels]
    assert [text.get_text() for text in ax.get_yticklabels()] == levels
    assert ax.get_label().startswith("Map of where the target (mean time to event")


@pytest.mark.parametrize(
    "target", [S.mean_gain(60, unit="months"), S.survival_at(300, at_most=0.2), S.quantile_at_least(0.3, 400)], ids=repr
)
def test_no_curve_crosses_the_gain(target) -> None:
    explainer, _, answer = asked("cox", target)
    ax = S.curves(explainer, answer)
    ax.figure.canvas.draw()
    (gain,) = [text for text in ax.texts if text.get_text()]
    place = gain.get_window_extent().transformed(ax.transData.inverted())
    for line in (one for one in ax.get_lines() if len(one.get_xdata()) > 2):
        times = np.linspace(place.x0, place.x1, 50)
        survival = line.get_ydata()[np.searchsorted(line.get_xdata(), times, side="right") - 1]
        assert (survival < place.y0).all() or (survival > place.y1).all()
    assert place.x1 <= ax.get_xlim()[1]
    assert place.y1 <= ax.get_ylim()[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_curve_that_falls_continuously() -> None:
    pytest.importorskip("lifelines", reason="lifelines is not installed: pip install butfor[lifelines]")
    from lifelines import WeibullAFTFitter

    from tests.survival.test_lifelines_models import trial

    data = trial()
    X = data[["age", "crp", "drug"]]
    explainer = bf.Explainer(WeibullAFTFitter().fit(data, "days", "dead"), data=X, space={"drug": bf.Integer()})
    answer = explainer.explain(X.iloc[[3]], target=S.mean_gain(20.0))
    ax = S.curves(explainer, answer)
    assert max(len(line.get_xdata()) for line in ax.get_lines()) == 300
    assert MeanTime().words() in ax.get_title(loc="left").lower()


def test_a_hazard_says_of_what_it_is_a_multiple() -> None:
    explainer, ill, answer = asked("cox", S.hazard_ratio(at_most=0.5))
    assert repr(answer).startswith("hazard, as a multiple of the baseline's: ")
    assert f"(wanted: {0.5 * answer.before:.4g})" in repr(answer)
    against = explainer.explain(ill, target=S.hazard_ratio(at_most=0.5, prototype=ill))
    assert repr(against).startswith("hazard, as a multiple of the prototype's: 1 → ")
    assert "(wanted: 0.5)" in repr(against)
