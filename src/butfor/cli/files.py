"""Files that are named on the command line: models, tables, answers, pages."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from butfor.errors import InputError, InputTypeError, MissingExtraError

READERS = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}


def load(path: Path) -> Any:
    """The estimator in a file. Warnings, such as about another version, are printed as lines."""
    import joblib

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
                "A fitted estimator saved with joblib or pickle is needed.",
            ) from None
    for message in dict.fromkeys(str(one.message) for one in warned):
        typer.echo(f"butfor: warning: {message}", err=True)
    return loaded


def read_table(path: Path) -> Any:
    """The table in a file, read with whichever data frame library is installed."""
    if path.suffix.lower() not in READERS:
        raise InputError(f"{path} was given as data.", f"The name of the file must end in {', '.join(READERS)}.")
    with path.open("rb"):
        pass  # a file that cannot be opened gives the system's own error, whatever the library would say
    try:
        return _reader(path.suffix.lower())(path)
    except OSError:
        raise
    except ImportError as error:
        raise MissingExtraError(f"{path} cannot be read: {error}.", "", 'Run: pip install "butfor[frames]"') from None
    except Exception as error:
        raise InputError(f"{path} is not a table: {type(error).__name__}: {error}.") from None


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


def read_text(path: Path) -> str:
    """The text of a file with an answer."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8.", "The JSON of an answer is needed.") from None


def write(path: Path, words: str) -> None:
    """Write a file completely or not at all, and say that it was written."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(words, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)
    typer.echo(f"Wrote {path}.", err=True)
