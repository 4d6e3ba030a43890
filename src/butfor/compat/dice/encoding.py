"""The numbers that DiCE makes of a table: columns of levels one-hot, and columns of numbers scaled to 0 to 1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from butfor.arrays import FloatArray
from butfor.errors import InputError


class EncodedData(ABC):
    """The names, ranges and levels of columns, and encodings that are made of them."""

    feature_names: list[str]
    continuous_feature_names: list[str]
    categorical_feature_names: list[str]
    outcome_name: str
    permitted_range: dict[str, Any]
    ohe_encoded_feature_names: list[str]

    @abstractmethod
    def __init__(self, params: dict[str, Any]) -> None: ...

    @abstractmethod
    def ends_of(self, name: str) -> tuple[Any, Any]:
        """The least and the largest number of a column."""

    @abstractmethod
    def levels_of(self, name: str) -> list[str]:
        """The levels of a column as text, in order."""

    @abstractmethod
    def get_decimal_precisions(self, output_type: str = "list") -> Any:
        """The decimals of each column of numbers, as a list or a "dict"."""

    @abstractmethod
    def get_mads(self, normalized: bool = False) -> dict[str, float]:
        """The median absolute deviations that are known, of numbers as they are or scaled."""

    def get_valid_mads(
        self, normalized: bool = False, display_warnings: bool = False, return_mads: bool = True
    ) -> dict[str, float]:
        """The median absolute deviation of each column of numbers. What is 0 or not known becomes 1."""
        known = self.get_mads(normalized=normalized)
        return {name: known.get(name) or 1.0 for name in self.continuous_feature_names}

    def one_hot_encode_data(self, data: pd.DataFrame) -> pd.DataFrame:
        """A table in which each column of levels is spread over columns of True and False."""
        return pd.get_dummies(data, columns=[name for name in self.categorical_feature_names if name in data.columns])

    def normalize_data(self, df: Any) -> Any:
        """Numbers scaled, so that the ends of their column are 0 and 1. A table, or an array in the order of the columns."""
        out, names = _opened(df, self.feature_names)
        for name in self.continuous_feature_names:
            low, high = self.ends_of(name)
            out[names(name)] = (out[names(name)] - low) / (high - low) if high > low else 0.0
        return out if isinstance(df, pd.DataFrame) else out.to_numpy().reshape(np.shape(df))

    def de_normalize_data(self, df: pd.DataFrame) -> pd.DataFrame:
        """Scaled numbers as they were."""
        out = df.copy()
        for name in self.continuous_feature_names:
            low, high = self.ends_of(name)
            out[name] = out[name] * (high - low) + low
        return out

    @abstractmethod
    def prepare_query_instance(self, query_instance: Any) -> pd.DataFrame:
        """Rows as a numbered table."""

    def get_ohe_min_max_normalized_data(self, query_instance: Any) -> pd.DataFrame:
        """Rows in numbers: the scaled ones first, then a column of 0 and 1 for each level."""
        table = self.normalize_data(self.prepare_query_instance(query_instance))
        columns = {name: table[name].astype(float) for name in self.continuous_feature_names}
        for name in self.categorical_feature_names:
            text = table[name].map(str)
            columns |= {f"{name}_{level}": (text == level).astype(float) for level in self.levels_of(name)}
        return pd.DataFrame(columns)

    def get_inverse_ohe_min_max_normalized_data(self, transformed_data: Any) -> pd.DataFrame:
        """The rows that `get_ohe_min_max_normalized_data` made numbers of."""
        if not isinstance(transformed_data, pd.DataFrame):
            transformed_data = pd.DataFrame(transformed_data, columns=self._encoded_names())
        table = self.de_normalize_data(self.from_dummies(transformed_data))
        for name, places in self.get_decimal_precisions("dict").items():
            table[name] = table[name].astype(float).round(places)
        return table[self.feature_names]

    def from_dummies(self, data: pd.DataFrame, prefix_sep: str = "_") -> pd.DataFrame:
        """A table in which the columns of each level are one column again."""
        out = data.copy()
        for name in self.categorical_feature_names:
            levels = [level for level in self.levels_of(name) if f"{name}{prefix_sep}{level}" in data.columns]
            columns = [f"{name}{prefix_sep}{level}" for level in levels]
            if not columns:
                raise InputError(
                    f"no column for a level of {name!r} was given.", f"They begin with {name}{prefix_sep}."
                )
            out[name] = [levels[place] for place in data[columns].to_numpy(dtype=float).argmax(axis=1)]
            out = out.drop(columns=columns)
        return out

    def create_ohe_params(self, one_hot_encoded_data: pd.DataFrame | None = None) -> None:
        """Keep the names of the encoded columns."""
        given = self._encoded_names() if one_hot_encoded_data is None else list(one_hot_encoded_data.columns)
        self.ohe_encoded_feature_names = [name for name in given if name != self.outcome_name]

    def get_all_dummy_colnames(self) -> Any:
        """The names of the encoded columns."""
        return pd.Index(self._encoded_names())

    def get_encoded_categorical_feature_indexes(self) -> list[list[int]]:
        """The positions of the encoded columns of each column of levels."""
        place = {name: i for i, name in enumerate(self.ohe_encoded_feature_names)}
        return [
            [place[f"{name}_{level}"] for level in self.levels_of(name) if f"{name}_{level}" in place]
            for name in self.categorical_feature_names
        ]

    def get_indexes_of_features_to_vary(self, features_to_vary: Sequence[str] | str = "all") -> list[int]:
        """The positions of the encoded columns of these columns."""
        if isinstance(features_to_vary, str):
            return list(range(len(self.ohe_encoded_feature_names)))
        numbers = [
            self.ohe_encoded_feature_names.index(n) for n in self.continuous_feature_names if n in features_to_vary
        ]
        encoded = zip(self.categorical_feature_names, self.get_encoded_categorical_feature_indexes(), strict=True)
        return sorted([*numbers, *(place for name, places in encoded if name in features_to_vary for place in places)])

    def get_minx_maxx(self, normalized: bool = True) -> tuple[FloatArray, FloatArray]:
        """The permitted ends of each encoded column, scaled or as they are."""
        low, high = (
            np.zeros((1, len(self.ohe_encoded_feature_names))),
            np.ones((1, len(self.ohe_encoded_feature_names))),
        )
        for name in self.continuous_feature_names:
            at = self.ohe_encoded_feature_names.index(name)
            ends, (least, largest) = self.permitted_range[name], self.ends_of(name)
            width = (largest - least) or 1
            low[0, at], high[0, at] = ((end - least) / width if normalized else end for end in ends)
        return low, high

    def _encoded_names(self) -> list[str]:
        levels = (f"{name}_{level}" for name in self.categorical_feature_names for level in self.levels_of(name))
        return [*self.continuous_feature_names, *levels]


def _opened(df: Any, names: list[str]) -> tuple[pd.DataFrame, Any]:
    """A copy as a table, and how a column is called in it. An array has the columns of the features."""
    if isinstance(df, pd.DataFrame):
        return df.copy(), lambda name: name
    table = pd.DataFrame(np.atleast_2d(np.asarray(df, dtype=float)))
    return table, names.index
