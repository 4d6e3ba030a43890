"""Answers that tests log, and what is done to a log by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa

import butfor as bf
from butfor.ledger.address import url_of
from tests.portfolio.asked import explainer, rows

QUESTION: dict[str, Any] = {"target": True, "constraints": ["fixed age"]}


@cache
def answers(count: int = 8) -> bf.Explanations:
    return explainer().explain(rows(count), **QUESTION, progress=False)


def filled(where: str, count: int = 8) -> None:
    """A log with so many answers."""
    with bf.Log(where, who="Ms Li") as log:
        log.append(answers(count))


def by_hand(where: str, *words: str) -> None:
    """Change what a log holds, as somebody does who has the data base."""
    engine = sa.create_engine(url_of(where), poolclass=sa.NullPool)
    with engine.begin() as connection:
        for one in words:
            connection.exec_driver_sql(one)


def seen(where: str, words: str) -> list[Any]:
    """What a data base holds."""
    engine = sa.create_engine(url_of(where), poolclass=sa.NullPool)
    with engine.connect() as connection:
        return list(connection.exec_driver_sql(words))
