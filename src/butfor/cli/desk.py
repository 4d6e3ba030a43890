"""The desk of a model in files, and a process of the server that answers questions at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from butfor.cli.asked import QuestionOptions
from butfor.cli.files import load, read_table
from butfor.ledger.log import Log
from butfor.serve.answering import at
from butfor.serve.desk import Desk
from butfor.serve.team import work


def opened(opening: dict[str, Any]) -> Desk:
    """The desk of a model, its rows, and what is asked in every question: all of them files."""
    files = {
        name: None if path is None else Path(path) for name, path in opening.items() if name not in ("log", "unlogged")
    }
    model, data = (Path(opening[name]) for name in ("model", "data"))
    estimator = load(model)
    table = read_table(data, estimator)
    known = table if files["training"] is None else read_table(files["training"], estimator)
    explainer = QuestionOptions(rules=files["rules"], words=files["words"]).explainer(estimator, known)
    return Desk(explainer, table, None if opening.get("log") is None else Log(opening["log"]), opening["unlogged"])


if __name__ == "__main__":
    work(lambda opening: at(opened(opening)))
