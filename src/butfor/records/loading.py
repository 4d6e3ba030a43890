"""Answers from a file, whichever way they were written."""

from __future__ import annotations

import os

from butfor.errors import InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.records import batch, record
from butfor.records.whole_file import path_of


def load(path: str | os.PathLike[str]) -> Explanation | Explanations:
    """The answer or the answers in a file that `to_json` or `to_jsonl` wrote.

    One record gives an `Explanation`. A list of records of one call, or a batch of JSON lines, gives `Explanations`.

    >>> import tempfile, butfor as bf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> answers = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X).explain(X[:3])
    >>> with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
    ...     answers.to_jsonl(file.name)
    ...     load(file.name) == answers
    True
    """
    found = path_of(path)
    if found.is_dir():
        raise InputError(f"{found} is a folder.", "The path of a file that to_json() or to_jsonl() wrote is needed.")
    try:
        text = found.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{found} is not text in UTF-8.", "A file that to_json() or to_jsonl() wrote is needed."
        ) from None
    if batch.is_batch(text) or text.lstrip().startswith("["):
        return record.load_together(text)
    return record.load(text)
