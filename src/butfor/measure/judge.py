"""All measures of many sets of answers, for several methods side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import ButforError, InputError, InputTypeError, number
from butfor.estimator.prediction import Prediction
from butfor.importers.read import read
from butfor.measure import measures
from butfor.measure.coded import Coded, distinct
from butfor.measure.given import Given, given
from butfor.measure.invalidation import noisy, spread_of
from butfor.measure.plausibility import Plausibility
from butfor.problem.constraints.constraint import Changes
from butfor.problem.question import ask
from butfor.problem.referee import Referee
from butfor.problem.written.constraints import Constraints
from butfor.space import frames
from butfor.space.infer import Declaration
from butfor.space.lengths import Lengths
from butfor.space.space import Space
from butfor.verdict.verify import respected

MEASURES = {
    "validity": True,
    "coverage": True,
    "proximity": False,
    "categorical_proximity": False,
    "sparsity": False,
    "diversity": True,
    "normalised_diversity": True,
    "standardised_diversity": True,
    "contradiction": False,
    "neighbour_distance": False,
    "outlier_factor": False,
    "isolation": False,
    "violations": False,
    "seconds": False,
}
"""The columns of the table, and whether larger is better."""

Seconds = float | Sequence[float] | None


class Judge:
    """Measures the answers of butfor or of any other library.

    Choose it to compare methods on the same rows, model and question. Answers are compared with the model, the data and
    the constraints. The model itself predicts every answer. An answer is *valid* if it then meets the target.

    - `model`, `data`, `space`: as for `Explainer`;
    - `target`, `constraints`: as for `explain`: the question that all methods had to answer;
    - `neighbours`: how many training rows plausibility looks at;
    - `seed`: the seed of its random choices.

    The measures are:

    - `validity`: the share of the answers that are valid;
    - `coverage`: the number of distinct valid answers divided by the number wanted;
    - `proximity`, `categorical_proximity`, `sparsity`, `diversity`, `normalised_diversity`, `standardised_diversity`,
      `contradiction`: the functions of that name in `butfor.measure`;
    - `neighbour_distance`, `outlier_factor`, `isolation`: the means of the methods of that name of `Plausibility`;
    - `violations`: the share of answers that break a constraint, or hold a value that a column never takes (outside its
      range and not the factual's own, or between its steps);
    - `seconds`: the time for one factual.

    All of them except validity, coverage and seconds are about the *distinct valid* answers. If a set has none, their
    value is NaN.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> judge = Judge(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), X, target=2)
    >>> found = judge.measures(X.iloc[[70, 100, 101, 142]], X.iloc[[60]])  # 70 is predicted 2 as well; 101 equals 142
    >>> found["validity"], found["coverage"], found["sparsity"]
    (1.0, 0.75, 1.0)
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        target: Any = "other",
        constraints: Constraints = (),
        space: Mapping[str, Declaration] | None = None,
        neighbours: int = 10,
        seed: int = 0,
    ) -> None:
        self._reading = read(model, data, space)
        self._reading, self._question = ask(self._reading, target, None, constraints)
        self._referee = Referee(self._reading, self._question.target)
        self._plausibility = Plausibility(data, self.space, neighbours=neighbours, seed=seed)

    @property
    def space(self) -> Space:
        """What is known about each column. The answers of all methods are read by it."""
        return self._reading.space

    def measures(
        self, answers: Any, factuals: Any, *, k: int | None = None, seconds: Seconds = None
    ) -> dict[str, float]:
        """The measures of one method's answers. Each is the mean over the factuals that have a value.

        `answers` is one of:

        - `Explanations`;
        - a list with one entry per factual: a table, an `Explanation`, `Explanations` or None;
        - one table. If there is a single factual, all rows answer it; otherwise row i answers factual i. A row in which
          every value is missing does not count as an answer.

        `k` is how many answers per factual were wanted (default: the largest number that a factual got). `seconds` is
        the time taken: one number for all factuals together, or one per factual. butfor's own answers know theirs.
        """
        times = {} if seconds is None else {"answers": seconds}
        found = self._measured({"answers": answers}, factuals, k, times)["answers"]
        return {name: _mean(found[name]) for name in MEASURES}

    def frame(
        self,
        methods: Mapping[str, Any],
        factuals: Any,
        *,
        k: int | None = None,
        seconds: Mapping[str, Any] | None = None,
        by: Literal["method", "factual"] = "method",
    ) -> Any:
        """The measures of several methods on the same factuals, as a table.

        - `methods`: method -> its answers, as for `measures`;
        - `k`: as for `measures`;
        - `seconds`: method -> the time taken, for methods whose answers do not know it;
        - `by`: "method" gives one row per method, "factual" one row per method and factual.

        The result is a table of the same kind as the data (for arrays, a dict of columns).
        """
        if by not in ("method", "factual"):
            raise InputError(f"by={by!r} was given.", "It must be 'method' or 'factual'.")
        if not isinstance(methods, Mapping) or not methods:
            raise InputTypeError(
                f"{type(methods).__name__} was given.", "Give the answers by method: {'butfor': answers, ...}."
            )
        found = self._measured(methods, factuals, k, seconds or {})
        columns: dict[str, list[Any]]
        if by == "factual":
            columns = {"method": [], "factual": [], "answers": [], **{name: [] for name in MEASURES}}
            for method, one in found.items():
                columns["method"] += [method] * len(one["answers"])
                columns["factual"] += range(len(one["answers"]))
                for name, values in one.items():
                    columns[name] += values.tolist()
        else:
            columns = {
                "method": list(found),
                "answers": [int(one["answers"].sum()) for one in found.values()],
                **{name: [_mean(one[name]) for one in found.values()] for name in MEASURES},
            }
        sample = self._reading.sample
        return frames.framed(sample, columns)

    def invalidation(
        self, answers: Any, factuals: Any, sigma: Lengths, *, copies: int = 10_000, seed: int = 0
    ) -> FloatArray:
        """The share of noisy copies of each answer that do not meet the target. Smaller is safer.

        The *invalidation rate* `P(c + e does not meet the target)`, where e_j ~ N(0, sigma_j) are independent (Pawelczyk
        et al., "Probabilistically robust recourse", ICLR 2023). Choose it to see what usual errors do to an answer;
        `bf.robust` promises something for all errors up to a size. It is estimated: with n copies, a rate p is off by
        about `sqrt(p (1 - p) / n)`. The copies may leave the range of a column, and break constraints.

        - `answers`, `factuals`: as for `measures`. There is one share per answer, in the order of the factuals;
        - `sigma`: the standard deviation by column, in its own units (`{"income": 200}`), or one number in ranges for all
          columns of real numbers. Whole numbers are rounded to a step, and levels and missing values stay as they are;
        - `copies`, `seed`: how many copies of each answer, and of which random numbers. All answers get the same noise.

        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X = np.array([[0.0], [1.1], [1.9], [3.0]])
        >>> judge = Judge(LogisticRegression().fit(X, [0, 0, 1, 1]), X, target=1)  # the border is at 1.5
        >>> judge.invalidation([[[1.6]], [[2.0]]], [[0.0], [1.1]], {"x0": 0.25}).round(2).tolist()
        [0.34, 0.02]
        """
        if isinstance(copies, bool) or not isinstance(copies, int | np.integer) or copies < 1:
            raise InputError(f"copies={copies!r} was given.", "It must be a whole number of at least 1.")
        spread, table = spread_of(sigma, self.space), frames.as_table(factuals)
        asked = given(answers, self.space.encode(table), self.space)
        before, shares = Prediction(self._reading.source, table), []
        for point, row in zip(asked.points, asked.row, strict=True):
            after = self._predicted(noisy(point, spread, self.space, int(copies), np.random.default_rng(seed)))
            met = self._question.target.met(before.take(np.full(int(copies), row)), after)
            shares.append(1.0 - float(np.mean(met)))
        return np.array(shares)

    def _measured(
        self, methods: Mapping[str, Any], factuals: Any, k: int | None, seconds: Mapping[str, Any]
    ) -> dict[str, dict[str, FloatArray]]:
        """For each method, every measure of every factual."""
        table = frames.as_table(factuals)
        if not frames.height(table):
            raise InputError("no factual was given.", "At least one row is needed.")
        start = self.space.encode(table)
        sets = {str(method): _named(method, answers, start, self.space) for method, answers in methods.items()}
        times = {method: answers.seconds for method, answers in sets.items()} | _times(seconds, sets, len(start))
        before = Prediction(self._reading.source, table)
        most = _asked(k, sets, len(start))
        return {method: self._of_one(answers, times[method], start, before, most) for method, answers in sets.items()}

    def _of_one(
        self, answers: Given, seconds: FloatArray, start: FloatArray, before: Prediction, most: int
    ) -> dict[str, FloatArray]:
        """Every measure of every factual, for the answers of one method."""
        after = self._predicted(answers.points)
        valid = (
            self._question.target.met(before.take(answers.row), after)
            if len(answers.row)
            else np.zeros(0, dtype=np.bool_)
        )
        of = [np.flatnonzero(answers.row == row) for row in range(len(start))]
        good = [rows[valid[rows]] for rows in of]
        good = [rows[distinct(answers.points[rows])] for rows in good]
        each = self._of_each(np.concatenate(good), answers, start, before, after)
        found = [self._of_set(start[[row]], answers.points[rows]) for row, rows in enumerate(good)]
        return {
            "answers": np.array([len(rows) for rows in of]),
            "validity": np.array([_mean(valid[rows]) for rows in of]),
            "coverage": np.array([len(rows) / most for rows in good]),
            **{name: np.array([one[name] for one in found]) for name in found[0]},
            **{name: np.array([_mean(values[rows]) for rows in good]) for name, values in each.items()},
            "seconds": seconds,
        }

    def _of_set(self, factual: FloatArray, points: FloatArray) -> dict[str, float]:
        """The measures of one set of answers that are functions."""
        x, answers, space = Coded(factual), Coded(points), self.space
        return {
            "proximity": measures.proximity(x, answers, space),
            "categorical_proximity": measures.categorical_proximity(x, answers, space),
            "sparsity": measures.sparsity(x, answers, space),
            "diversity": measures.diversity(answers, space),
            "normalised_diversity": measures.normalised_diversity(x, answers, space),
            "standardised_diversity": measures.standardised_diversity(answers, space),
            "contradiction": measures.contradiction(x, answers, space),
        }

    def _of_each(
        self, good: IntArray, answers: Given, start: FloatArray, before: Prediction, after: Prediction
    ) -> dict[str, FloatArray]:
        """The measures of single answers, for the `good` ones (NaN for the others)."""
        points, rows = answers.points[good], answers.row[good]
        near, consequences = self._plausibility, self._question.consequences(self.space)
        acted = consequences.actions(start[rows], points) if consequences else None
        parts = {
            "neighbour_distance": near.neighbour_distance(Coded(points)),
            "outlier_factor": near.outlier_factor(Coded(points)),
            "isolation": near.isolation(Coded(points)),
            "violations": ~respected(
                self._question, Changes(start[rows], points, before.take(rows), after.take(good), acted), self._referee
            ),
        }
        whole = {name: np.full(len(answers.row), np.nan) for name in parts}
        for name, values in parts.items():
            whole[name][good] = values
        return whole

    def _predicted(self, points: FloatArray) -> Prediction:
        """What the model predicts for answers. It gets the kind of table that it was trained on."""
        return Prediction(self._reading.source, self._referee.written(points))


