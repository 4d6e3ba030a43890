"""What is asked of a `Dice`: checked in DiCE's words, and translated into ours."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from butfor.compat.dice.constants import EVERY, OPPOSITE, ModelTypes
from butfor.compat.dice.data import BaseData
from butfor.compat.dice.exceptions import UserConfigValidationException
from butfor.explain.notices import users_line
from butfor.problem.costs import L1

SPARSITY_ALGORITHMS = ("linear", "binary")

MEANINGLESS = (
    "proximity_weight", "sparsity_weight", "diversity_weight", "categorical_penalty", "initialization", "maxiterations",
    "sample_size", "limit_steps_ls", "yloss_type", "diversity_loss_type", "algorithm", "thresh", "optimizer",
    "learning_rate", "min_iter", "max_iter", "project_iter", "loss_diff_thres", "loss_converge_maxiter",
    "init_near_query_instance", "tie_random", "limit_steps", "save_all",
)  # fmt: skip
"""Settings of DiCE's searches. There is no such search, so there is nothing to set."""

FOR_IMPORTANCES = 10
"""From how many answers to a row, and from how many rows, DiCE computes importances."""


@dataclass(frozen=True)
class DiceWish:
    """The arguments of `Dice.generate_counterfactuals` that say what is wanted."""

    total: int
    desired_class: Any = OPPOSITE
    desired_range: Sequence[float] | None = None
    permitted_range: Mapping[str, Sequence[Any]] | None = None
    features_to_vary: Sequence[str] | str = EVERY
    stopping_threshold: float = 0.5
    posthoc_sparsity_param: float | None = 0.1
    posthoc_sparsity_algorithm: str | None = "linear"

    @classmethod
    def among(cls, total: int, given: Mapping[str, Any]) -> DiceWish:
        """What is wanted, among further arguments that may be about something else."""
        return cls(total, **{name: value for name, value in given.items() if name in cls.__dataclass_fields__})

    def check(self, query_instances: Any, model_type: str) -> None:
        """Refuse what cannot be asked."""
        if isinstance(query_instances, pd.DataFrame) and query_instances.isna().to_numpy().any():
            raise UserConfigValidationException(
                "The query instance(s) should not have any missing values. "
                "Please impute the missing values and try again."
            )
        if not isinstance(self.total, int | np.integer) or self.total <= 0:
            raise UserConfigValidationException(
                "The number of counterfactuals generated per query instance (total_CFs) should be a positive integer.",
                f"{self.total!r} was given.",
            )
        if not isinstance(self.features_to_vary, str) and not len(self.features_to_vary):
            raise UserConfigValidationException("Some features need to be varied for generating counterfactuals.")
        if self.posthoc_sparsity_algorithm not in SPARSITY_ALGORITHMS:
            raise UserConfigValidationException(
                "The posthoc_sparsity_algorithm should be "
                f"{' or '.join(SPARSITY_ALGORITHMS)} and not {self.posthoc_sparsity_algorithm}"
            )
        for name in ("stopping_threshold", "posthoc_sparsity_param"):
            given = getattr(self, name)
            if given is not None and not 0 <= given <= 1:
                raise UserConfigValidationException(
                    f"The {name} should lie between 0.0 and 1.0.", f"{given!r} was given."
                )
        self._check_range(model_type)

    def _check_range(self, model_type: str) -> None:
        if model_type == ModelTypes.Classifier:
            if self.desired_range is not None:
                raise UserConfigValidationException(
                    "The desired_range parameter should not be set for classification task",
                    "Name a class (desired_class), or call it Model(model_type='regressor').",
                )
        elif self.desired_range is None:
            raise UserConfigValidationException("The desired_range parameter should be set for regression task")
        elif len(self.desired_range) != 2:
            raise UserConfigValidationException(
                "The parameter desired_range needs to have two numbers in ascending order."
            )
        elif self.desired_range[0] > self.desired_range[1]:
            raise UserConfigValidationException("The range provided in desired_range should be in ascending order.")

    @property
    def certainty(self) -> float:
        """The least probability of the wanted class. 0.2 asks for as much as 0.8: DiCE may mean that of the other class."""
        return max(self.stopping_threshold, 1 - self.stopping_threshold)

    def position(self, predicted: int, classes: Sequence[Any]) -> int:
        """The position of the wanted class, given that of the predicted one."""
        desired = self.desired_class
        if isinstance(desired, str) and desired == OPPOSITE:
            if len(classes) > 2:
                raise UserConfigValidationException(
                    "Desired class cannot be opposite if the number of classes is more than 2.",
                    f"Give its position among {list(classes)}.",
                )
            return 1 - predicted
        if isinstance(desired, int | np.integer):
            if not 0 <= int(desired) < len(classes):
                raise UserConfigValidationException(
                    "Desired class not present in training data!",
                    f"It is a position: 0 to {len(classes) - 1}, of {list(classes)}.",
                )
            self._point_out_other_class(classes)
            return int(desired)
        if desired in classes:
            return list(classes).index(desired)
        raise UserConfigValidationException(
            f"The target class for {desired} could not be identified", f"The classes are {list(classes)}."
        )

    def _point_out_other_class(self, classes: Sequence[Any]) -> None:
        """Warn of a number that is a class, and the position of another one."""
        desired = int(self.desired_class)
        if desired in classes and classes[desired] != desired:
            warnings.warn(
                f"desired_class={desired} is read as a position, as DiCE does: the class is {classes[desired]!r}. "
                f"For the class {desired!r}, give {list(classes).index(desired)}.",
                UserWarning,
                stacklevel=users_line(),
            )


