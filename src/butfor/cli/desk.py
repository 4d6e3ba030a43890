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
    training, rules, words = (opening[name] and Path(opening[name]) for name in ("training", "rules", "words"))
    estimator = load(Path(opening["model"]))
    table = read_table(Path(opening["data"]), estimator)
    known = table if training is None else read_table(training, estimator)
    explainer = QuestionOptions(rules=rules, words=words).explainer(estimator, known)
    return Desk(explainer, table, None if opening["log"] is None else Log(opening["log"]), opening["unlogged"])


if __name__ == "__main__":
    work(lambda opening: at(opened(opening)))
