"""Attacks on the checker: mutations, a dishonest prover, extreme numbers, and checkers with one thing wrong."""

from __future__ import annotations

import copy
import json
import random
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from butfor.proof.checker import checker, checker_file
from butfor.proof.failing import CheaperError
from butfor.proof.prover import Prover
from butfor.solvers.solver import Budget
from tests.proof.cases import Case

ENDS = ("cost", "score", "dual", "all")
BOLDER = (1 + 2e-9, 1 + 1e-7, 1.001, 1.05, 1.5, 4.0)

# ------------------------------------------------------------------------------------------------------- mutations


def another(r: random.Random, x: int) -> Any:
    """Another number, or something else."""
    big = r.choice([(1 << 200) - 1, 1 << 200, 1 << r.randrange(260), -(1 << r.randrange(60))])
    near = r.choice([x + 1, x - 1, x * 2, x // 2, -x, 0, x ^ (1 << r.randrange(40)), r.randrange(-5, 50)])
    return r.choices([near, big, True, 0.5, None, "f", []], [30, 6, 1, 1, 1, 1, 1])[0]


def other_step(r: random.Random, step: Any) -> Any:
    """A step with other numbers."""
    if not isinstance(step, dict) or len(step) != 1:
        return step
    ((kind, value),) = step.items()
    if isinstance(value, list) and value:
        value = list(value)
        for _ in range(r.choice([1, 1, 3])):
            k = r.randrange(len(value))
            value[k] = another(r, value[k] if isinstance(value[k], int) else r.randrange(8))
    elif isinstance(value, int):
        value = another(r, value)
    return {kind: value}


def with_other_steps(r: random.Random, case: Case) -> Case:
    steps = list(case.steps)
    for _ in range(r.choice([1, 1, 2, 5])):
        i, what = r.randrange(len(steps)) if steps else 0, r.randrange(8)
        if not steps or what == 0:
            steps.insert(i, json.dumps(r.choice(extreme(r, 8, 3))))
        elif what == 1:
            del steps[i]
        elif what == 2:
            steps.insert(i, r.choice(steps))
        elif what == 3:
            k = r.randrange(len(steps))
            steps[i], steps[k] = steps[k], steps[i]
        elif what == 4:
            steps[i] = json.dumps({"end": r.choice(ENDS)})
        elif what == 5:
            k = r.randrange(len(steps[i])) if steps[i] else 0
            steps[i] = steps[i][:k] + r.choice('0123456789[]{},:"-.e') + steps[i][k + 1 :]
        else:
            try:
                steps[i] = json.dumps(other_step(r, json.loads(steps[i])))
            except ValueError:
                continue
    return replace(case, steps=steps)


def another_float(r: random.Random, x: float) -> float:
    beside = float(np.nextafter(x, r.choice([-9e9, 9e9])))
    return r.choice([x * 1.0001, x * 0.999, x + 1, x - 1, -x, x * 2, x / 2, 0.0, beside, r.gauss(0, 1)])


def with_another_question(r: random.Random, case: Case) -> Case:
    own, shared, what = copy.deepcopy(case.own), copy.deepcopy(case.shared), r.randrange(8)
    own["answer"] = None
    if what < 3:
        return case.bolder(r.choice(BOLDER))
    if what == 3:
        own["below"] = None
    elif what == 4:
        own["changes"] = r.choice([None, 0, 1, 2])
    else:
        j = r.randrange(len(own["columns"]))
        mine = own["columns"][j]
        if "prices" in mine:
            k = r.randrange(len(mine["prices"]))
            mine["prices"][k] = r.choice([None, abs(another_float(r, 1.0)).hex()]) if k != mine["now"] else (0.0).hex()
            if r.random() < 0.2 and mine["prices"][0] is not None:
                mine["now"] = 0
        else:
            key = r.choice(
                ["now", "least", "most", "price", "stay", *["missing"] * 2 * (mine["now"] is None or "missing" in mine)]
            )
            if key == "missing":
                lose_or_find(r, mine)
            elif key == "price":
                mine[key][1] = abs(another_float(r, float.fromhex(mine[key][1]))).hex()
            elif key == "stay":
                mine[key] = not mine[key]
            elif mine[key] is not None:
                mine[key] = another_float(r, float.fromhex(mine[key])).hex()
    if r.random() < 0.1:
        wanted = shared["wanted"]
        if "either" in wanted:
            one = r.choice(wanted["either"])
            one[0] = r.choice([one[0], 0, (0.125).hex(), (0.6).hex(), (2.0).hex()])
            wanted = one[1]
        wanted["of"][1] = r.choice([0, 1, [0, 1], *[2, [0, 2], [1, 2], [0, 1, 2]] * (len(classes_of(case)) > 2)])
    return replace(case, own=own, shared=shared)


def classes_of(case: Case) -> Any:
    """One thing for each class of several, and fewer of two."""
    data = json.loads(case.content)
    return data["base"] if "base" in data else range(int(data["learner"]["learner_model_param"]["num_class"]))


def lose_or_find(r: random.Random, mine: dict[str, Any]) -> None:
    """Another price of becoming missing, or another row that is."""
    if r.random() < 0.3:
        mine["now"] = None if mine["now"] is not None else mine["least"]
        mine["price"][1:] = [(0.0).hex()] * 2
        mine.pop("missing", None)
    elif mine["now"] is None:
        mine["price"][0] = abs(another_float(r, float.fromhex(mine["price"][0]))).hex()
    else:
        mine["missing"] = r.choice([None, (0.0).hex(), abs(r.gauss(0, 0.5)).hex()])


def with_another_model(r: random.Random, case: Case) -> Case:
    data = json.loads(case.content)
    if case.kind == "xgboost":
        tree = r.choice(data["learner"]["gradient_booster"]["model"]["trees"])
        k = r.randrange(len(tree["split_conditions"]))
        if tree["left_children"][k] >= 0 and r.random() < 0.3:
            tree["left_children"][k], tree["right_children"][k] = tree["right_children"][k], tree["left_children"][k]
        elif r.random() < 0.2:
            data["learner"]["learner_model_param"]["base_score"] = str([r.uniform(0.05, 0.95)])
        elif r.random() < 0.2:
            tree["default_left"][k] = 1 - tree["default_left"][k]
        else:
            tree["split_conditions"][k] = float(np.float32(another_float(r, tree["split_conditions"][k])))
    else:
        tree, curve = r.choice(data["trees"]), r.choice(data.get("curves", [{}]))
        k = r.randrange(len(tree["left"]))
        if curve and r.random() < 0.3:
            bend, knots = curve.get("bend", []), curve.get("knots", [])
            places = [
                (curve, "weight"),
                *((bend, k) for k in range(len(bend))),
                *((its, k) for its in knots for k in (0, 1)),
            ]
            its, at = r.choice(places)
            its[at] = another_float(r, float.fromhex(its[at])).hex()
        elif tree.get("of") and r.random() < 0.2:
            tree["of"] = r.randrange(len(data["base"]))
        elif tree["left"][k] >= 0 and "missing" in tree and r.random() < 0.3:
            tree["missing"][k] = 1 - tree["missing"][k]
        elif tree["left"][k] >= 0:
            tree["cut"][k] = another_float(r, float.fromhex(tree["cut"][k])).hex()
        elif isinstance(tree["value"][k], list):
            tree["value"][k] = [abs(another_float(r, float.fromhex(x))).hex() for x in tree["value"][k]]
        else:
            tree["value"][k] = another_float(r, float.fromhex(tree["value"][k])).hex()
    return replace(case, content=json.dumps(data))


def with_changes(r: random.Random, case: Case, change: Callable[[dict[str, Any], list[str], int], None]) -> Case:
    """A case in which one or two things are changed: the claim, or what `change` changes, which gets the place of a step."""
    own, steps = json.loads(json.dumps(case.own)), list(case.steps)
    own["answer"] = None
    for _ in range(r.choice([1, 1, 2])):
        if r.random() < 0.2 and own["below"] is not None:
            own["below"] = (float.fromhex(own["below"]) * r.choice([1 + 1e-7, 1.01, 1.3, 3.0, 0.7])).hex()
        else:
            change(own, steps, r.randrange(len(steps)))
    return replace(case, own=own, steps=steps)


CHANGES = (with_other_steps, with_another_question, with_another_model)


def mutated(r: random.Random, case: Case) -> Case:
    """A case in which one or several things are changed."""
    for change in r.choice([(0,), (1,), (1, 0), (2,), (2, 0), (2, 1), (1, 1, 0)]):
        case = CHANGES[change](r, case)
    return case


# ------------------------------------------------------------------------------------- a dishonest prover, and lies


def extreme(r: random.Random, blocks: int, columns: int) -> list[dict[str, Any]]:
    """Steps with extreme numbers everywhere, as a liar would try them."""

    def big() -> int:
        near = [(1 << 200) - 1, 1 << 200, (1 << 200) + 1, 1 << r.randrange(260), -(1 << r.randrange(60)), -1]
        return r.choice([0, 1, r.randrange(1 << 45), *near])

    value, same = big(), r.random() < 0.7
    said = [part for k in range(r.choice([1, 3, max(1, blocks)])) for part in (int(k > 0), value if same else big())]
    column, mask = r.randrange(max(1, columns)), r.choice([0, 1, 2, "0", "-1", "-8", hex(r.randrange(1 << 12))])
    return [
        {"say": [r.choice([0, 0, 1, 45, 199, 200]), *said]},
        {"rate": [abs(big()), r.choice([0, 20, 40, 999])]},
        {"toll": abs(big())},
        {"drop": 1},
        {"split": [column, mask]},
    ]


class Liar(Prover):
    """All of its proof is right, but in the box that holds a cheaper row it lies, in every way it knows."""

    r = random.Random(0)

    def _box(self, box: Any) -> Any:
        before = len(self.lines)
        try:
            return super()._box(box)
        except CheaperError:
            del self.lines[before:]
            for step in self.r.sample(
                extreme(self.r, len(self.message), self.arrays.columns), self.r.choice([0, 1, 1, 3])
            ):
                if "toll" not in step or self.arrays.counted:
                    self._say(**step)
                if "split" in step:
                    self._say(end=self.r.choice(ENDS[:3]))
            self._say(end=self.r.choice(ENDS[:3]))
            return []


def forged(r: random.Random, case: Case) -> Case:
    """A proof of a bound that is too large, by a liar."""
    false = case.bolder(r.choice([1 + 1e-7, 1.001, 1.05, 2.0]))
    by = checker()
    model = by.Model(false.kind, false.content.encode())
    each = by.asked(by.either(by.parsed(json.dumps(false.shared)), model), by.parsed(json.dumps(false.own)))
    Liar.r = r
    steps = [step for asked in each if not asked.done for step in Liar(asked, by.runs, Budget(20.0)).prove()]
    return replace(false, steps=steps)


def lied(r: random.Random, case: Case) -> Case:
    """A bound that is too large, with nothing but extreme numbers for a proof."""
    false = case.bolder(r.choice([1.001, 1.5]))
    steps = r.sample(extreme(r, r.randrange(1, 40), 3)[:4], r.choice([1, 2, 3]))
    steps = [step for step in steps if "toll" not in step or case.own["changes"] is not None]
    if r.random() < 0.5:  # perhaps nobody looks at the other part
        steps = [{"split": [r.randrange(3), r.choice([1, 2, 3, 5, "1", "2", "4"])]}]
    return replace(false, steps=[*map(json.dumps, steps), json.dumps({"end": r.choice(ENDS[:3])})])


def attacks(r: random.Random, cases: tuple[Case, ...], count: int) -> Iterator[Case]:
    """So many attacks of all kinds."""
    bounded = [case for case in cases if case.own["below"] is not None]
    for _ in range(count):
        way = r.randrange(8)
        if way == 0:
            yield forged(r, r.choice(bounded))
        elif way < 3:
            yield lied(r, r.choice(bounded))
        else:
            yield mutated(r, r.choice(cases))


# ------------------------------------------------------------------------------------------------ broken checkers

SABOTAGE: dict[str, tuple[str, str]] = {
    "drops too much": ("if p - least < spare)", "if p - least < spare * 9 // 10)"),
    "leaves out affordable cells": ("q.price[j][c] >= spare)", "q.price[j][c] >= spare * 9 // 10)"),
    "leaves out affordable leaves": ("in its]) < spare and", "in its]) < spare // 2 and"),
    "looks at one part of a split": ("for some in ~first, first:", "for some in (first,):"),
    "takes < for <= in XGBoost": ("next_single(single(F(x)), -1), left", "single(F(x)), left"),
    "takes negative messages": ('whole(value, 0, BIG >> shift, "a message")', 'whole(value, -BIG, BIG >> shift, "a message")'),
    "takes the largest message": ("entry = {e: min([", "entry = {e: max(["),
    "forgets the base": ("off, doubt = model.base[less] - model.base[plus], F(0)", "off, doubt = F(0), F(0)"),
    "miscounts changes": ("for e in its]) <= room]", "for e in its]) < room]"),
    "lets proofs end early": ('need(not left, "the', 'need(True, "the'),
    "believes messages": ("need(total >= self.q.bound, ", "need(True, "),
    "believes scores": ("need(self.q.misses(most, box.way), ", "need(True, "),
    "takes the worst leaf": ("self.ends(box)[1]", "self.ends(box)[0]"),
    "rounds prices up": ("max(0, int(p * worth))", "max(0, 2 * int(p * worth))"),
    "rounds scores down": ("leaf[goal.less], self.grain)", "leaf[goal.less], self.grain) - (1 << 30)"),
    "forgets the doubt": ("min(edges) + off - doubt,", "min(edges) + off,"),
    "forgets the middle": ("else (cut + next_single(cut, 1)) / 2", "else next_single(cut, 1)"),
    "skips a float32": ("next_single(single_below(cut), 1), False", "next_single(single_below(cut), 2), False"),
    "takes too long steps of sums": ("(sum(first) - goal) % step if", "(sum(first) - goal) % (4 * step) if"),
    "stops at cells around the row": ("aside = high <= self.start if c < near else low >= self.start", "aside = True"),
    "begins grids late": ("min(max(k, first), last) * self.step for k", "min(max(k, first) + 1, last) * self.step for k"),
    "takes any cost for too much": ('raise Wrong(f"an end of', 'return Wrong(f"an end of'),
    "sends missing values to the other side": ("        return node[-1]\n", "        return not node[-1]\n"),
    "forgets that numbers become missing": ("and self.stay else lose]", "and self.stay else None]"),
    "takes infinite cuts for 0": ('at = float(cut) if cut in', "at = F(0) if cut in"),
    "gives a tie to the last class": ("and less < plus\n", "and plus < less\n"),
    "looks at one of several classes": ("for way in reversed(ways)]", "for way in (0,)]"),
    "adds all trees to one class": ("value if k == 1 + which else", "value if k == 1 else"),
    "takes the goals of another class": ("map(lt, most, self.goals[way])", "map(lt, most, self.goals[0])"),
    "weighs the goals of another class": ("self.rates, q.goals[way]))", "self.rates, q.goals[0]))"),
    "takes the scores of another class": ("tree.leaves[i][0][way]))", "tree.leaves[i][0][0]))"),
    "takes negative rates": ('whole(x, 0, BIG, "a rate")', 'whole(x, -BIG, BIG, "a rate")'),
    "gives a tie of votes to the second class": ("(lead == 0 and way < 0)", "(lead == 0 and way > 0)"),
    "asks all voters": ("for size in range(len(self.ballots) + 1)", "for size in [len(self.ballots)]"),
    "counts all votes alike": ("2 * sum(self.ballots[k] for k in voters) - total", "2 * len(voters) - len(self.ballots)"),
    "turns votes around": ("pairs = [[(1 + k, 0)[::sign] for k in voters]", "pairs = [[(1 + k, 0) for k in voters]"),
    "takes the sums of another model": ("its.among(part.at, other)", "its.among(0, other)"),
    "combines ways one by one": ("in product(first.ways, its.ways)]", "in zip(first.ways, its.ways)]"),
    "divides by what the own model does": ("its.step, its.over, its.named = about", "its.step, _, its.named = about"),
    "rounds as the own model does": ("return n * self.fine[k] / (1 - n * self.fine[k])", "return n * self.fine[1]"),
    "turns no curve of a stack": ("less = [sign * curve.weight < 0 for", "less = [False for"),
    "adds too much for turned curves": ("rest = sum(abs(curve.weight) for", "rest = sum(3 * abs(curve.weight) for"),
    "adds the end of a stack twice": ("if turns) - sign * model.end[0]", "if turns) - 3 * sign * model.end[0]"),
    "does not read the footer": ("need(last == footer, ", "need(True, "),
}  # fmt: skip
"""Single faults: what stands in the checker, and what a broken one has in its place."""


def broken(name: str) -> Any:
    """A checker with one thing wrong."""
    return broken_by(*SABOTAGE[name])


def bounds_accepted(by: Any, cases: Iterable[Case]) -> list[bool]:
    """Which bounds a checker accepts. It is asked about no answers."""

    def accepts(case: Case) -> bool:
        try:
            replace(case, own={**case.own, "answer": None}).check(by)
        except Exception:
            return False
        return True

    return list(map(accepts, cases))


def broken_by(old: str, new: str) -> Any:
    """A checker that has something else in place of one of its lines."""
    source = checker_file().read_text(encoding="utf-8")
    assert source.count(old) == 1, (old, source.count(old))
    module = types.ModuleType("broken")
    exec(compile(source.replace(old, new), "broken", "exec"), module.__dict__)
    return module
