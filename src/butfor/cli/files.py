"""Files that are named on the command line: models, tables, answers, pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from butfor.cli.printing import warned_in_lines
from butfor.errors import ButforError, InputError, InputTypeError, MissingExtraError
from butfor.estimator.files import READERS_OF_MODELS, from_file, is_model_file
from butfor.explain.rules import rules
from butfor.explanation.column_words import Words
from butfor.explanation.explanations import Explanations
from butfor.importers.known_levels import known_levels
from butfor.portfolio import results
from butfor.portfolio.folder import put
from butfor.records import writing
from butfor.records.whole_file import write_together, write_whole
from butfor.space.arrow import pyarrow
from butfor.space.text_cells import with_levels
from butfor.views import answer_frames

READERS = {
    ".csv": {"pandas": "read_csv", "polars": "read_csv"},
    ".parquet": {"pandas": "read_parquet", "polars": "read_parquet"},
    ".feather": {"pandas": "read_feather", "polars": "read_ipc"},
    ".xlsx": {"pandas": "read_excel"},
}
"""The functions that read tables, by the ending of the file."""

AS_TEXT: dict[str, dict[str, dict[str, Any]]] = {
    ".csv": {"pandas": {"dtype": str, "keep_default_na": False}, "polars": {"infer_schema": False}},
    ".xlsx": {"pandas": {"dtype": str, "keep_default_na": False}},
}
"""How to read every cell as text, for files that do not say what is text."""


def load(path: Path) -> Any:
    """The estimator in a file. Warnings, such as about another version, are printed as lines."""
    import joblib

    if is_model_file(path):
        return from_file(path)
    with warned_in_lines():
        try:
            return joblib.load(path)
        except OSError:
            raise
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"the model in {path} needs {error.name}.",
                "It is not installed.",
                "Install the libraries that the model was fitted with.",
            ) from None
        except Exception as error:
            raise InputTypeError(
                f"{path} contains no model that can be loaded ({type(error).__name__}: {error}).",
                "A fitted estimator saved with joblib or pickle is needed, or a file that ends in "
                f"{', '.join(READERS_OF_MODELS)}.",
            ) from None


def read_table(path: Path, model: Any) -> Any:
    """The table in a file, read with whichever data frame library is installed.

    CSV and Excel do not say what is text. Columns whose levels the model knows as text are read as text.
    """
    if path.suffix.lower() not in READERS:
        raise InputError(f"{path} was given as data.", f"The name of the file must end in {', '.join(READERS)}.")
    with path.open("rb"):
        pass  # a file that cannot be opened gives the system's own error, whatever the library would say
    table = _read(path)
    if path.suffix.lower() not in AS_TEXT:
        return table
    known = {name: levels for name, levels in _levels(model, table).items() if any(isinstance(v, str) for v in levels)}
    return with_levels(table, _read(path, as_text=True), known) if known else table


def _levels(model: Any, table: Any) -> dict[str, tuple[Any, ...]]:
    """The levels that the model knows. If the table is not one for it, that is said later, when the model is read."""
    try:
        return known_levels(model, table)
    except ButforError:
        return {}


def _read(path: Path, *, as_text: bool = False) -> Any:
    try:
        library, function = _reader(path.suffix.lower())
        return function(path, **(AS_TEXT[path.suffix.lower()][library] if as_text else {}))
    except OSError:
        raise
    except ImportError as error:
        raise MissingExtraError(f"{path} cannot be read: {error}.", "", 'Run: pip install "butfor[frames]"') from None
    except Exception as error:
        raise InputError(
            f"{path} is not a table: {type(error).__name__}: {error}.", "The file must be what its ending says."
        ) from None


def _reader(suffix: str) -> tuple[str, Callable[..., Any]]:
    """The first library that is installed, and its function that reads such files."""
    for library, function in READERS[suffix].items():
        try:
            return library, getattr(import_module(library), function)
        except ImportError:
            continue
    raise ImportError(f"{' or '.join(READERS[suffix])} is not installed")


def read_words(path: Path) -> Words:
    """The words in a file of words, or of rules."""
    found = rules(path).words
    if found is None:
        raise InputError(f"{path} holds no words.", 'Write label = "..." in a table [columns.NAME], or [prediction].')
    return found


def check_ending(path: Path | None, endings: Iterable[str] | None = None) -> None:
    """Refuse a file whose ending does not say how it is to be written (default: as answers)."""
    known = list(WRITERS if endings is None else endings)
    if path is not None and path.suffix.lower() not in known:
        raise InputError(f"--out {path} was given.", f"The name of the file must end in {' or '.join(known)}.")


def write_answers(path: Path, answers: Explanations) -> None:
    """Write answers in the way that the ending of the file says."""
    WRITERS[path.suffix.lower()](answers, path)
    typer.echo(f"Wrote {path}.", err=True)


def _write_records(answers: Explanations, path: Path) -> None:
    write_whole(path, [answers.to_json()])


WRITERS: dict[str, Callable[[Explanations, Path], None]] = {
    ".json": _write_records,
    ".jsonl": writing.write_batch,
    ".csv": answer_frames.write_csv,
    ".parquet": results.write,
}
"""How answers are written, by the ending of the file."""


def _write_csv(columns: dict[str, list[Any]], path: Path) -> None:
    write(path, answer_frames.csv_of(columns))


def _write_parquet(columns: dict[str, list[Any]], path: Path) -> None:
    put(path, lambda beside: pyarrow("parquet").write_table(pyarrow().table(columns), beside))
    typer.echo(f"Wrote {path}.", err=True)


TABLE_WRITERS: dict[str, Callable[[dict[str, list[Any]], Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
"""How tables are written, by the ending of the file."""


def write_letters(folder: Path, letters: dict[str, str]) -> None:
    """Write texts into a folder, which is made if it is not there: all of them or none."""
    write_together(folder, {name: text + "\n" for name, text in letters.items()})
    typer.echo(f"Wrote {len(letters)} {'letter' if len(letters) == 1 else 'letters'} into {folder}.", err=True)


def write(path: Path, words: str) -> None:
    """Write a file completely or not at all, and say that it was written."""
    write_whole(path, [words])
    typer.echo(f"Wrote {path}.", err=True)
