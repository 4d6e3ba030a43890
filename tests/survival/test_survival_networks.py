"""Networks of proportional hazards: PyTorch modules with a baseline, and pycox's CoxPH, answered exactly."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.errors import InputError, InputTypeError

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install butfor[torch]")

TIMES, HAZARD = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0.1, 0.3, 0.7, 1.2])
NAMES = ["a", "b"]


def net(seed: int = 0, kind: type = torch.nn.ReLU) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(2, 6), kind(), torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 1, bias=False)
    ).double().eval()  # fmt: skip


def rows(seed: int = 0, count: int = 60) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(seed).uniform(-2, 2, (count, 2)), columns=NAMES)


def survival(module: torch.nn.Module, X: np.ndarray) -> np.ndarray:
    """S at the times, from the module and the formula alone."""
    with torch.no_grad():
        return np.exp(-np.exp(module(torch.tensor(X)).numpy()) * HAZARD)


def mean(S: np.ndarray) -> np.ndarray:
    return TIMES[0] + S[:, :-1] @ np.diff(TIMES)


@pytest.mark.shorter(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("target", "holds"),
    [
        (bf.survival.mean_gain(0.5), lambda S, before: mean(S) >= mean(before) + 0.5),
        (bf.survival.survival_at(4.0, 0.7), lambda S, before: S[:, 2] >= 0.7),
        (bf.survival.quantile_at_least(0.5, 8.0), lambda S, before: S[:, 2] > 0.5),
    ],
    ids=["mean", "chance", "median"],
)
def test_the_answer_is_the_cheapest_of_a_grid(seed, target, holds) -> None:
    module, X = net(seed), rows(seed)
    explainer = bf.Explainer(bf.survival.cox_network(module, times=TIMES, hazard=HAZARD, columns=NAMES), data=X)
    row = X.iloc[[int(np.argmin(mean(survival(module, X.to_numpy()))))]]
    answer = explainer.explain(row, target=target, cost=bf.L1(scale="none"))
    axes = [np.linspace(X[name].min(), X[name].max(), 401) for name in NAMES]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    start = row.to_numpy()
    able = grid[holds(survival(module, grid), survival(module, start))]
    if not answer.found:
        assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE
        assert not len(able)
        return
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert holds(survival(module, answer.point.to_numpy()), survival(module, start)).all()
    least = np.abs(able - start).sum(axis=1).min()
    step = sum(axis[1] - axis[0] for axis in axes)
    assert least - 2 * step <= answer.cost <= least + 1e-9


def test_columns_that_are_scaled_before() -> None:
    module, X = net(1), rows(1)
    scaler = StandardScaler().set_output(transform="pandas").fit(X)
    model = bf.survival.cox_network(module, times=TIMES, hazard=HAZARD, before=scaler)
    explainer = bf.Explainer(model, data=X)
    answer = explainer.explain(X.iloc[2:5], target=bf.survival.hazard_ratio(0.8))
    assert answer.found.all()
    assert {one.certificate.status for one in answer} == {bf.Status.PROVEN_OPTIMAL}
    found = model.survival_curves(answer.points).mean(0.0, None)
    assert np.allclose(found, mean(survival(module, scaler.transform(answer.points).to_numpy())))


def test_units_that_are_not_piecewise_linear_are_searched() -> None:
    module, X = net(2, torch.nn.Tanh), rows(2)
    model = bf.survival.cox_network(module, times=TIMES, hazard=HAZARD, columns=NAMES)
    explainer = bf.Explainer(model, data=X, on_mismatch="search")
    answer = explainer.explain(X.iloc[[0]], target=bf.survival.mean_gain(0.2), solver=bf.Swarm(30, 20))
    assert answer.certificate.status is bf.Status.VALID
    S = survival(module, np.concatenate([X.iloc[[0]].to_numpy(), answer.point.to_numpy()]))
    assert mean(S)[1] >= mean(S)[0] + 0.2


WRONG = [
    ({}, "no baseline was given"),
    ({"times": TIMES}, "no baseline was given"),
    ({"times": TIMES, "hazard": HAZARD[:2]}, "One hazard is needed for each time"),
    ({"times": TIMES[::-1], "hazard": HAZARD}, "do not rise"),
    ({"times": TIMES, "hazard": np.diff(HAZARD, prepend=0.0)[[0, 2, 1, 3]]}, r"np\.cumsum"),
    ({"times": TIMES, "hazard": [0.1, np.nan, 0.2, 0.3]}, r"np\.cumsum"),
    ({"times": ["a"] * 4, "hazard": HAZARD}, "not a number"),
]


@pytest.mark.parametrize(("given", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_is_no_baseline_is_refused(given, said) -> None:
    with pytest.raises((InputError, InputTypeError), match=said):
        bf.survival.cox_network(net(), columns=NAMES, **given)


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(InputTypeError, match=r"bf\.survival\.cox_network\. A torch\.nn\.Module"):
        bf.survival.cox_network(len, times=TIMES, hazard=HAZARD)
    with pytest.raises(InputError, match=r"Call module\.eval"):
        bf.survival.cox_network(net().train(), times=TIMES, hazard=HAZARD)


class CoxPH:
    """What is used of pycox's class: it is looked up by the names of its module and itself."""

    def __init__(self, net, hazard) -> None:
        self.net, self.baseline_cumulative_hazards_ = net, hazard

    def predict_surv_df(self, X):
        return pd.DataFrame(survival(self.net.eval(), X).T, index=TIMES)


CoxPH.__module__ = "pycox.models.cox"


def test_pycox_brings_its_baseline_and_its_network_in_training_mode() -> None:
    fitted, X = CoxPH(net(3).train(), pd.Series(HAZARD, index=TIMES)), rows(3)
    for model in (fitted, bf.survival.cox_network(fitted, columns=NAMES)):
        answer = bf.Explainer(model, data=X).explain(X.iloc[[0]], target=bf.survival.mean_gain(0.2))
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    S = survival(copy.deepcopy(fitted.net).eval(), np.concatenate([X.iloc[[0]].to_numpy(), answer.point.to_numpy()]))
    assert mean(S)[1] >= mean(S)[0] + 0.2
    with pytest.raises(InputError, match="has its own"):
        bf.survival.cox_network(fitted, times=TIMES, hazard=HAZARD)
    del fitted.baseline_cumulative_hazards_
    with pytest.raises(InputError, match="compute_baseline_hazards"):
        bf.survival.cox_network(fitted)


def test_pycox_itself() -> None:
    cox = pytest.importorskip("pycox.models", reason="pycox is not installed")
    tuples = pytest.importorskip("torchtuples")
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    X = rng.random((300, 2)).astype(np.float32)
    times, seen = (rng.exponential(np.exp(X[:, 1] - 2 * X[:, 0])) * 100).astype(np.float32), np.ones(300, np.float32)
    fitted = cox.CoxPH(tuples.practical.MLPVanilla(2, [6], 1, True, 0.1, output_bias=False), tuples.optim.Adam(0.01))
    fitted.fit(X, (times, seen), 64, 5, verbose=False)
    fitted.compute_baseline_hazards()
    answer = bf.Explainer(fitted, data=X).explain(X[:2], target=bf.survival.mean_gain(5.0))
    assert answer.found.all()
    both = fitted.predict_surv_df(np.concatenate([X[:2], answer.points]).astype(np.float32))
    found = both.index[0] + both.to_numpy()[:-1].T @ np.diff(both.index)
    assert (found[2:] >= (found[:2] + 5.0) * (1 - 1e-5)).all()
    assert all(one.certificate.bound >= 0.99 * one.cost for one in answer)
