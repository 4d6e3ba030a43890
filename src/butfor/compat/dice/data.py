"""What is known of the data, as `dice_ml.Data`: from a table, or from ranges and levels alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from butfor.compat.dice.constants import EVERY
from butfor.compat.dice.encoding import EncodedData
from butfor.compat.dice.exceptions import UserConfigValidationException
from butfor.errors import InputError, InputTypeError
from butfor.experimental import experimental
from butfor.space.feature import Categorical, Integer, Override, Step

Ranges = dict[str, Any]
"""Column -> the least and the largest number, or the levels."""


class BaseData(EncodedData):
    """What `PublicData` and `PrivateData` have in common.

    - `rows`: a table of the columns that the model reads, for `bf.Explainer`;
    - `space`: what is declared of them.
    """

    outcome_name: str
    data_name: str
    feature_names: list[str]
    permitted_range: Ranges

    @property
    @abstractmethod
    def rows(self) -> Any:
        """A table of the columns without the outcome."""

    @property
    @abstractmethod
    def space(self) -> dict[str, Override]:
        """A declaration of each column of which the table does not say enough."""

    @abstractmethod
    def get_features_range(
        self, permitted_range_input: Mapping[str, Any] | None = None, features_dict: Any = None
    ) -> tuple[Ranges, Ranges]:
        """What each column may become, and what it is in the data."""

    def _named(self, params: Mapping[str, Any]) -> None:
        if "outcome_name" not in params:
            raise InputError("no outcome_name was given.", "You should provide the name of outcome feature.")
        self.outcome_name = params["outcome_name"]
        if not isinstance(self.outcome_name, str):
            raise InputError(
                f"outcome_name={self.outcome_name!r} was given.",
                "You should provide the name of outcome feature as a string.",
            )
        self.data_name = params.get("data_name", "mydata")

    def _permitted(self, params: Mapping[str, Any]) -> None:
        self.asked_range: Ranges = dict(params.get("permitted_range") or {})
        self._known("permitted_range", self.asked_range)
        self.permitted_range = self.get_features_range(self.asked_range)[0]

    def _known(self, argument: str, names: Any) -> None:
        if unknown := [name for name in names if name not in self.feature_names]:
            raise UserConfigValidationException(
                f"{argument} contains some feature names which are not part of columns in dataframe: {unknown}."
            )

    @property
    def number_of_features(self) -> int:
        """How many columns the model reads."""
        return len(self.feature_names)

    @property
    def continuous_feature_indexes(self) -> list[int]:
        """The positions of the columns of numbers."""
        return [self.feature_names.index(name) for name in self.continuous_feature_names]

    @property
    def categorical_feature_indexes(self) -> list[int]:
        """The positions of the columns of levels."""
        return [self.feature_names.index(name) for name in self.categorical_feature_names]

    def set_continuous_feature_indexes(self, query_instance: Any) -> None:
        """Nothing: columns are found by name."""

    def check_features_to_vary(self, features_to_vary: Any) -> None:
        """Refuse the names of columns that are not there."""
        if features_to_vary is not None and not isinstance(features_to_vary, str):
            self._among(features_to_vary)
        elif features_to_vary not in (None, EVERY):
            raise InputTypeError(
                f"features_to_vary={features_to_vary!r} was given.", "It must be 'all' or a list of columns."
            )

    def check_permitted_range(self, permitted_range: Mapping[str, Any] | None) -> None:
        """Refuse the names of columns and levels that are not there."""
        self._among(permitted_range or ())
        for name, wanted in (permitted_range or {}).items():
            if name in self.categorical_feature_names:
                known = self.levels_of(name)
                for level in wanted:
                    if str(level) not in known:
                        raise UserConfigValidationException(
                            f"The category {level} does not occur in the training data for feature {name}. "
                            f"Allowed categories are {known}"
                        )

    def _among(self, names: Any) -> None:
        if unknown := set(names) - set(self.feature_names):
            raise UserConfigValidationException(f"Got features {unknown} which are not present in training data")

    def query_instance_to_df(self, query_instance: Any) -> pd.DataFrame:
        """Rows as a table: a table, a dict, a list of the values of one row, or a list of dicts or of tables."""
        if isinstance(query_instance, pd.DataFrame):
            return query_instance.copy()
        if isinstance(query_instance, Mapping):
            return pd.DataFrame([dict(query_instance)])
        if not isinstance(query_instance, list | tuple) or not query_instance:
            raise InputError(
                f"{type(query_instance).__name__} was given as query instance.",
                "It should be a dict, a pandas dataframe, a list, or a list of dicts.",
            )
        if isinstance(query_instance[0], pd.DataFrame | Mapping):
            return pd.concat([self.query_instance_to_df(one) for one in query_instance])
        if len(query_instance) != len(self.feature_names):
            raise InputError(
                f"a query instance of {len(query_instance)} values was given.",
                f"It has {len(self.feature_names)}: {', '.join(self.feature_names)}.",
            )
        return pd.DataFrame([list(query_instance)], columns=self.feature_names)

    def prepare_query_instance(self, query_instance: Any) -> pd.DataFrame:
        """Rows as a numbered table of the columns that the model reads."""
        return self.query_instance_to_df(query_instance).reset_index(drop=True)

    def ensure_consistent_type(self, output_df: pd.DataFrame, query_instance: Any) -> pd.DataFrame:
        """A table with the types of the query, where no value is lost by that."""
        like, out = self.query_instance_to_df(query_instance), output_df.copy()
        for name in like.columns.intersection(out.columns):
            try:
                cast = out[name].astype(like[name].dtype)
            except (TypeError, ValueError):
                continue
            if cast.isna().equals(out[name].isna()) and (cast.dropna() == out[name].dropna()).all():
                out[name] = cast
        return out


class PublicData(BaseData):
    """The training data themselves, as `dice_ml.Data(dataframe=...)`. See `Data`."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._named(params)
        self.data_df = self._table(params)
        self.continuous_feature_names = self._continuous(params)
        self.feature_names = [name for name in self.data_df.columns if name != self.outcome_name]
        self._known("continuous_features", self.continuous_feature_names)
        self.categorical_feature_names = [
            name for name in self.feature_names if name not in self.continuous_feature_names
        ]
        self._rows = self.data_df[self.feature_names].copy()
        for name in self.continuous_feature_names:
            self.get_data_type(name)
        for name in self.categorical_feature_names:
            self.data_df[name] = self.data_df[name].map(str).astype("category")
        self.continuous_features_precision = params.get("continuous_features_precision")
        self._known("continuous_features_precision", self.continuous_features_precision or ())
        self._permitted(params)

    def _table(self, params: Mapping[str, Any]) -> pd.DataFrame:
        table = params.get("dataframe")
        if not isinstance(table, pd.DataFrame):
            raise InputError(
                f"dataframe={type(table).__name__} was given.",
                "You should provide a pandas dataframe.",
                "Call its to_pandas(), or pass features={...}.",
            )
        if self.outcome_name not in table.columns:
            raise UserConfigValidationException(
                f"outcome_name {self.outcome_name} not found in {','.join(map(str, table.columns))}"
            )
        return table.copy()

    @staticmethod
    def _continuous(params: Mapping[str, Any]) -> list[str]:
        if "continuous_features" not in params:
            raise InputError(
                "no continuous_features were given.", "continuous_features should be provided: a list of names."
            )
        names = params["continuous_features"]
        if not isinstance(names, list):
            raise InputError(
                f"continuous_features={names!r} was given.",
                "You should provide the name(s) of continuous features in the data as a list.",
            )
        return list(names)

    @property
    def rows(self) -> pd.DataFrame:
        return self._rows

    @property
    def space(self) -> dict[str, Override]:
        """Numbers in columns that are not continuous are levels. 0 and 1 are levels anyway, and may be dummies."""
        levels = {
            name: sorted(self._rows[name].dropna().unique().tolist())
            for name in self.categorical_feature_names
            if pd.api.types.is_numeric_dtype(self._rows[name]) and not pd.api.types.is_bool_dtype(self._rows[name])
        }
        return {name: Categorical(known) for name, known in levels.items() if known != [0, 1]}

    def get_features_range(
        self, permitted_range_input: Mapping[str, Any] | None = None, features_dict: Any = None
    ) -> tuple[Ranges, Ranges]:
        known: Ranges = {name: list(self.ends_of(name)) for name in self.continuous_feature_names}
        known |= {name: self.data_df[name].unique().tolist() for name in self.categorical_feature_names}
        return {**known, **(permitted_range_input or {})}, known

    def get_data_type(self, col: str) -> str:
        """ "int" or "float"."""
        kind = self.data_df[col].dtype.kind
        if kind not in "iuf":
            raise InputError(f"Unknown data type of feature {col}: must be int or float")
        return "float" if kind == "f" else "int"

    def ends_of(self, name: str) -> tuple[Any, Any]:
        column = self.data_df[name]
        return column.min().item(), column.max().item()

    def levels_of(self, name: str) -> list[str]:
        return sorted(self.data_df[name].cat.categories.tolist())

    def get_decimal_precisions(self, output_type: str = "list") -> Any:
        given = self.continuous_features_precision or {}
        found = {
            name: given.get(name, 0 if self.get_data_type(name) == "int" else _decimals(self.data_df[name]))
            for name in self.continuous_feature_names
        }
        return found if output_type == "dict" else list(found.values())

    def get_mads(self, normalized: bool = False) -> dict[str, float]:
        table = self.normalize_data(self.data_df) if normalized else self.data_df
        return {
            name: float((table[name] - table[name].median()).abs().median()) for name in self.continuous_feature_names
        }

    def get_quantiles_from_training_data(self, quantile: float = 0.05, normalized: bool = False) -> dict[str, float]:
        """A quantile of the distances of different values from their median."""
        table, found = self.normalize_data(self.data_df) if normalized else self.data_df, dict[str, float]()
        for name in self.continuous_feature_names:
            values = table[name].unique()
            found[name] = float(np.quantile(np.abs(values - np.median(values)), quantile))
        return found


