"""A row from elsewhere, such as the body of a request, as the model's own tables have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butfor.errors import InputError, InputTypeError, suggests
from butfor.explain.asking import Asking
from butfor.space import frames
from butfor.space.given import named_rows


@suggests
class GivenRows:
    """The methods of an explainer that make rows."""

    _asking: Asking

    def row(self, values: Mapping[str, Any]) -> Any:
        """One row as a table with the types of the data, from values as JSON has them.

        Choose it in a service: JSON knows neither whole numbers of 32 bits nor dates nor categories, and an estimator may
        predict something else for another type. A value becomes one of its column's type, if that holds it, and `None` a
        missing value as the data has them. A row that lacks a column that the model reads is refused, and so is a level that
        the model does not know.

        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from butfor import Explainer
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> row = explainer.row(dict(zip(X.columns, [6, 3, 5, 2])))
        >>> explainer.explain(row, target=0).only.before, row.dtypes.iloc[0].name
        (2, 'float64')
        """
        if not isinstance(values, Mapping):
            raise InputTypeError(
                f"{type(values).__name__} was given.",
                "A row is a dict from column to value, such as json.loads returns for an object.",
            )
        reading = self._asking.reading
        for feature in reading.space:
            if feature.levels is None and not feature.unread and isinstance(values.get(feature.name), bool):
                raise InputError(
                    f"column {feature.name!r} holds {values[feature.name]!r}.",
                    f"It needs a number ({feature.describe()}).",
                )
        table = named_rows(reading.data, [values], reading.space.unread)
        reading.space.check_columns(table)
        reading.space.encode(frames.opened(table))  # a level that the model does not know is refused here
        return table
