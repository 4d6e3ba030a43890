"""The command `butfor`: explain a row of a file with a saved model, and check an answer later."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import butfor
from butfor import check as checking
from butfor.errors import ButforError, InputError, InputTypeError, MissingExtraError
from butfor.explain import Explainer
from butfor.explanation import Explanation
from butfor.problem import constraint as rule
from butfor.problem import cost as price
from butfor.problem import target as aim
from butfor.problem.abstract import AbstractConstraint
from butfor.space import frames
from butfor.space.feature import Feature, Step
from butfor.space.space import Space
from butfor.views import html as pages
from butfor.views import json, text

FAILED = 1
"""The exit code of a check that failed; a command that was asked wrongly ends with 2."""

COSTS = {"L1": price.L1, "L2": price.L2, "LInf": price.LInf, "L0": price.L0, "Gower": price.Gower, "MAD": price.MAD}

READERS = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}

APPLICANT = 206
"""Whom the demo explains, as the tutorial does."""


class Commands(TyperGroup):
    """The commands; what a user did wrong is one message, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except ButforError as error:
            typer.echo(f"butfor: {error}", err=True)
        except OSError as error:
            typer.echo(f"butfor: {error.filename or ''}: {error.strerror or error}", err=True)
        raise typer.Exit(2)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="The cheapest change to one row that makes a trained model answer differently, with a certificate.",
)

Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A fitted estimator or pipeline, saved with joblib or pickle. Loading such a file runs code in it: "
        "give only files that you trust.",
        show_default=False,
    ),
]
Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table as .csv, .parquet or .feather: the rows to explain, and what values each column takes.",
        show_default=False,
    ),
]
Target = Annotated[str, typer.Option(help="The class that is wanted; several as a,b; 'other': any other class.")]
Cost = Annotated[str, typer.Option(help="L1, L2, LInf, L0, Gower, MAD, or a sum such as L1+0.5*L0.")]
Fixed = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns that keep their value.")]
OnlyUp = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns that do not fall.")]
OnlyDown = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns that do not rise.")]
Between = Annotated[list[str] | None, typer.Option(metavar="A:LOW:HIGH", help="A column that ends in this interval.")]
Within = Annotated[
    list[str] | None, typer.Option(metavar="A:SHARE", help="A column that moves by at most this share of its value.")
]
StepBy = Annotated[list[str] | None, typer.Option("--step", metavar="A:STEP", help="A column that changes in steps.")]
Allowed = Annotated[list[str] | None, typer.Option(metavar="A:X,Y", help="A category that ends as one of these.")]
AtMost = Annotated[int | None, typer.Option(help="How many columns may change.")]
Margin = Annotated[float | None, typer.Option(help="Stay this share of a column's range inside every boundary.")]
Forests = Annotated[
    list[Path] | None,
    typer.Option(
        "--plausible",
        metavar="FOREST",
        help="An isolation forest, saved as MODEL is, to which the answer is no outlier.",
    ),
]
AtLeast = Annotated[float | None, typer.Option(help="Of a regressor: the value that is wanted, or more.")]
AtMostValue = Annotated[float | None, typer.Option("--at-most", help="Of a regressor: the value wanted, or less.")]
Probability = Annotated[float | None, typer.Option(help="With this probability at least of the one class wanted.")]
TimeLimit = Annotated[float | None, typer.Option(metavar="SECONDS", help="What is found by then is shown.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write a page that shows the answer.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"butfor {butfor.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None: ...


@app.command()
def demo(
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="Where the page goes.")] = Path("demo.html"),
) -> None:
    """Explain a rejected loan application of a built-in table, and write the answer as a page."""
    from butfor.datasets import loans

    X, y = loans.load()
    explainer = Explainer(loans.pipeline().fit(X, y), X, space={"months": Step(6, low=12, high=72)})
    possible = [rule.fixed("sex", "age", "late_payments"), rule.only_up("education")]
    answer = explainer.explain(X.iloc[[APPLICANT]], target="approved", constraints=possible)
    typer.echo(f"Applicant {APPLICANT} was rejected. What is the cheapest change that gets the loan approved, if")
    typer.echo(f"{', '.join(map(repr, possible))}?\n")
    _print(answer)
    typer.echo("\nRecomputed with the model itself:")
    for name, passed in answer.certificate.checks:
        typer.echo(f"  {'passed' if passed else 'FAILED'} - {name}")
    _write(html, answer.to_html())
    typer.echo("Compiling the loops of the other solvers, which is done once ...", err=True)
    _warm()


@app.command()
def explain(
    model: Model,
    data: Data,
    row: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="Which row of DATA to explain, counted from 0; several as 3,5 or 0:10."),
    ] = None,
    target: Target = "other",
    probability: Probability = None,
    at_least: AtLeast = None,
    at_most: AtMostValue = None,
    relative_change: Annotated[
        float | None, typer.Option(help="Of a regressor: 0.2 is a prediction 20 % up, -0.2 down.")
    ] = None,
    fixed: Fixed = None,
    only_up: OnlyUp = None,
    only_down: OnlyDown = None,
    between: Between = None,
    within: Within = None,
    step: StepBy = None,
    allowed: Allowed = None,
    at_most_changes: AtMost = None,
    margin: Margin = None,
    plausible: Forests = None,
    cost: Cost = "L1",
    k: Annotated[int, typer.Option("-k", help="How many answers, cheapest first.")] = 1,
    solver: Annotated[str, typer.Option(help="Its name; see `butfor solvers`.")] = "auto",
    time_limit: TimeLimit = None,
    seed: Annotated[int, typer.Option(help="For solvers that draw numbers; it is written into the answer.")] = 0,
    n_jobs: Annotated[int, typer.Option(metavar="N", help="Threads that share the rows; -1: one a processor.")] = 1,
    training: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The table that the model was trained on, if it is not DATA."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for `butfor check`.")] = False,
    html: Html = None,
) -> None:
    """The cheapest change to a row that makes the model answer differently.

    That there is no such change is an answer, too: it is printed, and the command succeeds.
    """
    table = _read_table(data)
    explainer = Explainer(_load(model), table if training is None else _read_table(training))
    rows = _positions(row, frames.height(table))
    found = explainer.explain(
        frames.take(table, rows),
        target=_target(target, probability, at_least, at_most, relative_change, explainer),
        cost=_cost(cost),
        constraints=_constraints(
            explainer.space,
            fixed=fixed, only_up=only_up, only_down=only_down, between=between, within=within, step=step,
            allowed=allowed, at_most_changes=at_most_changes, margin=margin, plausible=plausible,
        ),
        k=k,
        solver=solver,
        time_limit=time_limit,
        seed=seed,
        n_jobs=n_jobs,
    )  # fmt: skip
    single = isinstance(found, Explanation)
    answers = [replace(one, row=rows[one.row]) for one in ([found] if single else found)]
    if as_json:
        typer.echo((json.dump(answers[0]) if single else json.dump_many(answers)).encode())
    else:
        _print(answers[0] if single else text.panel_many(answers))
    if html is not None:
        _write(html, pages.page(answers))


