"""The answers to several rows, and which features they change, as DiCE shows and saves them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from butfor.compat.dice.constants import JsonVersions
from butfor.compat.dice.examples import CounterfactualExamples
from butfor.compat.dice.exceptions import UserConfigValidationException
from butfor.experimental import experimental
from butfor.explanation.explanation import Explanation

Importance = dict[str, float]
"""Feature -> the share of the answers that change it."""

SAID_ONCE = (
    "data_interface",
    "feature_names",
    "feature_names_including_target",
    "model_type",
    "desired_class",
    "desired_range",
)
"""What the second form of the JSON says once for all rows."""


@experimental
class CounterfactualExplanations:
    """The answers to each row, as `dice_ml.counterfactual_explanations.CounterfactualExplanations`.

    - `cf_examples_list`: a `CounterfactualExamples` for each row;
    - `local_importance`: for each row, feature -> the share of its answers that change it, if it was asked for;
    - `summary_importance`: the same over all rows;
    - `metadata`: the version of the JSON that `to_json` writes: "2.0", or "1.0".
    """

    def __init__(
        self,
        cf_examples_list: Sequence[CounterfactualExamples],
        local_importance: Sequence[Importance] | None = None,
        summary_importance: Importance | None = None,
        version: str | None = None,
    ) -> None:
        self.cf_examples_list = list(cf_examples_list)
        self.local_importance = None if local_importance is None else list(map(_largest_first, local_importance))
        self.summary_importance = None if summary_importance is None else _largest_first(summary_importance)
        self.metadata = {"version": JsonVersions.V2 if version is None else version}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CounterfactualExplanations):
            return NotImplemented
        return vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def answers(self) -> list[Explanation]:
        """All answers as `bf.Explanation`s, with their certificates."""
        return [answer for examples in self.cf_examples_list for answer in examples.answers]

    def visualize_as_dataframe(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Show each row and its answers as tables. With `show_only_changes`, a dash stands for what stays."""
        for examples in self.cf_examples_list:
            examples.visualize_as_dataframe(display_sparse_df, show_only_changes)

    def visualize_as_list(self, display_sparse_df: bool = True, show_only_changes: bool = False) -> None:
        """Print each row and its answers as lists of values."""
        for examples in self.cf_examples_list:
            examples.visualize_as_list(display_sparse_df, show_only_changes)

    def to_json(self) -> str:
        """All of it as JSON, in the form of the version in `metadata`. The certificates are not part of it."""
        version = self.metadata["version"]
        if version == JsonVersions.V1:
            content: dict[str, Any] = {
                "cf_examples_list": [examples.to_json(version) for examples in self.cf_examples_list],
                "local_importance": self.local_importance,
                "summary_importance": self.summary_importance,
            }
        elif version == JsonVersions.V2:
            content = self._lists()
        else:
            raise UserConfigValidationException(f"Unsupported serialization version {version}")
        return json.dumps({**content, "metadata": self.metadata})

    def _lists(self) -> dict[str, Any]:
        """The second form: lists of values, and what all rows share once."""
        each = [examples.content() for examples in self.cf_examples_list]
        shared = {name: each[-1][name] if each else None for name in SAID_ONCE}
        names = shared["feature_names"] or []
        local, summary = self.local_importance, self.summary_importance
        return {
            "test_data": [one["test_instance_list"] for one in each],
            "cfs_list": [one["final_cfs_list"] for one in each],
            "local_importance": None if local is None else [[one.get(name) for name in names] for one in local],
            "summary_importance": None if summary is None else [summary.get(name) for name in names],
            **shared,
        }

    @staticmethod
    def from_json(json_str: str) -> CounterfactualExplanations:
        """What `to_json` wrote, in either form; and what DiCE itself wrote."""
        found = json.loads(json_str)
        version = found.get("metadata", {}).get("version") if isinstance(found, dict) else None
        if version is None:
            raise UserConfigValidationException("No version field in the json input")
        if version not in JsonVersions.ALL:
            raise UserConfigValidationException(f"Incompatible version {version} found in json input")
        local, summary = found["local_importance"], found["summary_importance"]
        if version == JsonVersions.V1:
            examples = [CounterfactualExamples.from_json(one) for one in found["cf_examples_list"]]
            return CounterfactualExplanations(examples, local, summary, version)
        names = found["feature_names"] or []
        return CounterfactualExplanations(
            [
                CounterfactualExamples.from_content({**found, "test_instance_list": row, "final_cfs_list": table})
                for row, table in zip(found["test_data"], found["cfs_list"], strict=True)
            ],
            None if local is None else [dict(zip(names, one, strict=True)) for one in local],
            None if summary is None else dict(zip(names, summary, strict=True)),
            version,
        )


def _largest_first(importance: Mapping[str, float]) -> Importance:
    return dict(sorted(importance.items(), key=lambda item: item[1], reverse=True))