class PrivateData(BaseData):
    """Ranges and levels alone, as `dice_ml.Data(features=...)`. See `Data`."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        features = params.get("features")
        if not isinstance(features, Mapping) or not features:
            raise InputError(
                f"features={features!r} was given.",
                "You should provide a dictionary with feature names as keys and the range or the categories as values.",
            )
        self._named(params)
        self._features = {str(name): list(values) for name, values in features.items()}
        for name, values in self._features.items():
            if not values:
                raise InputError(
                    f"features has nothing for {name!r}.", "Two ends of a range, or categories, are needed."
                )
        self.feature_names = list(self._features)
        numbers = [
            name
            for name, values in self._features.items()
            if isinstance(values[0], int | float) and not isinstance(values[0], bool)
        ]
        self.continuous_feature_names = numbers
        self.categorical_feature_names = [name for name in self.feature_names if name not in numbers]
        self.categorical_levels = {name: self._features[name] for name in self.categorical_feature_names}
        self.type_and_precision = {**dict.fromkeys(numbers, "int"), **params.get("type_and_precision", {})}
        self.mad = dict(params.get("mad", {}))
        self._permitted(params)

    @property
    def rows(self) -> pd.DataFrame:
        """The ends of each range, and each level, below one another."""
        height = max(map(len, self._features.values()))
        table = {}
        for name, values in self._features.items():
            column = [values[i % len(values)] for i in range(height)]
            whole = name in self.continuous_feature_names and self.type_and_precision[name] == "int"
            table[name] = pd.Series(column, dtype="int64") if whole else pd.Series(column)
        return pd.DataFrame(table)

    @property
    def space(self) -> dict[str, Override]:
        found = {name: Categorical(levels) for name, levels in self.categorical_levels.items()}
        for name, places in self.get_decimal_precisions("dict").items():
            found[name] = Step(10.0**-places, *self.ends_of(name)) if places else Integer(*self.ends_of(name))
        return found

    def get_features_range(
        self, permitted_range_input: Mapping[str, Any] | None = None, features_dict: Any = None
    ) -> tuple[Ranges, Ranges]:
        known = {name: list(values) for name, values in self._features.items()}
        return {**known, **(permitted_range_input or {})}, known

    def ends_of(self, name: str) -> tuple[Any, Any]:
        return self._features[name][0], self._features[name][-1]

    def levels_of(self, name: str) -> list[str]:
        return sorted(map(str, self.categorical_levels[name]))

    def get_decimal_precisions(self, output_type: str = "list") -> Any:
        kinds = {name: self.type_and_precision[name] for name in self.continuous_feature_names}
        found = {name: 0 if kind == "int" else int(kind[1]) for name, kind in kinds.items()}
        return found if output_type == "dict" else list(found.values())

    def get_mads(self, normalized: bool = True) -> dict[str, float]:
        if not normalized:
            return dict(self.mad)
        ends = {name: self.ends_of(name) for name in self.mad}
        return {name: mad / (ends[name][1] - ends[name][0]) for name, mad in self.mad.items()}


@experimental
class Data:
    """What is known of the data, as `dice_ml.Data`.

    - `dataframe`: the training data with the outcome, as a pandas data frame; or
    - `features`: column -> the ends of its range (two numbers) or its levels, if no data can be shown;
    - `outcome_name`: the column that the model predicts;
    - `continuous_features` (with `dataframe`): a list of the columns that hold numbers. All others are categories;
    - `permitted_range`: column -> the least and the largest number, or the levels, that answers may have;
    - `continuous_features_precision` (with `dataframe`): column -> its decimals;
    - `type_and_precision` (with `features`): column -> "int" or `["float", decimals]`. Default: "int";
    - `mad` (with `features`): column -> its median absolute deviation.

    What is made is a `PublicData` or a `PrivateData`, with the properties and methods that scripts use: `feature_names`,
    `continuous_feature_names`, `categorical_feature_names`, `get_mads`, `normalize_data`, `one_hot_encode_data`, ...
    """

    def __new__(cls, **params: Any) -> Any:
        return PublicData(params) if "dataframe" in params else PrivateData(params)


def _decimals(column: pd.Series[Any]) -> int:
    """The most decimals of the most frequent values."""
    shortest: Sequence[str] = [np.format_float_positional(value, trim="-") for value in column.mode()]
    return max((len(text.partition(".")[2]) for text in shortest), default=0)
