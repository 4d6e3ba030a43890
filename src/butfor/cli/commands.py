"""The commands of `butfor`.

What a command needs is imported when it runs. So `butfor --help` comes at once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import butfor
from butfor.audit.patience import RECHECK_SECONDS
from butfor.cli.asked import QuestionOptions, RowOptions
from butfor.cli.dossiers import dossier
from butfor.cli.expanded import expanded
from butfor.cli.letters import letter
from butfor.cli.logs import logs
from butfor.cli.options import (
    Answer,
    Bounds,
    Conflicts,
    Data,
    GivenForests,
    Html,
    LogOption,
    Model,
    Out,
    Quiet,
    RulesFile,
    Sample,
    Threads,
    TimeLimit,
    TimeLimitPerRow,
    WordsFile,
)
from butfor.cli.portfolios import portfolios
from butfor.cli.printing import printed
from butfor.cli.serving import serve
from butfor.cli.several import groups, ladder, menu
from butfor.errors import ButforError, InputError
from butfor.proof.patience import PROOF_SECONDS

FAILED = 1
"""The exit code of a check that failed. A command with wrong input ends with 2."""

APPLICANT = 206
"""The row that the demo and the tutorial explain."""

USAGE: type[Exception] = typer.BadParameter.mro()[1]
"""The error about words that a command does not have. Which module defines it depends on the version of typer."""


class Commands(TyperGroup):
    """The group of commands. A user's mistake gives one message, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except ButforError as error:
            typer.echo(f"butfor: {error}", err=True)
        except OSError as error:
            typer.echo(f"butfor: {error.filename or ''}: {error.strerror or error}", err=True)
        except USAGE as error:
            _point_to_text(error)
            raise
        raise typer.Exit(2)


def _point_to_text(error: Any) -> None:
    """Say of an option that is the word of a constraint how to write the constraint."""
    from butfor.problem.written.phrases import PHRASES

    word = getattr(error, "option_name", "").lstrip("-").replace("-", "_")
    if word in PHRASES:
        error.message = f'{error.message}. Constraints are texts: --constraint "{word} {PHRASES[word].form}".'
        error.possibilities = None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="The cheapest change to one row that makes a trained model answer differently, with a certificate.",
)


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
    html: Annotated[Path, typer.Option("--html", metavar="FILE", help="The file for the page.")] = Path("demo.html"),
) -> None:
    """Explain a rejected loan application from a built-in table, and write a page."""
    from butfor.cli.files import write
    from butfor.datasets import loans
    from butfor.explain.explainer import Explainer
    from butfor.problem.constraints import names as rule
    from butfor.space.feature import Step

    X, y = loans.load()
    explainer = Explainer(loans.pipeline().fit(X, y), X, space={"months": Step(6, low=12, high=72)})
    possible = [rule.fixed("sex", "age", "late_payments"), rule.only_up("education")]
    answer = explainer.explain(X.iloc[[APPLICANT]], target="approved", constraints=possible)
    typer.echo(f"Applicant {APPLICANT} was rejected. What is the cheapest change that gets the loan approved, if")
    typer.echo(f"{', '.join(map(repr, possible))}?\n")
    printed(answer)
    typer.echo("\nRecomputed with the model itself:")
    for name, passed in answer.certificate.checks:
        typer.echo(f"  {'passed' if passed else 'FAILED'} - {name}")
    write(html, answer.to_html())
    typer.echo(
        "The first question of another kind waits some seconds for its solver. `butfor warm` compiles all of them now.",
        err=True,
    )


@app.command()
def warm() -> None:
    """Compile all loops now, so that the first explanation of every process comes at once."""
    from butfor.warming.warm import warm as compile_all

    typer.echo("Compiling all loops. Two idle processors take about 40 s, and busy ones longer.", err=True)
    place = compile_all()
    typer.echo(f"Everything is compiled and kept in {place}.")


@app.command()
@expanded
def explain(
    chosen: RowOptions,
    asked: QuestionOptions,
    k: Annotated[int, typer.Option("-k", help="How many answers, cheapest first.")] = 1,
    solver: Annotated[str, typer.Option(help="The name of the solver; see `butfor solvers`.")] = "auto",
    time_limit: TimeLimit = None,
    time_limit_per_row: TimeLimitPerRow = None,
    seed: Annotated[
        int, typer.Option(help="The seed of solvers that draw random numbers; it is written into the answer.")
    ] = 0,
    n_jobs: Threads = 1,
    conflicts: Conflicts = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON, for `butfor check`.")] = False,
    out: Out = None,
    html: Html = None,
    log: LogOption = None,
    quiet: Quiet = False,
) -> None:
    """Find the cheapest change to a row that makes the model answer differently.

    If there is no such change, that is an answer, too: it is printed, and the command succeeds.
    """
    import numpy as np

    from butfor.cli.files import check_ending, write, write_answers
    from butfor.cli.parse import conflicts_of
    from butfor.ledger.log import log_of
    from butfor.views import text

    check_ending(out)
    explainer, table, rows = chosen.read(asked)
    with log_of(log) as ledger:
        found = explainer.explain(
            table,
            **asked.question(explainer),
            k=k,
            solver=solver,
            time_limit=time_limit,
            time_limit_per_row=time_limit_per_row,
            seed=seed,
            n_jobs=n_jobs,
            conflicts=conflicts_of(conflicts),
            progress=False if quiet else None,
        )
        answers = replace(found, rows=np.array(rows)[found.rows])
        if ledger is not None:  # as they are counted in the file
            ledger.append(answers)
    if as_json:
        typer.echo(answers.to_json().encode())
    else:
        printed(answers.only if len(answers) == 1 else text.panel_many(answers))
    if out is not None:
        write_answers(out, answers)
    if html is not None:
        write(html, answers.to_html())