@app.command()
def check(
    answer: Annotated[Path, typer.Argument(metavar="ANSWER", help="What `butfor explain --json` or to_json() wrote.")],
    model: Model,
    plausible: Annotated[
        list[Path] | None,
        typer.Option("--plausible", metavar="FOREST", help="The isolation forest that the answer was asked with."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a claimed bound may take.")
    ] = checking.SECONDS,
) -> None:
    """Redo the certificate of an answer with the model; ends with 1 if anything fails."""
    try:
        answers = json.load_many(_read_text(answer))
    except json.ContradictionError as error:
        typer.echo(f"FAILED - {error}")
        raise typer.Exit(FAILED) from None
    if not answers:
        raise InputError(f"{answer} holds no answer.", "There is nothing to check.")
    estimator, forests = _load(model), [_load(path) for path in plausible or ()]
    results = [checking.check(one, estimator, forests=forests, time_limit=time_limit) for one in answers]
    for one, result in zip(answers, results, strict=True):
        if len(answers) > 1:
            typer.echo(f"Row {one.row}, answer {one.rank}:")
        typer.echo(repr(result))
    if not all(result.passed for result in results):
        raise typer.Exit(FAILED)


@app.command()
def solvers(
    model: Model,
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA", help="The table that the model was trained on.")
    ] = None,
    target: Target = "other",
    cost: Cost = "L1",
    fixed: Fixed = None,
    at_most_changes: AtMost = None,
    margin: Margin = None,
) -> None:
    """Which solver takes such a question to the model, and why not.

    Without DATA it is not known what values the columns take: then all solvers are listed with what they do.
    """
    from butfor.solvers.choose import SOLVERS

    estimator = _load(model)
    if data is None:
        _print(text.table(("solver", "what it does"), [(solver.name, solver.does) for solver in SOLVERS]))
        typer.echo("Give the training data as well to see which of them take this model.")
        return
    explainer = Explainer(estimator, _read_table(data))
    found = explainer.solvers(
        _target(target, None, None, None, None, explainer),
        _cost(cost),
        _constraints(explainer.space, fixed=fixed, at_most_changes=at_most_changes, margin=margin),
    )
    _print(
        text.table(
            ("solver", "takes it", "why"),
            [(solver.name, "yes" if support else "no", support.why) for solver, support in found],
        )
    )