def _named(method: Any, answers: Any, factuals: FloatArray, space: Space) -> Given:
    """The answers of a method. An error names the method."""
    try:
        return given(answers, factuals, space)
    except ButforError as error:
        raise type(error)(f"in the answers of {method!r}, {error.given}", error.needed, error.remedy) from None


def _asked(k: int | None, sets: Mapping[str, Given], factuals: int) -> int:
    """How many answers per factual were wanted. The default is the largest number that a factual got."""
    counts = {method: np.bincount(answers.row, minlength=factuals) for method, answers in sets.items()}
    if k is None:
        return max(1, *(int(count.max()) for count in counts.values()))
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k={k!r} was given.", "It must be a whole number of at least 1.")
    for method, count in counts.items():
        if count.max() > k:
            raise InputError(
                f"{method!r} gives {count.max()} answers to the factual in row {count.argmax()}, but k={k} was given.",
                "k is the number of answers wanted per factual, so no factual can have more.",
            )
    return int(k)


def _times(seconds: Mapping[str, Any], sets: Mapping[str, Given], factuals: int) -> dict[str, FloatArray]:
    """The seconds for each factual, for methods whose times are given.

    A single number is the time for all factuals together.
    """
    found = {}
    for method, taken in seconds.items():
        if method not in sets:
            raise InputError(f"seconds names {method!r}.", f"The methods are {', '.join(sets)}.")
        message = (
            f"seconds={taken!r} was given for {method!r}.",
            f"One number of at least 0 is needed, or {factuals} of them, one per factual.",
        )
        if isinstance(taken, Iterable):
            each = np.array([number(one, *message) for one in taken])
        else:
            each = np.full(factuals, number(taken, *message) / factuals)
        if len(each) != factuals or not (each >= 0).all():
            raise InputError(*message)
        found[method] = each
    return found


def _mean(values: Any) -> float:
    """The mean of the values that are not NaN; NaN if there are none."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else float("nan")


def plot(table: Any, measures: Sequence[str] | None = None) -> Any:
    """Draw the table that `Judge.frame` made: one panel per measure, one bar per method. Returns the axes.

    If the table was made by factual, the bars are means and each factual is a dot. `measures` chooses the panels
    (default: all measures that have a value). It needs matplotlib.
    """
    from butfor.views.bars import draw

    columns = frames.listed(table)
    known = [name for name in MEASURES if name in columns]
    if "method" not in columns or not known:
        raise InputError("this table has no column 'method', or no measure.", "Give the table that Judge.frame made.")
    absent = [name for name in measures or () if name not in known]
    if absent or (measures is not None and not measures):
        raise InputError(f"measures={measures!r} was given.", f"Choose from {', '.join(known)}.")
    panels = {}
    for name in measures or known:
        values = np.array([np.nan if value is None else value for value in columns[name]], dtype=np.float64)
        if measures or not np.isnan(values).all():
            panels[f"{name.replace('_', ' ')} ({'higher' if MEASURES[name] else 'lower'} is better)"] = values
    return draw([str(method) for method in columns["method"]], panels)
