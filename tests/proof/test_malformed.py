"""Files that nobody would write: the second checker, in C, says no to them, and neither crashes nor hangs."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.proof.by_hand import by_hand, weighed
from tests.proof.cases import Case
from tests.proof.second import said, watched, written
from tests.proof.test_forged_files import unreached

__all__ = ["watched"]

NUMBERS = ("-2147483648", "2147483648", "-1", "0", "1e999", "-1e308", "9" * 30, "1.5", "65536", "100000")
ODD = (*NUMBERS, '"0x1p-1074"', '"0x1.fp+996"', '"inf"', "null", "[]", "{}", "true", '"a"')
"""What may stand in place of a number."""

VALUE = re.compile(r'"-?0x[0-9a-fp.+-]+"|-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|null|true|false')

UNIT = {"leak": [0], "weight": [[1]], "base": [0]}
NETWORK: dict[str, Any] = {"sum": "value", "base": [0], "weights": [[1]], "off": [0], "layers": [UNIT]}
FIVE = {"of": ["value", None], "at least": (5.0).hex()}


def malformed(r: random.Random, text: str) -> str:
    """A text with some of its numbers, or some of its letters, changed."""
    for _ in range(r.choice([1, 1, 2, 4])):
        values = list(VALUE.finditer(text))
        if values and r.random() < 0.6:
            its = r.choice(values)
            text = text[: its.start()] + r.choice(ODD) + text[its.end() :]
        elif text:
            at, size = r.randrange(len(text)), r.choice([1, 1, 2, 10, 1000])
            put = r.choice(["", "", text[at : at + size] * 2, "\\u00", "\0", "[", "=", "\n", " ", "é"])
            text = text[:at] + put + text[at + size :]
    return text


def one_malformed(r: random.Random) -> Callable[[str], str]:
    """A change of one of three texts: of the model, the question or the head."""
    places = iter(r.sample([True, False, False], 3))
    return lambda text: malformed(r, text) if next(places) else text


def of_all_kinds() -> list[Case]:
    libraries = [unreached(library) for library in ("lightgbm", "xgboost", "catboost")]
    first = {"leak": [0, (0.5).hex()], "weight": [[1, 2], [1, -1]], "base": [0, 1]}
    layers = [first, {**UNIT, "leak": [1, 0], "weight": [[1, 1]]}]
    network = {"sum": "value", "base": [0, 0], "weights": [[1, 2]], "off": [0, 0], "layers": layers}
    weights = {"sum": "value", "base": 0, "weights": [1], "off": [0]}
    mine = [weighed(told, FIVE, 0.25, {"rate": [1, 0]}, {"end": "dual"}) for told in (weights, network)]
    return [*libraries, *by_hand()[::4], *mine]


@pytest.mark.parametrize(("seed", "count"), [(0, 200), pytest.param(1, 4000, marks=pytest.mark.long)])
def test_no_file_makes_it_crash(seed: int, count: int, watched: Path, tmp_path: Path) -> None:
    r, every = random.Random(seed), of_all_kinds()
    files = [written(r.choice(every), tmp_path / str(k), one_malformed(r)) for k in range(count)]
    words = said(watched, files)
    assert count / 2 < sum(one.startswith("NOT VERIFIED") for one in words) < count


def hostile() -> list[Case]:
    """Files that are larger than a stack, or whose numbers lead out of lists, or are none."""
    many, count = 400_000, 300_000
    levels = weighed(NETWORK, FIVE, 1.0, {"end": "dual"})
    column = {"name": "x", "features": [0], "levels": [["a", 0]] * many}
    mine = {"columns": [{"now": 0, "prices": [0] * many}], "below": None}
    levels = replace(levels, shared={**levels.shared, "columns": [column]}, own={**levels.own, **mine})
    layer = {**UNIT, "leak": [0] * count, "weight": [[0] * count]}
    wide = {**NETWORK, "base": [0] * count, "weights": [[0] * count], "off": [0] * count, "layers": [layer]}
    recorded = weighed(wide, FIVE, 1.0, {"end": "dual"})
    recorded = replace(recorded, shared={**recorded.shared, "recorded": [[[0], 0]]})
    lightgbm, xgboost = unreached("lightgbm"), unreached("xgboost")
    unsized = re.sub("tree_sizes=.*\n", "", lightgbm.content)
    texts = [
        re.sub("left_child=(-?[0-9]+)", "left_child=-2147483648", unsized),
        re.sub("leaf_value=[^ ]+", "leaf_value=inf", unsized),
        re.sub("leaf_value=[^ ]+", "leaf_value=1e999", unsized),
    ]
    told = json.loads(xgboost.content)
    its = told["learner"]["gradient_booster"]["model"]["trees"][0]
    its["right_children"][0] = -1
    its["split_type"][0] = 1
    its.update(categories_nodes=[0], categories_segments=[0], categories_sizes=[1], categories=[0])
    return [
        levels,
        recorded,
        *(replace(lightgbm, content=text) for text in texts),
        replace(xgboost, content=json.dumps(told)),
    ]


def test_hostile_files_are_refused(watched: Path, tmp_path: Path) -> None:
    words = said(watched, [written(one, tmp_path / str(k)) for k, one in enumerate(hostile())])
    assert all(one.startswith("NOT VERIFIED") for one in words)
