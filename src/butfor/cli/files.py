"""Files that are named on the command line: models, tables, answers, pages."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from butfor.errors import ButforError, InputError, InputTypeError, MissingExtraError
from butfor.estimator.files import from_file, is_model_file
from butfor.explanation.explanations import Explanations
from butfor.importers.known_levels import known_levels
from butfor.records import writing
from butfor.records.whole_file import write_whole
from butfor.space.text_cells import with_levels

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
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            loaded = joblib.load(path)
        except OSError:
            raise
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"the model in {path} needs {error.name}.", "It is not installed.") from None
        except Exception as error:
            raise InputTypeError(
                f"{path} contains no model that can be loaded ({type(error).__name__}: {error}).",
                "A fitted estimator saved with joblib or pickle, or a file of CatBoost, XGBoost, LightGBM or ONNX, is needed.",
            ) from None
    for message in dict.fromkeys(str(one.message) for one in warned):
        typer.echo(f"butfor: warning: {message}", err=True)
    return loaded


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
        raise InputError(f"{path} is not a table: {type(error).__name__}: {error}.") from None


def _reader(suffix: str) -> tuple[str, Callable[..., Any]]:
    """The first library that is installed, and its function that reads such files."""
    for library, function in READERS[suffix].items():
        try:
            return library, getattr(import_module(library), function)
        except ImportError:
            continue
    raise ImportError(f"{' or '.join(READERS[suffix])} is not installed")


def check_ending(path: Path | None) -> None:
    """Refuse a file for answers whose ending does not say how they are to be written."""
    if path is not None and path.suffix.lower() not in WRITERS:
        raise InputError(f"--out {path} was given.", f"The name of the file must end in {' or '.join(WRITERS)}.")


def write_answers(path: Path, answers: Explanations) -> None:
    """Write answers in the way that the ending of the file says."""
    WRITERS[path.suffix.lower()](answers, path)
    typer.echo(f"Wrote {path}.", err=True)


def _write_records(answers: Explanations, path: Path) -> None:
    write_whole(path, [answers.to_json()])


WRITERS: dict[str, Callable[[Explanations, Path], None]] = {".json": _write_records, ".jsonl": writing.write_batch}
"""How answers are written, by the ending of the file."""


def write(path: Path, words: str) -> None:
    """Write a file completely or not at all, and say that it was written."""
    write_whole(path, [words])
    typer.echo(f"Wrote {path}.", err=True)