@app.command()
def space(model: Model, data: Data) -> None:
    """What is known of each column that the model reads, and why."""
    listed = Explainer(_load(model), _read_table(data)).space.rows()
    _print(text.table(("column", "kind", "values", "missing", "why"), listed))


def main() -> None:
    """The entry point."""
    app(prog_name="butfor")


def _load(path: Path) -> Any:
    """The estimator in a file; the warnings of a file from another version are passed on as lines."""
    import joblib

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            loaded = joblib.load(path)
        except OSError:
            raise
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"the model in {path} needs {error.name}.", "It is not installed.") from None
        except Exception as error:
            raise InputTypeError(
                f"{path} holds no model that can be loaded ({type(error).__name__}: {error}).",
                "A fitted estimator saved with joblib or pickle is needed.",
            ) from None
    for message in dict.fromkeys(str(one.message) for one in said):
        typer.echo(f"butfor: warning: {message}", err=True)
    return loaded


def _read_table(path: Path) -> Any:
    """A table of a file, by whichever data frame library is there."""
    if path.suffix.lower() not in READERS:
        raise InputError(f"{path} was given as data.", f"Known are files that end in {', '.join(READERS)}.")
    with path.open("rb"):
        pass  # what cannot be opened is said in the words of the system, whatever the library says
    try:
        return _reader(path.suffix.lower())(path)
    except OSError:
        raise
    except ImportError as error:
        raise MissingExtraError(f"{path} cannot be read: {error}.", "", 'Run: pip install "butfor[frames]"') from None
    except Exception as error:
        raise InputError(f"{path} is no table: {type(error).__name__}: {error}.") from None


def _reader(suffix: str) -> Callable[[Path], Any]:
    if suffix == ".feather":
        names = {"pandas": "read_feather", "polars": "read_ipc"}
    else:
        names = dict.fromkeys(("pandas", "polars"), READERS[suffix])
    for library, function in names.items():
        try:
            return getattr(import_module(library), function)  # type: ignore[no-any-return]
        except ImportError:
            continue
    raise ImportError("neither pandas nor polars is installed")


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text in UTF-8.", "The JSON of an answer is needed.") from None


