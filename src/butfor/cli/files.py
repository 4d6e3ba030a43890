"""Files that are named on the command line: models, tables, answers, pages."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from butfor.errors import InputError, InputTypeError, MissingExtraError
from butfor.estimator.files import from_file, is_model_file
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.views import batch, json
from butfor.views.whole_file import write_whole

READERS = {".csv": "read_csv", ".parquet": "read_parquet", ".feather": "read_feather"}


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


def read_answers(path: Path) -> Sequence[Explanation]:
    """The answers in a file: records, or a batch of JSON lines."""
    return batch.load(path) if path.suffix.lower() == ".jsonl" else json.load_many(read_text(path))


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


WRITERS: dict[str, Callable[[Explanations, Path], None]] = {".json": _write_records, ".jsonl": batch.dump_to}
"""How answers are written, by the ending of the file."""


def write(path: Path, words: str) -> None:
    """Write a file completely or not at all, and say that it was written."""
    write_whole(path, [words])
    typer.echo(f"Wrote {path}.", err=True)
