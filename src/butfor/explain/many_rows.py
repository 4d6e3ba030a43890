"""The questions of an explainer about very many rows, whose answers go into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor
from copy import copy
from os import PathLike
from typing import Any, Literal

from butfor.arrays import IntArray
from butfor.errors import suggests
from butfor.experimental import experimental
from butfor.explain.arguments import budget_of, count_of, meta_of, seed_of, solver_of
from butfor.explain.asking import Asking
from butfor.explain.different import difference_of
from butfor.explain.rules import Rules
from butfor.ledger.log import Log, log_of
from butfor.portfolio.again import First, once_more
from butfor.portfolio.begin import mapped, portfolio_of
from butfor.portfolio.engines import Engines
from butfor.portfolio.manifest import ROWS_PER_PART
from butfor.portfolio.portfolio import Portfolio
from butfor.portfolio.progress import Progress
from butfor.problem.costs import AbstractCost
from butfor.problem.written.constraints import Constraints
from butfor.solvers.solver import AbstractSolver


@suggests
class ManyRows:
    """The methods of an explainer for tables that take a night, or do not fit into memory."""

    _asking: Asking
    _rules: Rules

    def unmet(
        self,
        X: Any,
        target: Any = None,
        *,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        safety: float | None = None,
    ) -> IntArray:
        """The places of the rows that do not meet the target yet. The arguments are those of `explain`.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> explainer.unmet(X[98:103], target=2)
        array([0, 1])
        """
        return self._asking.case(X, *self._rules.asked(target, cost, constraints, safety)).unmet

    @experimental
    def portfolio(
        self,
        rows: Any,
        out: str | PathLike[str],
        target: Any = None,
        *,
        cost: AbstractCost | str | None = None,
        constraints: Constraints = (),
        safety: float | None = None,
        k: int = 1,
        different: Literal["columns", "leaves"] | float | None = None,
        solver: str | AbstractSolver = "auto",
        time_limit: float | None = None,
        time_limit_per_row: float | None = None,
        seed: int = 0,
        conflicts: int | Literal["all"] | None = None,
        id_column: str | None = None,
        where: str | None = None,
        unmet: bool = False,
        rows_per_part: int = ROWS_PER_PART,
        n_jobs: int | None = None,
        executor: Executor | None = None,
        client: Any = None,
        progress: Progress = None,
        meta: Mapping[str, Any] | None = None,
        log: Log | str | PathLike[str] | None = None,
    ) -> Portfolio:
        """The answers of `explain` to very many rows, in a folder: by several processes, and nothing is lost.

        Choose it for a table that takes a night, or does not fit into memory. The folder is the state: each part of the
        rows becomes a file of Parquet there. A second call with the same arguments, here or on another machine that sees
        the folder, does what is missing, and nothing twice. Ctrl-C ends after the running parts.

        - `rows`: a file of Parquet or CSV, a folder or a pattern of such files, a table of any kind, a LazyFrame of
          polars, a dataset of pyarrow, or tables one after the other. None: the rows that the folder holds;
        - `out`: the folder. One that holds answers to something else is refused;
        - `time_limit`: seconds for the whole call. What is missing then, the next call does;
        - `time_limit_per_row`: seconds for each row, as in `explain`;
        - `id_column`: the column that names the rows (default: they are numbered from 0);
        - `where`: a condition such as "income > 3000 and job == 'nurse'": only rows that meet it are asked about, and keep
          their numbers;
        - `unmet`: ask only about the rows that do not meet the target yet;
        - `rows_per_part`: how many rows are done together, and are done again if a process is killed;
        - `n_jobs`: how many processes share the parts (default: one per processor; 1: this process alone);
        - `executor`, `client`: any `concurrent.futures.Executor` of processes, or a `dask.distributed.Client`, in place
          of our own processes;
        - `progress`: a bar (default: where somebody reads it), or "log" for lines of text;
        - `log`: as in `explain`. Each process logs the answers of a part before its file is in its place. A part that is done
          again is logged again.

        The other arguments are those of `explain`. The answers depend on neither the engine nor the number of processes.
        A row that raises an error has the status ERROR, and `portfolio.errors()` lists them.

        >>> import tempfile, butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     explainer.portfolio(X, f"{folder}/answers", target=2, n_jobs=1).reached.statuses["PROVEN_OPTIMAL"]
        150
        """
        options = {
            "target": target, "cost": cost, "constraints": constraints, "safety": safety,
            "k": count_of("k", k),
            "different": difference_of(different), "solver": solver_of(solver, self._asking.reading.space), "seed": seed_of(seed),
            "time_limit_per_row": time_limit_per_row, "conflicts": conflicts, "meta": meta_of(meta), "progress": False,
        }  # fmt: skip
        engines = Engines(executor, client, n_jobs)
        seconds = budget_of(time_limit, time_limit_per_row, None).seconds
        parts = count_of("rows_per_part", rows_per_part)
        with log_of(log) as ledger:
            return portfolio_of(
                self, rows, out, options,
                id_column=id_column, where=where, unmet=unmet, rows_per_part=parts, engines=engines, time_limit=seconds,
                progress=progress, ledger=ledger,
            )  # fmt: skip

    @experimental
    def retry(
        self,
        folder: str | PathLike[str],
        *,
        time_limit_per_row: float,
        first: First = "smallest gap",
        solver: str | AbstractSolver | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        executor: Executor | None = None,
        client: Any = None,
        progress: Progress = None,
        log: Log | str | PathLike[str] | None = None,
    ) -> Portfolio:
        """A second pass over a portfolio: its question once more for the rows that are not proven, with more time.

        Of both answers to a row, the better one is kept: what is proven, then the lower cost, then the higher bound. A
        pass that was ended goes on where it was, if it is asked for again.

        - `folder`: what `portfolio` made;
        - `time_limit_per_row`: seconds for each row that is not proven;
        - `first`: which rows come first. "smallest gap": those that are nearly proven; or "largest gap";
        - `solver`: another solver than before (default: the same).

        The other arguments are those of `portfolio`.
        """
        engines, budget = Engines(executor, client, n_jobs), budget_of(time_limit, time_limit_per_row, None)
        plain = copy(self)
        plain._rules = self._rules.without_question  # the folder says what is asked
        with log_of(log) as ledger:
            return once_more(
                plain, folder,
                time_limit_per_row=time_limit_per_row, first=first, solver=solver, engines=engines,
                time_limit=budget.seconds, progress=progress, ledger=ledger,
            )  # fmt: skip

    @experimental
    def map_frames(
        self, tables: Iterable[Any], target: Any = None, *, id_column: str | None = None, **options: Any
    ) -> Iterator[Any]:
        """The results of a portfolio for tables that come one after the other: for engines that hold the rows themselves.

        Choose it with Spark (`mapInPandas`) or Ray Data (`map_batches`), which decide where rows are and what is done
        again. Each table gives one of the same kind, with a line per answer and the columns of a portfolio's files.

        - `tables`: tables of rows;
        - `id_column`: the column that names the rows (default: they are numbered in their table);
        - `options`: further arguments of `explain`.

        >>> import butfor as bf
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
        >>> found = next(explainer.map_frames([X[60:70]], target=2))
        >>> found["cost"].round(3).tolist()[:3]
        [0.246, 0.104, 0.161]
        """
        return mapped(self, tables, id_column, {"target": target, "progress": False, **options})