def options_of(given: Mapping[str, Any], wish: DiceWish) -> dict[str, Any]:
    """The options of `Explainer.explain` among those of a script. One warning names all that mean nothing."""
    left_out = [name for name in given if name in MEANINGLESS]
    defaults = DiceWish(1)
    left_out += [
        name
        for name in ("posthoc_sparsity_param", "posthoc_sparsity_algorithm")
        if getattr(wish, name) not in (None, getattr(defaults, name))
    ]
    if left_out:
        warnings.warn(
            f"{', '.join(left_out)} {'means' if len(left_out) == 1 else 'mean'} nothing to butfor: its answers are the "
            "cheapest ones, and no search is tuned. Say what matters with cost= and constraints=.",
            UserWarning,
            stacklevel=users_line(),
        )
    options = {name: value for name, value in given.items() if name not in MEANINGLESS}
    seed, weights = options.pop("random_seed", None), options.pop("feature_weights", None)
    if seed is not None:
        options.setdefault("seed", seed)
    if isinstance(weights, Mapping):
        options.setdefault("cost", L1(weights=dict(weights)))
    elif weights not in (None, "inverse_mad"):
        raise UserConfigValidationException(
            f"feature_weights={weights!r} was given.", "It should be 'inverse_mad' or a dict from column to weight."
        )
    return options


def check_row(data: BaseData, row: pd.DataFrame, wish: DiceWish, ranges: Mapping[str, Sequence[Any]]) -> list[str]:
    """Refuse a row that DiCE refuses. Returns the columns that may vary."""
    data.check_features_to_vary(wish.features_to_vary)
    data.check_permitted_range(wish.permitted_range)
    every = wish.features_to_vary is None or isinstance(wish.features_to_vary, str)
    varied = data.feature_names if every else list(wish.features_to_vary)
    for name in row.columns:
        if name == data.outcome_name:
            raise UserConfigValidationException(f"Target {name} present in query instance.", "Leave it out.")
        if name not in data.feature_names:
            raise UserConfigValidationException(
                f"Feature {name} not present in training data!", f"The features are {', '.join(data.feature_names)}."
            )
    if lacking := [name for name in data.feature_names if name not in row.columns]:
        raise UserConfigValidationException(f"The query instance has no feature {lacking[0]}.", "All are needed.")
    for name in data.categorical_feature_names:
        if str(row[name].iloc[0]) not in data.levels_of(name):
            raise UserConfigValidationException(
                f"Feature {name} has a value outside the dataset.",
                f"It is {row[name].iloc[0]!r}; known are {', '.join(data.levels_of(name)[:20])}.",
            )
    for name, ends in ranges.items():
        if name not in varied and not inside(data, name, row[name].iloc[0], ends):
            raise UserConfigValidationException(
                f"Feature {name} is outside the permitted range and isn't allowed to vary.",
                f"It is {row[name].iloc[0]!r}.",
            )
    return varied


def inside(data: BaseData, name: str, value: Any, ends: Sequence[Any]) -> bool:
    """Whether a value of a column is in a range: between its ends, or one of its levels. Scripts may write those as text."""
    if name not in data.categorical_feature_names:
        return bool(ends[0] <= value <= ends[1])
    texts = set(map(str, ends))
    known = (level for level in data.rows[name].dropna().unique().tolist() if str(level) in texts)
    return str(value) in texts or value in known
