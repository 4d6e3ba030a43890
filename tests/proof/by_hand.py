"""False claims with proofs by hand, each for one fault that a checker could have. Random attacks would hardly find them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np

from tests.proof.cases import Case


def tree(*nodes: tuple[int, float, int, int] | float | list[float]) -> dict[str, Any]:
    """A tree of nodes (feature, cut, left, right) and leaves."""
    inner = [node if isinstance(node, tuple) else (-1, 0.0, -1, -1) for node in nodes]
    feature, cut, left, right = (list(part) for part in zip(*inner, strict=True))
    value = [0.0 if isinstance(node, tuple) else node for node in nodes]
    shares = any(isinstance(node, list) for node in nodes)
    return {
        "feature": feature,
        "cut": [x.hex() for x in cut],
        "left": left,
        "right": right,
        "value": [
            [part.hex() for part in x] if isinstance(x, list) else [x.hex()] * 3 if shares else x.hex() for x in value
        ],
    }


def number(now: float, rate: float, low: float = -10.0, high: float = 10.0) -> dict[str, Any]:
    ends = {"now": now.hex(), "least": low.hex(), "most": high.hex()}
    return {**ends, "stay": True, "price": [(0.0).hex(), rate.hex(), (0.0).hex()]}


def weighed(
    model: dict[str, Any], wanted: dict[str, Any], below: float, *steps: Any,
    grid: str | None = None, name: str = "", **mine: Any,
) -> Case:  # fmt: skip
    """A claim about weighted sums of x, which is 0 and costs 1 a unit."""
    about = {
        "name": "x",
        "features": [0],
        "grid": grid and [grid, "0"],
        "single": False,
        "edges": None,
        "line": [1, 0, 0],
    }
    asked = {"format": "butfor.question/1", "wanted": wanted, "columns": [about], "recorded": []}
    own = {"now": 0, "least": -10, "most": 10, "stay": True, "price": [0, 1, 0], **mine}
    head = {
        "format": "butfor.proof/1",
        "row": "1",
        "columns": [own],
        "changes": None,
        "below": below.hex(),
        "answer": None,
    }
    content = json.dumps({"format": "butfor.linear/1", **model})
    return Case(asked, head, [json.dumps(step) for step in steps], "linear", content, name)


def case(
    name: str, trees: list[Any], columns: list[Any], wanted: float, below: float, *steps: Any,
    grid: list[str] | None = None, reads: str = "float64", base: float = 0.0, missing: list[None] | None = None,
    single: bool = False,
) -> Case:  # fmt: skip
    """A claim about a sum of trees that must reach a value."""
    model = {
        "format": "butfor.forest/1",
        "reads": reads,
        "sum": "value",
        "mean": False,
        "base": base.hex(),
        "scale": "0x1p0",
    }
    shared = {
        "format": "butfor.question/1",
        "wanted": {"of": ["value", None], "at least": wanted.hex()},
        "columns": [
            {"name": "xyz"[j], "features": [j], "grid": grid, "single": single, "edges": None, "missing": missing}
            for j in range(len(columns))
        ],
        "recorded": [],
    }
    own = {
        "format": "butfor.proof/1",
        "row": name,
        "columns": columns,
        "changes": None,
        "below": below.hex(),
        "answer": None,
    }
    return Case(
        shared, own, [json.dumps(step) for step in steps], "arrays", json.dumps({**model, "trees": trees}), name
    )


def of_classes(name: str, trees: list[Any], base: list[float], wanted: Any, *steps: Any, adds: str = "shares") -> Case:
    """A claim that no row gets a class, or one of some, for a change of one number by less than 1.5."""
    said = case(name, trees, [number(-1.0, 1.0)], 0.0, 1.5, *steps)
    model = {**json.loads(said.content), "sum": adds, "mean": adds == "shares", "base": [x.hex() for x in base]}
    return replace(said, shared={**said.shared, "wanted": {"of": ["class", wanted]}}, content=json.dumps(model))


def several_classes() -> list[Case]:
    """False claims about three classes, which are each false for another reason."""
    end = {"end": "score"}
    tied = [tree((0, 0.0, 1, 2), [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]), tree([0.0, 1.0, 0.0])]
    last = [tree((0, 0.0, 1, 2), [1.0, 0.0, 0.0], [0.0, 0.0, 1.0])]
    third = [{**tree((0, 0.0, 1, 2), 2.0, 0.0), "of": 2}]  # less of it lets the second class win, whose base is larger
    first = [{**tree((0, 0.0, 1, 2), 0.0, 2.0), "of": 1}, {**tree((0, 0.0, 1, 2), 2.0, 0.0), "of": 2}]
    begins, worth = [0.0, 5.0, 4.5], [end, {"rate": [4, 0]}, {"end": "dual"}]
    negative = [{"rate": [-1, 0, 0]}, {"end": "dual"}]
    return [
        of_classes("of equals, the first", tied, [0.0] * 3, 0, end),
        of_classes("the other of two classes", last, [0.0] * 3, [1, 2], end),
        of_classes("goals of each class", third, begins, [0, 1], end, end, adds="largest"),
        of_classes("rates for goals of each class", third, begins, [0, 1], *worth, adds="largest"),
        of_classes("scores of each class", first, [-1.0, -1.0, 0.0], [0, 1], *worth, adds="largest"),
        of_classes("a tree of the second class", first[:1], [0.5, 0.0, 0.0], 1, end, adds="largest"),
        of_classes("a negative rate", first, [-5.0, 0.0, 0.0], 1, *negative, adds="largest"),
    ]


def votes(name: str, trees: list[Any], ballots: list[float], wanted: int, *steps: Any) -> Case:
    """A claim that no row gets a class by votes, each of a tree, for a change of one number by less than 1.5."""
    model = {"sum": "votes", "ballots": [x.hex() for x in ballots], "base": [(0.0).hex()] * len(ballots)}
    return _of_several(name, trees, model, {"of": ["class", wanted]}, *steps)


def together(
    name: str, trees: list[Any], wanted: Any, other: dict[str, Any], theirs: Any, *steps: Any, base: Any = None
) -> Case:
    """The same of a score of the first tree, and of what the others are of another model."""
    sums = 1 + other["sums"]
    model = {
        "sum": "score",
        "base": base or [(0.0).hex()] * sums,
        "others": [{"of": "b", "digits": 53, "over": 1, **other}],
    }
    return _of_several(name, trees, model, {"of": ["class", wanted], "others": [theirs]}, *steps)


def _of_several(name: str, trees: list[Any], told: dict[str, Any], wanted: dict[str, Any], *steps: Any) -> Case:
    """A claim about sums of trees, of which tree k adds to sum k if its leaves have one number."""
    said = case(name, [{**one, "of": k} for k, one in enumerate(trees)], [number(-1.0, 1.0)], 0.0, 1.5, *steps)
    model = {**json.loads(said.content), **told}
    return replace(said, shared={**said.shared, "wanted": wanted}, content=json.dumps(model))


def of_several_models() -> list[Case]:
    """False claims about votes and about models together. Above 0, what is claimed never to happen does."""
    end, none = {"end": "score"}, (0.0).hex()
    up, down = tree((0, 0.0, 1, 2), -1.0, 1.0), tree((0, 0.0, 1, 2), 1.0, -1.0)
    always, never = tree((0, 9.5, 1, 2), 1.0, 1.0), tree((0, 9.5, 1, 2), -1.0, -1.0)
    shares = tree((0, 0.0, 1, 2), [0.0, 1.5, 0.5], [0.0, 1.0, 1.0])  # of two trees; the first number is the own score's
    five = {"of": ["value", None], "at least": (5.0).hex()}
    classes, value = {"sum": "largest", "sums": 3}, {"sum": "value", "sums": 1}
    two = {"sum": "shares", "sums": 2, "over": 2}
    third = tree((0, 0.0, 1, 2), [0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.0, 1.0])
    floats = [none, (2.0**30).hex()]
    little = tree((0, 0.0, 1, 2), 0.0, 70.0)  # which floats of 24 digits take for 128
    return [
        votes("of equal votes, the first", [down, always], [1.0, 1.0], 0, end),
        votes("each of the smallest sets", [up, never, up], [1.0, 1.0, 1.0], 1, end, end, end),
        votes("how much a vote counts", [up, never, never], [3.0, 1.0, 1.0], 1, end, end, end),
        votes("votes against", [never, never, always], [1.0, 1.0, 1.0], 0, end, end, end),
        together("another model's own sum", [up, tree((0, 9.5, 1, 2), 5.0, 5.0)], 1, value, five, end),
        together("all that is wanted of another model", [{**third, "value": _beside(up, third)}], 1, classes,
                 {"of": ["class", [1, 2]]}, end),
        together("what sums are divided by", [{**shares, "value": _beside(up, shares)}], 1, {**classes, **two},
                 {"of": ["probability", 0], "at most": (0.5).hex()}, end),
        together("the digits of another model", [up, little], 1, {**value, "digits": 24},
                 {"of": ["value", None], "at least": (2.0**30 + 128).hex()}, end, base=floats),
    ]  # fmt: skip


def stack(name: str, trees: list[Any], told: dict[str, Any], wanted: dict[str, Any], *steps: Any) -> Case:
    """A claim about curves of the sums of trees, each of one tree: that no row gets a class for less than 1.5."""
    base = [(0.0).hex()] * len(trees)
    curves = [{"weight": weight.hex(), "straight": True} for weight in told["weights"]]
    model = {"sum": "stack", "base": base, "curves": curves, "end": [told["end"].hex(), 0]}
    return _of_several(name, trees, model, wanted, *steps)


def stacks() -> list[Case]:
    """False claims about stacks. Above 0, what is claimed never to happen does."""
    end, one = {"end": "score"}, {"of": ["class", 1]}
    up, down = tree((0, 0.0, 1, 2), 0.0, 1.0), tree((0, 0.0, 1, 2), 1.0, 0.0)
    below = tree((0, 0.0, 1, 2), 0.0, -1.0)
    return [
        stack("less than nothing of a sum", [below], {"weights": [-1.0], "end": -0.5}, one, end),
        stack("the end of a stack", [up], {"weights": [1.0], "end": -0.5}, one, end),
        stack("what is added for turned sums", [down, up], {"weights": [-2.0, 1.0], "end": 0.5}, one, end),
        stack("class 0 of a stack", [up], {"weights": [-1.0], "end": 0.5}, {"of": ["class", 0]}, end),
    ]


def _beside(own: dict[str, Any], other: dict[str, Any]) -> list[Any]:
    """The leaves of a tree of several sums, the first of which is that of another."""
    each = zip(own["left"], own["value"], other["value"], strict=True)
    return [[x, *more[1:]] if left < 0 else [x] * len(other["value"][-1]) for left, x, more in each]


def by_hand() -> list[Case]:
    """False claims."""
    step = tree((0, 0.0, 1, 2), 0.0, 1.0)
    # 1 for x in (1, 2] or beyond, where y stays; the leaf is reached from both blocks, of which the farther one is told
    wide = tree((0, 1.0, 1, 2), 0.0, (1, 0.0, 3, 6), (0, 2.0, 4, 5), 1.0, 0.0, 1.0)
    other = tree((2, 0.0, 1, 2), 0.0, 1.0)
    places = [number(0.0, 1.0), number(1.0, 10.0), number(-1.0, 1.0)]
    largest = [{"rate": [3, 1]}, {"say": [0, 2, 1 << 40, 2, 1 << 39]}, {"end": "dual"}]
    rounding = 2.0**-22  # of sums of 2^30 and a little
    little = tree((0, 0.0, 1, 2), 0.0, 0.6 * rounding)
    middle = tree((0, 1.0, 1, 2), 0.0, 1.0)
    nearest = 1.0 + 2.0**-24  # what float32 may read as more than 1
    aside = tree(
        (1, 0.0, 1, 2), 1.0, (0, 0.0, 3, 4), 0.0, 0.0
    )  # the leaf of 1 does not ask for x, whose messages are negative
    negative = [{"rate": [2, 0]}, {"say": [0, 0, -(1 << 41), 1, -(1 << 41)]}, {"end": "dual"}]
    hole = {**tree((0, 100.0, 1, 2), 0.0, 1.0), "missing": [0, None, None]}  # only a missing value reaches 1
    losing = {**number(0.0, 1.0), "missing": (0.1).hex()}
    between = {**number(1.7, 1.0), "stay": False}  # 1 is far, in its cell, and 2 is near, in the next one
    mirrored = {**number(-1.7, 1.0), "stay": False}
    before, behind = tree((0, 1.75, 1, 2), 0.0, 1.0), tree((0, -1.75, 1, 2), 1.0, 0.0)
    end: dict[str, Any] = {"end": "score"}
    bent, lowest = tree((0, 0.1 + 1e-10, 1, 2), 1.0, 0.0), float(np.nextafter(np.float32(0.1), np.float32(-1)))
    beside = number(0.1, 1.0, lowest, 1.0)  # between two float32s, of which the lower one is refused by a rule
    found = case("no float32", [bent], [beside], 1.0, 1.5, end, single=True)
    never = tree((0, math.inf, 1, 2), 1.0, 0.0)  # all that is not missing goes to the left
    return [
        case("the largest message of an entry", [wide, other], places, 2.0, 2.9, *largest),
        case("a score that just reaches the goal", [step], [number(-1.0, 1.0)], 1.0, 1.5, end),
        case("a sum that only floats reach", [little], [number(-1.0, 1.0)], 2.0**30 + rounding, 1.5, end, base=2.0**30),
        case("before the next float32", [middle], [number(0.0, 1.0)], 1.0, nearest + 2.0**-26, end, reads="float32"),
        case("the next float32", [middle], [number(0.0, 1.0)], 1.0, 1.0 + 1.5 * 2.0**-23, end, single=True),
        case("a point beside the grid", [middle], [number(0.0, 1.0)], 1.0, 1.25, end, grid=["1/10", "0"]),
        case("an end for a cheap row", [step], [number(-1.0, 1.0)], 1.0, 1.5, {"end": "cost"}),
        case("an infinite cut", [never, middle], [number(0.0, 1.0)], 2.0, 1.5, {"split": [0, 1]}, end, end),
        case("the nearer point is in the next cell", [before], [between], 1.0, 0.6, end, grid=["1", "0"]),
        case("the nearer point is in the cell before", [behind], [mirrored], 1.0, 0.6, end, grid=["1", "0"]),
        case("a number that becomes missing", [hole], [losing], 1.0, 0.2, end, missing=[None]),
        replace(found, own={**found.own, "never": [[[0, None, lowest.hex(), False]]]}),
        case("a negative message", [aside], [number(-1.0, 1.0), number(1.0, 1.0)], 1.0, 1.5, *negative),
        *several_classes(),
        *of_several_models(),
        *stacks(),
    ]


def unclear() -> list[Case]:
    """What no claim can be about: missing values that go nowhere, or whose prices make no sense."""
    step = tree((0, 0.0, 1, 2), 0.0, 1.0)
    silent, good, odd = (
        case("a missing value", [one], [number(-1.0, 1.0)], 1.0, 0.4, {"end": "score"})
        for one in (step, lost_to(step, 0), lost_to(step, 2))
    )
    found = [with_missing(said, [None], missing=(0.5).hex()) for said in (silent, odd)]
    for given, own in (
        ([None], {"missing": (-0.5).hex()}),
        ([None, None], {"missing": (0.5).hex()}),
        (None, {"missing": (0.5).hex()}),
        (None, {"now": None}),
        ([None], {"now": None}),
        ([None], {"now": None, "price": [(0.5).hex(), 0, 0], "missing": (0.5).hex()}),
        (["nan"], {"missing": (0.5).hex()}),
    ):
        found.append(with_missing(good, given, **own))
    return found


def lost_to(its: dict[str, Any], left: int) -> dict[str, Any]:
    """A tree that sends missing values to the left at all nodes (1), or to the right (0)."""
    return {**its, "missing": [left] * len(its["left"])}


def with_missing(said: Case, given: Any, **own: Any) -> Case:
    """The same about a number that may be missing: what its feature is then, and what the row says of it."""
    columns = [{**said.shared["columns"][0], "missing": given}]
    mine = [{**said.own["columns"][0], **own}]
    return replace(said, shared={**said.shared, "columns": columns}, own={**said.own, "columns": mine})