@app.command()
def check(
    answer: Answer,
    model: Model,
    plausible: GivenForests = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long it may take to prove the bound of an answer again.")
    ] = RECHECK_SECONDS,
    sample: Sample = None,
    seed: Annotated[int, typer.Option(help="The seed of the draw of --sample.")] = 0,
    bounds: Bounds = True,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", metavar="PATH", help="A proof, or a folder of `butfor prove`: verified in place of solving."
        ),
    ] = None,
    n_jobs: Threads = 1,
    quiet: Quiet = False,
) -> None:
    """Redo the certificate of an answer with the model. The exit code is 1 if a check fails."""
    from butfor.audit.recheck import check_all
    from butfor.cli.files import load
    from butfor.cli.parse import sample_of

    answers = _read(answer)
    if not len(answers):
        raise InputError(f"{answer} contains no answer.", "There is nothing to check.")
    estimator, models = load(model), [load(path) for path in plausible or ()]
    found = check_all(
        answers,
        estimator,
        models,
        time_limit,
        sample=sample_of(sample),
        seed=seed,
        bounds=bounds,
        proof=proof,
        n_jobs=n_jobs,
        progress=False if quiet else None,
    )
    typer.echo(repr(found if len(answers) > 1 else found.results[0]))
    if not found.passed:
        raise typer.Exit(FAILED)


def _read(answer: Path) -> Any:
    """The answers in a file, or the portfolio in a folder."""
    from butfor.portfolio.portfolio import kept
    from butfor.records import reading
    from butfor.records.schema import ContradictionError

    try:
        return kept(answer, reading.each)
    except ContradictionError as error:
        typer.echo(f"FAILED - {error}")
        raise typer.Exit(FAILED) from None


@app.command()
def prove(
    answer: Answer,
    model: Model,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder for the proofs; it is made.")],
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long the proof of one answer may take.")
    ] = PROOF_SECONDS,
    plausible: GivenForests = None,
    quiet: Quiet = False,
) -> None:
    """Write proofs of answers that anybody checks without butfor. The exit code is 1 if a claim is false."""
    from butfor.cli.files import load
    from butfor.errors import RefutedError
    from butfor.proof.prove import prove as written

    answers = _read(answer)
    try:
        asked = [load(path) for path in plausible or ()]
        found = written(
            answers, load(model), out, models=asked, time_limit=time_limit, progress=False if quiet else None
        )
    except RefutedError as error:
        typer.echo(f"FAILED - {error}")
        raise typer.Exit(FAILED) from None
    typer.echo(repr(found))


@app.command()
def report(
    answer: Answer,
    page: Annotated[Path, typer.Argument(metavar="PAGE", help="The file for the page, such as report.html.")],
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column by which rows are grouped.")] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="The title of the page.")] = "",
    words: WordsFile = None,
) -> None:
    """Write a page about answers: a summary, a line per row, and the certificates. It needs no other file."""
    from butfor.cli.files import read_words, write
    from butfor.explanation.explanation import Explanation
    from butfor.portfolio.portfolio import Portfolio, load
    from butfor.report.page import page as page_of

    found = load(answer)
    if isinstance(found, Portfolio):
        if words is not None:
            raise InputError(
                f"--words {words} was given.", f"{answer} is a portfolio, and its page has no words.", "Leave it out."
            )
        write(page, page_of(found, title, by))
        return
    told = found if words is None else found.described(read_words(words))
    if by is not None and isinstance(told, Explanation):
        raise InputError(f"--by {by} was given.", f"{answer} holds a single answer, which has no groups.")
    write(page, told.to_html(title) if isinstance(told, Explanation) else told.to_html(title, by))


@app.command()
@expanded
def solvers(
    model: Model,
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA", help="The table that the model was trained on.")
    ] = None,
    *,
    asked: QuestionOptions,
) -> None:
    """List the solvers that take such a question, and why the others do not.

    Without DATA, the values of the columns are not known. Then all solvers are listed with what they do.
    """
    from butfor.cli.files import load, read_table
    from butfor.solvers.choose import SOLVERS
    from butfor.views import text

    estimator = load(model)
    if data is None:
        printed(text.table(("solver", "what it does"), [(solver.name, solver.does) for solver in SOLVERS]))
        typer.echo("Give the training data as well to see which of them take this model.")
        return
    explainer = asked.explainer(estimator, read_table(data, estimator))
    found = explainer.solvers(**asked.question(explainer))
    printed(
        text.table(
            ("solver", "takes it", "why"),
            [(solver.name, "yes" if support else "no", support.why) for solver, support in found],
        )
    )


@app.command()
def space(model: Model, data: Data, rules: RulesFile = None) -> None:
    """Show what is known about each column that the model reads, and why."""
    from butfor.cli.asked import QuestionOptions
    from butfor.cli.files import load, read_table
    from butfor.views import text

    estimator = load(model)
    listed = QuestionOptions(rules=rules).explainer(estimator, read_table(data, estimator)).space.rows()
    printed(text.table(("column", "kind", "values", "missing", "why"), listed))


for command in (menu, ladder, letter, groups, dossier):
    app.command()(expanded(command))
app.command()(serve)
app.add_typer(portfolios, name="portfolio")
app.add_typer(logs, name="log")


def main() -> None:
    """Run the command line."""
    app(prog_name="butfor")