def _write(path: Path, words: str) -> None:
    """Write a file whole or not at all, and say so."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(words, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)
    typer.echo(f"Wrote {path}.", err=True)


def _print(renderable: Any) -> None:
    """In colours and as wide as it is on a terminal, as plain text elsewhere."""
    if not sys.stdout.isatty():
        typer.echo(text.plain(renderable))
        return
    from rich.console import Console

    Console(highlight=False).print(renderable)


def _positions(given: Iterable[str] | None, rows: int) -> list[int]:
    """Which rows are meant by 3, by 3,5 and by 0:10."""
    if not given:
        raise InputError("no row was named.", f"The data has {rows} rows.", "Say --row 3, --row 3,5 or --row 0:10.")
    found: list[int] = []
    for part in (part for words in given for part in words.split(",")):
        ends = [_number(end, int, f"--row {part}") for end in part.split(":")]
        chosen = range(ends[0], ends[-1]) if len(ends) == 2 else ends
        if len(ends) > 2 or not chosen or min(chosen) < 0 or max(chosen) >= rows:
            raise InputError(f"--row {part} was given.", f"The data has the rows 0 to {rows - 1}.")
        found += chosen
    return found


def _target(
    words: str,
    probability: float | None,
    at_least: float | None,
    at_most: float | None,
    by: float | None,
    explainer: Explainer,
) -> Any:
    """The target: classes, the probability of one, or what a regressor is to predict."""
    if at_least is not None or at_most is not None:
        ends = {"at_least": at_least, "at_most": at_most}
        return aim.value(**{name: end for name, end in ends.items() if end is not None})
    if by is not None:
        return aim.relative_change(by)
    known = [label.item() if hasattr(label, "item") else label for label in getattr(explainer.model, "classes_", ())]
    if words == "other" and probability is not None:
        raise InputError("--probability was given without a class.", "Say which with --target.")
    if words == "other":
        return words
    labels = [_meant(part, known) for part in _split(words, map(str, known))]
    if probability is None:
        return aim.classes(*labels)
    if len(labels) != 1:
        raise InputError(f"--probability was given with {len(labels)} classes.", "It is asked of one.")
    return aim.probability(labels[0], probability)


def _cost(words: str) -> price.AbstractCost:
    """A cost written as L1, or as a sum such as L1+0.5*L0."""
    total: price.AbstractCost | None = None
    for part in words.split("+"):
        weight, star, name = part.rpartition("*")
        kind = {known.lower(): term for known, term in COSTS.items()}.get(name.strip().lower())
        if kind is None:
            raise InputError(f"--cost {words} was given.", f"Costs are {', '.join(COSTS)} and sums such as L1+0.5*L0.")
        term = _number(weight, float, f"--cost {words}") * kind() if star else kind()
        total = term if total is None else total + term
    assert total is not None
    return total


def _constraints(space: Space, **given: Any) -> list[AbstractConstraint]:
    """The constraints, from what was said with each option."""
    found: list[AbstractConstraint] = []
    for option in ("fixed", "only_up", "only_down"):
        names = [name for words in given.get(option) or () for name in _split(words, space.names)]
        if names:
            found.append(getattr(rule, option)(*names))
    for feature, (low, high) in _parts(space, given, "between", "A:LOW:HIGH"):
        found.append(rule.between(feature.name, _value(low, feature), _value(high, feature)))
    for feature, (share,) in _parts(space, given, "within", "A:SHARE"):
        found.append(rule.within(feature.name, _number(share, float, f"--within {feature.name}:{share}")))
    for feature, (size,) in _parts(space, given, "step", "A:STEP"):
        found.append(rule.step(feature.name, _number(size, float, f"--step {feature.name}:{size}")))
    for feature, (values,) in _parts(space, given, "allowed", "A:X,Y"):
        known = feature.levels or ()
        found.append(rule.allowed(feature.name, [_meant(value, known) for value in _split(values, map(str, known))]))
    if given.get("at_most_changes") is not None:
        found.append(rule.at_most_changes(given["at_most_changes"]))
    if given.get("margin") is not None:
        found.append(rule.margin(given["margin"]))
    found += [rule.plausible(_load(path)) for path in given.get("plausible") or ()]
    return found


def _parts(space: Space, given: dict[str, Any], option: str, form: str) -> Iterator[tuple[Feature, list[str]]]:
    """For each use of an option, the column and what stands behind its colons."""
    for words in given.get(option) or ():
        parts = words.rsplit(":", form.count(":"))
        if len(parts) <= form.count(":"):
            raise InputError(f"--{option} {words} was given.", f"It is written --{option} {form}.")
        yield space[parts[0]], parts[1:]


def _split(words: str, known: Iterable[str]) -> list[str]:
    """The parts between commas, unless the whole is a known name."""
    return [words] if words in set(known) else [part.strip() for part in words.split(",")]


def _meant(words: str, known: Iterable[Any]) -> Any:
    """The known value that is written so; the words themselves if there is none (whoever uses them says so)."""
    return next((value for value in known if str(value) == words), words)


def _value(words: str, feature: Feature) -> Any:
    """An end of an interval: a level, or a number."""
    if feature.levels is not None and feature.numbers is None:
        return _meant(words, feature.levels)
    return _number(words, float, f"--between {feature.name}")


def _number(words: str, kind: Callable[[str], Any], said: str) -> Any:
    try:
        return kind(words)
    except ValueError:
        raise InputError(f"{said} was given.", f"{words!r} is no {'whole ' if kind is int else ''}number.") from None


def _warm() -> None:
    """Compile the kernels that the demo did not need, so that the first answer of any model comes at once."""
    from butfor.model.ask import evaluate
    from butfor.solvers.ensemble_branch_bound import EnsembleBranchBound
    from butfor.solvers.linear_exact import LinearExact
    from butfor.solvers.solver import AbstractSolver, Budget
    from butfor.testing.problems import Kinds, random_problem

    plain = Kinds(whole=False, levels=False, missing=False, relations=(), costs=("l1", "l0"))
    linear, ensemble = LinearExact(), EnsembleBranchBound()
    forms: tuple[tuple[AbstractSolver, str, Kinds], ...] = (
        (linear, "linear", plain),
        (ensemble, "ensemble", plain),
        (ensemble, "ensemble", Kinds()),
    )
    for solver, form, kinds in forms:
        for problem in (random_problem(seed, form, kinds, trees=3) for seed in range(10)):
            if solver.accepts(problem.form()):
                evaluate(problem.model, problem.factuals)
                solver.solve(problem, Budget())
