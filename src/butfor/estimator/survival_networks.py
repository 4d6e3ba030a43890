"""Networks that predict the logarithm of a hazard, such as DeepSurv, with the interface of an estimator."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError
from butfor.estimator.networks import End, behind
from butfor.estimator.torch_modules import TorchRegressor, check_module, check_weights, first_width
from butfor.model.survival.curves import StepCurves


class CoxNetwork(TorchRegressor):
    """A module g with S(t | x) = exp(-H_0(t) e^g(x)). `hazard` is H_0 at `times`."""

    def __init__(self, module: Any, columns: Sequence[str] | None, times: FloatArray, hazard: FloatArray) -> None:
        width, single = first_width(module), check_weights(module)
        super().__init__(module, columns, End.SCORES, width, single=single)
        self.times, self.hazard = times, hazard

    def survival_curves(self, X: Any) -> StepCurves:
        """The survival functions."""
        with np.errstate(over="ignore"):
            relative = np.exp(self.predict(X).astype(np.float64))
            return StepCurves(self.times, np.exp(-relative[:, None] * self.hazard))


def of_pycox(fitted: Any, columns: Sequence[str] | None) -> CoxNetwork:
    """The network and the baseline of a `CoxPH` of pycox."""
    if not hasattr(fitted, "baseline_cumulative_hazards_"):
        raise InputError(
            "the CoxPH has no baseline.", "Survival needs one.", "Call model.compute_baseline_hazards() first."
        )
    baseline = fitted.baseline_cumulative_hazards_
    net = copy.deepcopy(fitted.net).eval()  # pycox puts its own back into training mode after each question
    return CoxNetwork(net, columns, *_baseline(baseline.index, baseline))


def cox_network(
    network: Any, *, times: ArrayLike | None = None, hazard: ArrayLike | None = None, columns: Sequence[str] | None = None,
    before: Any = None,
) -> Any:  # fmt: skip
    """A network of proportional hazards as a model of survival: S(t | x) = exp(-H_0(t) e^g(x)).

    Choose it for DeepSurv (Katzman et al., BMC Medical Research Methodology 18, 2018) and the like. `network` is a fitted
    `CoxPH` of pycox, or a PyTorch module for g with a baseline of your own:

    - `times`, `hazard`: the times at which H_0 rises, and H_0 there. pycox brings its own;
    - `columns`: the names of the columns that it reads, in its order. With `before`, those of the preprocessor;
    - `before`: a fitted preprocessor. What it returns goes to the network.

    Networks that `bf.torch_model` reads are answered exactly: a wish for survival is a threshold on g. The network itself
    is asked for g, and S is computed from it in float64; `predict_surv_df` of pycox has the digits of float32.
    """
    columns = None if before is not None else columns
    if hasattr(network, "predict_surv_df"):
        if times is not None or hazard is not None:
            raise InputError("times or hazard was given beside a model of pycox.", "It has its own.", "Leave them out.")
        return behind(before, of_pycox(network, columns))
    check_module(network, "bf.survival.cox_network")
    if times is None or hazard is None:
        raise InputError("no baseline was given.", "A module needs times and hazard, the baseline's cumulative one.")
    return behind(before, CoxNetwork(network, columns, *_baseline(times, hazard)))


def _baseline(times: ArrayLike, hazard: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The steps of H_0, checked."""
    try:
        at, total = (np.asarray(one, dtype=np.float64) for one in (times, hazard))
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"times or hazard hold something that is not a number ({error}).", "Both must be arrays of numbers."
        ) from None
    if at.ndim != 1 or at.shape != total.shape or not len(at):
        raise InputError(
            f"times of shape {at.shape} and hazard of shape {total.shape} were given.",
            "One hazard is needed for each time.",
        )
    if not (np.isfinite(at).all() and (at >= 0).all() and (np.diff(at) > 0).all()):
        raise InputError(
            "the times are not positive, or do not rise.", "They must be the steps of the baseline, in order."
        )
    if not (np.isfinite(total).all() and (total >= 0).all() and (np.diff(total) >= 0).all()):
        raise InputError(
            "the hazard is negative, or falls.",
            "It must be the cumulative hazard.",
            "Add the increments up: np.cumsum.",
        )
    return at, total
