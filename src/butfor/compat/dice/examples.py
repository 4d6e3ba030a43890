"""The answers to one row, as DiCE shows them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from butfor.compat.dice.constants import OPPOSITE, JsonVersions, ModelTypes
from butfor.compat.dice.exceptions import UserConfigValidationException
from butfor.experimental import experimental
from butfor.explanation.explanation import Explanation

DASH = "-"
"""What is shown in place of a value that did not change."""


@dataclass
class NamedOutcome:
    """What is left of the data when answers are saved: which column is the outcome."""

    outcome_name: str
    data_df: Any = None


@experimental
class CounterfactualExamples:
    """The answers to one row, as `dice_ml.diverse_counterfactuals.CounterfactualExamples`.

    - `test_instance_df`: the row, with what the model predicts;
    - `final_cfs_df`: one line for each answer, with what the model predicts; None if there is none;
    - `final_cfs_df_sparse`: the same. The answers change no more than is needed;
    - `answers`: the same answers as `bf.Explanation`s, with their certificates. If there is no answer, the only one says
      whether that is proven.
    """

    def __init__(
        self,
        data_interface: Any = None,
        final_cfs_df: pd.DataFrame | None = None,
        test_instance_df: pd.DataFrame | None = None,
        final_cfs_df_sparse: pd.DataFrame | None = None,
        posthoc_sparsity_param: float | None = 0,
        desired_range: Any = None,
        desired_class: Any = OPPOSITE,
        model_type: str = ModelTypes.Classifier,
        answers: tuple[Explanation, ...] = (),
    ) -> None:
        self.data_interface, self.test_instance_df = data_interface, test_instance_df
        self.final_cfs_df, self.final_cfs_df_sparse = final_cfs_df, final_cfs_df_sparse
        self.posthoc_sparsity_param, self.model_type = posthoc_sparsity_param, model_type
        self.desired_class, self.desired_range, self.answers = desired_class, desired_range, answers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CounterfactualExamples):
            return NotImplemented
        return self.content() == other.content()

    __hash__ = None  # type: ignore[assignment]

    @property
    def test_pred(self) -> Any:
        """What the model predicts for the row."""
        assert self.test_instance_df is not None
        return self.test_instance_df[self.data_interface.outcome_name].iloc[0]

    @property
    def new_outcome(self) -> Any:
        """What was wanted: a class, or a range."""
        if self.model_type == ModelTypes.Regressor:
            return self.desired_range
        found = self.shown
        if self.desired_class != OPPOSITE or found is None or not len(found):
            return self.desired_class
        return found[self.data_interface.outcome_name].iloc[0]

    @property
    def shown(self) -> pd.DataFrame | None:
        """The table of the answers."""
        return self.final_cfs_df if self.final_cfs_df_sparse is None else self.final_cfs_df_sparse

    def visualize_as_dataframe(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Show the row and its answers as tables: in a notebook as such, and as text elsewhere."""
        self._visualize(display_sparse_df, show_only_changes, _display)

    def visualize_as_list(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Print the row and its answers as lists of values."""
        self._visualize(display_sparse_df, show_only_changes, lambda table: print(*rows_of(table), sep="\n"))

    def _visualize(self, sparse: bool, show_only_changes: bool, show: Any) -> None:
        print(f"Query instance (original outcome : {self.test_pred})")
        show(self.test_instance_df)
        table = self.shown if sparse else self.final_cfs_df
        if table is None or not len(table):
            print("\nNo counterfactuals found!")
            return
        print(f"\nDiverse Counterfactual set (new outcome: {self.new_outcome})")
        show(self._changes(table) if show_only_changes else table)

    def _changes(self, table: pd.DataFrame) -> pd.DataFrame:
        """The table with a dash for each value that is as in the row."""
        assert self.test_instance_df is not None
        out = table.astype(object)
        for name in table.columns.intersection(self.test_instance_df.columns):
            out[name] = out[name].where(~alike(table[name], self.test_instance_df[name].iloc[0]), DASH)
        return out

    def content(self) -> dict[str, Any]:
        """All that is saved, as plain values."""
        assert self.test_instance_df is not None
        names = list(map(str, self.test_instance_df.columns))
        outcome = self.data_interface.outcome_name
        return {
            "test_instance_list": rows_of(self.test_instance_df),
            "final_cfs_list": None if self.shown is None else rows_of(self.shown),
            "data_interface": {"outcome_name": outcome, "data_df": _whether_public(self.data_interface)},
            "feature_names": [name for name in names if name != outcome],
            "feature_names_including_target": names,
            "model_type": self.model_type,
            "desired_class": plain(self.desired_class),
            "desired_range": None if self.desired_range is None else list(map(plain, self.desired_range)),
        }

    def to_json(self, serialization_version: str) -> str:
        """The row and its answers as JSON, in the form of this version."""
        content = self.content()
        if serialization_version == JsonVersions.V2:
            return json.dumps(content)
        if serialization_version == JsonVersions.V1:
            assert self.test_instance_df is not None
            kept = ("data_interface", "model_type", "desired_class", "desired_range")
            tables = {
                "test_instance_df": _columns_of(self.test_instance_df),
                "final_cfs_df": None if self.shown is None else _columns_of(self.shown),
            }
            return json.dumps({**{name: content[name] for name in kept}, **tables})
        raise UserConfigValidationException(f"Unsupported serialization version {serialization_version}")

    @staticmethod
    def from_json(cf_example_json_str: str) -> CounterfactualExamples:
        """The row and its answers that `to_json` wrote, in either form."""
        found = json.loads(cf_example_json_str)
        return CounterfactualExamples.from_content(found)

    @staticmethod
    def from_content(found: Mapping[str, Any]) -> CounterfactualExamples:
        """The row and its answers from plain values."""
        if found.get("test_instance_df") is not None:
            row, table = (
                None if found[key] is None else pd.DataFrame(json.loads(found[key]))
                for key in ("test_instance_df", "final_cfs_df")
            )
        else:
            row, table = (
                None
                if found[key] is None
                else pd.DataFrame(found[key], columns=found["feature_names_including_target"])
                for key in ("test_instance_list", "final_cfs_list")
            )
        return CounterfactualExamples(
            data_interface=NamedOutcome(**found["data_interface"]),
            test_instance_df=row,
            final_cfs_df=table,
            final_cfs_df_sparse=table,
            posthoc_sparsity_param=None,
            **{name: found[name] for name in ("desired_class", "desired_range", "model_type")},
        )


def alike(column: pd.Series[Any], value: Any) -> pd.Series[Any]:
    """Which values of a column are those of the row. What an answer does not change, it copies."""
    return pd.Series([one == value for one in column.tolist()], index=column.index, dtype=bool)


def plain(value: Any) -> Any:
    """A value as plain Python."""
    return value.item() if isinstance(value, np.generic) else value


def rows_of(table: pd.DataFrame) -> list[list[Any]]:
    """The values of a table, row by row. Whole numbers stay whole."""
    return [list(row) for row in zip(*(table[name].tolist() for name in table.columns), strict=True)]


def _columns_of(table: pd.DataFrame) -> str:
    """A table as JSON: column -> row -> value, as pandas writes it, with all digits."""
    labels = list(map(str, table.index))
    return json.dumps({str(name): dict(zip(labels, table[name].tolist(), strict=True)) for name in table.columns})


def _whether_public(data: Any) -> str | None:
    """What DiCE writes in place of the data."""
    known = getattr(data, "data_df", None)
    return known if known is None or isinstance(known, str) else "dummy_data"


def _display(table: Any) -> None:
    """Show a table: in a notebook as such."""
    notebook = sys.modules.get("IPython.display")
    print(table.to_string()) if notebook is None else notebook.display(table)
