"""The three objects of DiCE (`dice_ml`), with its parameter names and our answers.

`from butfor.compat import dice as dice_ml` is the only line of a script that changes. DiCE is the library of Mothilal,
Sharma and Tan, FAT* 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from butfor.errors import InputError, InputTypeError
from butfor.experimental import experimental
from butfor.explain.explainer import Explainer
from butfor.explanation.explanations import Explanations
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.names import allowed, between, fixed
from butfor.problem.targets.names import probability, value
from butfor.problem.written.constraints import Constraints, as_constraints
from butfor.space import frames
from butfor.space.feature import Categorical, Override


@experimental
@dataclass(frozen=True, eq=False)
class Data:
    """The training data, as `dice_ml.Data`.

    - `dataframe`: the rows, with the outcome;
    - `continuous_features`: the columns that hold numbers. Numbers in other columns are taken for categories;
    - `outcome_name`: the column that the model predicts.
    """

    dataframe: Any
    continuous_features: Sequence[str]
    outcome_name: str

    @property
    def rows(self) -> Any:
        """The rows without the outcome."""
        names = frames.names(frames.as_table(self.dataframe))
        absent = [name for name in (*self.continuous_features, self.outcome_name) if name not in names]
        if absent:
            raise InputError(f"the column {absent[0]!r} was named.", f"The columns are {', '.join(names)}.")
        return frames.select(self.dataframe, [name for name in names if name != self.outcome_name])

    @property
    def space(self) -> dict[str, Override]:
        """A declaration of each column of numbers that is not continuous."""
        rows, found = self.rows, dict[str, Override]()
        for position, name in enumerate(frames.names(rows)):
            if name not in self.continuous_features and frames.dtype(rows, name) in ("int", "float", "float32"):
                known = set(frames.values(rows, name, position)) - {None}
                found[name] = Categorical(sorted(known))
        return found


@experimental
@dataclass(frozen=True, eq=False)
class Model:
    """A fitted estimator, as `dice_ml.Model`. What it is, butfor finds out; `backend` is accepted and not needed."""

    model: Any
    backend: str = "sklearn"


@experimental
class Dice:
    """Counterfactuals by `generate_counterfactuals`, as `dice_ml.Dice`.

    Choose it to try butfor in a script that was written for DiCE. Answers are the cheapest ones and proven so, where
    the model allows it. `method` is accepted and changes nothing.

    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> numbers = ["age", "income", "savings", "amount", "months", "late_payments"]
    >>> data = Data(X.assign(outcome=y), continuous_features=numbers, outcome_name="outcome")
    >>> dice = Dice(data, Model(loans.pipeline().fit(X, y)), method="random")
    >>> found = dice.generate_counterfactuals(X.iloc[[71]], total_CFs=1, features_to_vary=["income", "late_payments"])
    >>> [(change.name, change.after) for change in found.changes]
    [('income', 20651), ('late_payments', 2)]
    """

    def __init__(self, data_interface: Data, model_interface: Model, method: str = "random") -> None:
        self.explainer = Explainer(model_interface.model, data_interface.rows, space=data_interface.space)

    def generate_counterfactuals(
        self,
        query_instances: Any,
        total_CFs: int,
        desired_class: Any = "opposite",
        desired_range: Sequence[float] | None = None,
        permitted_range: Mapping[str, Sequence[Any]] | None = None,
        features_to_vary: Sequence[str] | str = "all",
        stopping_threshold: float = 0.5,
        *,
        constraints: Constraints = (),
        **options: Any,
    ) -> Explanations:
        """The answers to each row, as those of `Explainer.explain`.

        - `total_CFs`: how many answers per row, at most;
        - `desired_class`: "opposite" (any other class), a class, or the position of a class;
        - `desired_range`: for a regressor, the interval in which its value must lie;
        - `permitted_range`: column -> the least and the largest number, or the levels allowed;
        - `features_to_vary`: "all", or the columns that may change;
        - `stopping_threshold`: the least probability of `desired_class`;
        - `constraints` and others: as for `explain`. DiCE's weights have no counterpart: the `cost` is minimised.
        """
        own = as_constraints(constraints, self.explainer.space)
        return self.explainer.explain(
            query_instances,
            target=self._target(desired_class, desired_range, stopping_threshold),
            constraints=[*own, *self._held(features_to_vary), *self._permitted(permitted_range or {})],
            k=total_CFs,
            **options,
        )

    def _target(self, desired: Any, interval: Sequence[float] | None, threshold: float) -> Any:
        if interval is not None:
            low, high = interval
            return value(at_least=low, at_most=high)
        classes = self.explainer.reading.source.classes
        if isinstance(desired, int) and desired not in classes and 0 <= desired < len(classes):
            desired = classes[desired]
        if threshold == 0.5:  # the default: that the class is predicted
            return "other" if desired == "opposite" else desired
        if desired == "opposite":
            raise InputError(
                f"stopping_threshold={threshold!r} was given with desired_class='opposite'.",
                "A probability is that of one class.",
                f"Name the class: {', '.join(map(repr, classes))}.",
            )
        return probability(desired, at_least=threshold)

    def _held(self, varied: Sequence[str] | str) -> list[AbstractConstraint]:
        """The columns that may not change."""
        if isinstance(varied, str):
            if varied != "all":
                raise InputTypeError(
                    f"features_to_vary={varied!r} was given.", "It must be 'all' or a list of columns."
                )
            return []
        chosen = {self.explainer.space.index(name) for name in varied}
        held = [name for j, name in enumerate(self.explainer.space.names) if j not in chosen]
        return [fixed(*held)] if held else []

    def _permitted(self, ranges: Mapping[str, Sequence[Any]]) -> list[AbstractConstraint]:
        """Intervals of numbers and lists of levels."""
        known = self.explainer.space
        return [between(n, *its) if known[n].levels is None else allowed(n, its) for n, its in ranges.items()]
