"""`dice_ml.Dice`: its questions, asked of `bf.Explainer`."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from butfor.compat.dice.configuration import FOR_IMPORTANCES, DiceWish, check_row, options_of
from butfor.compat.dice.constants import EVERY, OPPOSITE, SamplingStrategy
from butfor.compat.dice.data import BaseData, PrivateData
from butfor.compat.dice.examples import CounterfactualExamples
from butfor.compat.dice.exceptions import UserConfigValidationException
from butfor.compat.dice.explanations import CounterfactualExplanations
from butfor.compat.dice.importance import importances
from butfor.compat.dice.model import Model
from butfor.compat.dice.question import DiceQuestion
from butfor.errors import InputTypeError
from butfor.experimental import experimental
from butfor.explain.explainer import Explainer
from butfor.problem.written.constraints import Constraints


class ExplainerBase(ABC):
    """What every `Dice` can be asked."""

    data_interface: BaseData
    model: Model

    @abstractmethod
    def _generate_counterfactuals(self, query_instance: Any, total_CFs: int, **wish: Any) -> CounterfactualExamples:
        """The answers to one row."""

    def serialize_explainer(self, path: str | PathLike[str]) -> None:
        """Write it to a file, as a pickle. Open only pickles that you trust."""
        with open(path, "wb") as file:
            pickle.dump(self, file)

    @staticmethod
    def deserialize_explainer(path: str | PathLike[str]) -> Any:
        """Read what `serialize_explainer` wrote. A pickle runs code: open only those that you trust."""
        with open(path, "rb") as file:
            return pickle.load(file)


@experimental
class Dice(ExplainerBase):
    """Counterfactuals by `generate_counterfactuals`, as `dice_ml.Dice`.

    Choose it to run a script that was written for DiCE. Answers are the cheapest ones and proven so, where the model allows
    it.

    - `data_interface`, `model_interface`: a `Data` and a `Model`;
    - `method`: with "kdtree", the answers are rows of the data. "random", "genetic" and "gradient" mean the same: the
      cheapest answers.

    >>> from butfor.compat.dice import Data, Model
    >>> from butfor.datasets import loans
    >>> X, y = loans.load()
    >>> numbers = ["age", "income", "savings", "amount", "months", "late_payments"]
    >>> data = Data(dataframe=X.assign(outcome=y), continuous_features=numbers, outcome_name="outcome")
    >>> dice = Dice(data, Model(model=loans.pipeline().fit(X, y)), method="random")
    >>> found = dice.generate_counterfactuals(X.iloc[[71]], total_CFs=1, features_to_vary=["income", "late_payments"])
    >>> found.cf_examples_list[0].final_cfs_df[["income", "late_payments", "outcome"]]
       income  late_payments   outcome
    0   20651              2  approved
    >>> found.answers[0].certificate.status.name
    'PROVEN_OPTIMAL'
    """

    method: str = SamplingStrategy.Random

    def __new__(cls, data_interface: Any = None, model_interface: Any = None, method: str | None = None) -> Any:
        """An object of the class of the method."""
        known = {kind.method: kind for kind in METHODS}
        if method is not None and method not in known:
            raise UserConfigValidationException(
                f"Unsupported sample strategy {method} provided.", f"Please choose one of {', '.join(known)}."
            )
        return super().__new__(cls if cls is not Dice else known[method or SamplingStrategy.Random])

    def __init__(self, data_interface: BaseData, model_interface: Model, method: str | None = None) -> None:
        if not isinstance(data_interface, BaseData) or not isinstance(model_interface, Model):
            raise InputTypeError(
                f"Dice was given a {type(data_interface).__name__} and a {type(model_interface).__name__}.",
                "It needs a Data and a Model.",
                "Call Dice(Data(dataframe=...), Model(model=...)).",
            )
        if self.method == SamplingStrategy.KdTree and isinstance(data_interface, PrivateData):
            raise UserConfigValidationException(
                "Private data interface is not supported with kdtree explainer since kdtree explainer needs access to "
                "entire training data"
            )
        self.data_interface, self.model = data_interface, model_interface
        self._explainers: dict[Any, Explainer] = {}
        model_interface.transformer.feed_data_params(data_interface)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"Dice has no {name!r}. "
            "If DiCE has it, it belongs to a search of DiCE's, and butfor has another one: see Dice.explainer."
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_explainers": {}}

    @property
    def explainer(self) -> Explainer:
        """The `bf.Explainer` that answers. Ask it for what DiCE has no words for."""
        return self.explainer_within({})

    def explainer_within(self, wider: Mapping[str, Any]) -> Explainer:
        """The explainer, with wider declarations of some columns. Each is read once."""
        key = tuple(sorted((name, repr(one)) for name, one in wider.items()))
        if key not in self._explainers:
            space = {**self.data_interface.space, **wider}
            model = self.model.readable(self.data_interface)
            self._explainers[key] = Explainer(model, self.data_interface.rows, space=space)
        return self._explainers[key]

    def predict_fn(self, input_instance: Any) -> Any:
        """Probabilities of a classifier, and numbers of a regressor."""
        return self.model.get_output(input_instance)

    def generate_counterfactuals(
        self,
        query_instances: Any,
        total_CFs: int,
        desired_class: Any = OPPOSITE,
        desired_range: Sequence[float] | None = None,
        permitted_range: Mapping[str, Sequence[Any]] | None = None,
        features_to_vary: Sequence[str] | str = EVERY,
        stopping_threshold: float = 0.5,
        posthoc_sparsity_param: float | None = 0.1,
        posthoc_sparsity_algorithm: str | None = "linear",
        verbose: bool = False,
        *,
        constraints: Constraints = (),
        **options: Any,
    ) -> CounterfactualExplanations:
        """The answers to each row.

        - `query_instances`: rows as a data frame, a dict, or a list of either;
        - `total_CFs`: how many answers per row, all different. First come those that differ in what they change, as
          `Explainer.explain` gives them. If these are fewer, the cheapest other rows that meet the target follow: of some
          thousand combinations, and proven among these;
        - `desired_class`: "opposite" (of two classes), the position of a class, or a class that is no number;
        - `desired_range`: for a regressor, the interval in which its value must lie;
        - `permitted_range`: column -> the least and the largest number, or the levels allowed;
        - `features_to_vary`: "all", or the columns that may change;
        - `stopping_threshold`: the least probability of `desired_class` (0.2 asks for as much as 0.8);
        - `random_seed` is our `seed`, and a dict of `feature_weights` the weights of `bf.L1`;
        - `constraints` and others (`cost`, `time_limit`, ...): as for `Explainer.explain`;
        - settings of DiCE's searches (`proximity_weight`, `posthoc_sparsity_param`, ...) mean nothing. A warning names them.
        """
        wish = DiceWish(
            total_CFs, desired_class, desired_range, permitted_range, features_to_vary, stopping_threshold,
            posthoc_sparsity_param, posthoc_sparsity_algorithm,
        )  # fmt: skip
        wish.check(query_instances, self.model.model_type)
        found = self._answered(query_instances, wish, constraints, options)
        self._check_any_counterfactuals_computed(found)
        return CounterfactualExplanations(found)

    def _generate_counterfactuals(
        self, query_instance: Any, total_CFs: int, verbose: bool = False, constraints: Constraints = (), **given: Any
    ) -> CounterfactualExamples:
        """The answers to one row, which the explainer keeps as `final_cfs_df`."""
        options = {name: value for name, value in given.items() if name not in DiceWish.__dataclass_fields__}
        return self._answered(query_instance, DiceWish.among(total_CFs, given), constraints, options)[-1]

    def _answered(
        self, rows: Any, wish: DiceWish, constraints: Constraints, options: Mapping[str, Any]
    ) -> list[CounterfactualExamples]:
        question = DiceQuestion(
            self.data_interface,
            self.model,
            self.explainer_within,
            self.method == SamplingStrategy.KdTree,
            wish,
            constraints,
            options_of(options, wish),
        )
        found = question.answered(self.data_interface.query_instance_to_df(rows))
        last = found[-1]
        self.final_cfs_df, self.final_cfs_df_sparse = last.final_cfs_df, last.final_cfs_df_sparse
        self.cfs_preds = question.predictions(last)
        return found

    def setup(self, features_to_vary: Any, permitted_range: Any, query_instance: Any, feature_weights: Any) -> Any:
        """Refuse a row or names that do not fit the data. Returns the columns that may vary."""
        row = self.data_interface.query_instance_to_df(query_instance)
        wish = DiceWish(1, features_to_vary=features_to_vary, permitted_range=permitted_range)
        return check_row(self.data_interface, row, wish, permitted_range or {})

    def _check_any_counterfactuals_computed(self, cf_examples_arr: Sequence[CounterfactualExamples]) -> None:
        """Refuse to return no answer at all, as DiCE does."""
        if any(one.final_cfs_df is not None and len(one.final_cfs_df) for one in cf_examples_arr):
            return
        told = sorted({a.certificate.status.name for one in cf_examples_arr for a in one.answers})
        raise UserConfigValidationException(
            "No counterfactuals found for any of the query points! Kindly check your configuration.",
            f"They are {', '.join(told)}." if told else "",
            "Dice.explainer.explain(...) returns such answers, and says why.",
        )

    def local_feature_importance(
        self,
        query_instances: Any,
        cf_examples_list: Sequence[CounterfactualExamples] | None = None,
        total_CFs: int = 10,
        **wish: Any,
    ) -> CounterfactualExplanations:
        """For each row, the share of its answers that change each feature.

        `cf_examples_list` are answers that were found before. Otherwise they are found now, at least 10 to each row. The
        other arguments are those of `generate_counterfactuals`.
        """
        self._check_wish(query_instances, total_CFs, wish)
        _check_count(cf_examples_list, total_CFs, "to compute feature importance for all query points")
        return self.feature_importance(query_instances, cf_examples_list, total_CFs, global_importance=False, **wish)

    def global_feature_importance(
        self,
        query_instances: Any,
        cf_examples_list: Sequence[CounterfactualExamples] | None = None,
        total_CFs: int = 10,
        local_importance: bool = True,
        **wish: Any,
    ) -> CounterfactualExplanations:
        """Over at least 10 rows, the share of the answers that change each feature.

        The arguments are those of `local_feature_importance`. With `local_importance`, that is told, too.
        """
        self._check_wish(query_instances, total_CFs, wish)
        if query_instances is not None and len(query_instances) < FOR_IMPORTANCES:
            raise UserConfigValidationException(
                f"The number of query instances should be greater than or equal to {FOR_IMPORTANCES} "
                "to compute global feature importance over all query points"
            )
        if cf_examples_list is not None and len(cf_examples_list) < FOR_IMPORTANCES:
            raise UserConfigValidationException(
                "The number of points for which counterfactuals generated should be "
                f"greater than or equal to {FOR_IMPORTANCES} to compute global feature importance"
            )
        _check_count(cf_examples_list, total_CFs, "to compute global feature importance over all query points")
        return self.feature_importance(query_instances, cf_examples_list, total_CFs, local_importance, **wish)

    def feature_importance(
        self,
        query_instances: Any,
        cf_examples_list: Sequence[CounterfactualExamples] | None = None,
        total_CFs: int = 10,
        local_importance: bool = True,
        global_importance: bool = True,
        **wish: Any,
    ) -> CounterfactualExplanations:
        """The share of the answers that change each feature: for each row, over all rows, or both."""
        self._check_wish(query_instances, total_CFs, wish)
        if cf_examples_list is None:
            cf_examples_list = self.generate_counterfactuals(query_instances, total_CFs, **wish).cf_examples_list
        names = [*self.data_interface.categorical_feature_names, *self.data_interface.continuous_feature_names]
        local, summary = importances(cf_examples_list, names)
        return CounterfactualExplanations(
            cf_examples_list, local if local_importance else None, summary if global_importance else None
        )

    def _check_wish(self, query_instances: Any, total_CFs: int, given: Mapping[str, Any]) -> None:
        DiceWish.among(total_CFs, given).check(query_instances, self.model.model_type)


class DiceRandom(Dice):
    """`Dice(..., method="random")`."""

    method = SamplingStrategy.Random


class DiceGenetic(Dice):
    """`Dice(..., method="genetic")`."""

    method = SamplingStrategy.Genetic


class DiceKD(Dice):
    """`Dice(..., method="kdtree")`: answers are rows of the data."""

    method = SamplingStrategy.KdTree


class DiceGradient(Dice):
    """`Dice(..., method="gradient")`."""

    method = SamplingStrategy.Gradient


METHODS: tuple[type[Dice], ...] = (DiceRandom, DiceGenetic, DiceKD, DiceGradient)
"""A class for each method. Scripts may ask for its name."""


def _check_count(found: Sequence[CounterfactualExamples] | None, total_CFs: int, purpose: str) -> None:
    """Refuse to compute importances from few answers."""
    if found is None and total_CFs < FOR_IMPORTANCES:
        raise UserConfigValidationException(
            "The number of counterfactuals requested per query instance should be greater than or equal to "
            f"{FOR_IMPORTANCES} {purpose}"
        )
    if any(one.shown is None or len(one.shown) < FOR_IMPORTANCES for one in found or ()):
        raise UserConfigValidationException(
            "The number of counterfactuals generated per query instance should be greater than or equal to "
            f"{FOR_IMPORTANCES} {purpose}"
        )
