"""A change that is refused stays away, and what is left is as cheap as a count of all points says."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import butfor as bf
from tests.explain.several.small_worlds import MODELS, world
from tests.shorter import first


@pytest.mark.shorter(2)
@pytest.mark.parametrize("worlds", first(1, [4, 8]))
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_the_next_answer_leaves_the_column_alone(kind, worlds) -> None:
    possible = [here for here in map(partial(world, kind), range(worlds)) if here.met.any()]
    assert len(possible) > worlds / 2
    for here in possible:
        answer = here.explainer.explain(here.row, target=1, cost="L1+0.1*L0", constraints=[bf.at_most_changes(4)])
        name = answer.changes[0].name
        again = here.explainer.without(answer, name)
        allowed = here.within([other for other in here.points if other != name]) & here.met
        assert again.only.cost == pytest.approx(here.cheapest(allowed, bf.L1() + 0.1 * bf.L0()))
        assert again.only.cost >= answer.cost - 1e-6
        assert name not in {change.name for change in again.changes}
        assert again.question.constraints == ("at_most_changes(4)", f"fixed({name!r})")


def test_refusals_add_up() -> None:
    here = world("forest", 2)
    answer, refused = here.explainer.explain(here.row, target=1), []
    while answer.only.found:
        refused.append(answer.changes[0].name)
        answer = here.explainer.without(answer, refused[-1])
    assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE
    left = here.within([name for name in here.points if name not in refused]) & here.met
    assert here.cheapest(left, bf.L1()) == np.inf


def test_several_columns_at_once() -> None:
    here = next(w for w in (world("linear", s) for s in range(30)) if len(answered(w).changes) > 1)
    answer = answered(here)
    names = [change.name for change in answer.changes]
    again = here.explainer.without(answer, *names)
    assert not {change.name for change in again.changes} & set(names)


def answered(here):
    return here.explainer.explain(here.row, target=1, cost="L2").only


def test_bad_input() -> None:
    here = world("tree", 0)
    answer = here.explainer.explain(here.row, target=1)
    unchanged = next(name for name in here.points if name not in {change.name for change in answer.changes})
    with pytest.raises(bf.errors.UnknownColumnError, match="salary"):
        here.explainer.without(answer, "salary")
    with pytest.raises(bf.errors.InputError, match=f"does not change '{unchanged}'"):
        here.explainer.without(answer, unchanged)
    with pytest.raises(bf.errors.InputError, match="no column"):
        here.explainer.without(answer)
    with pytest.raises(bf.errors.InputError, match="another model"):
        world("tree", 1).explainer.without(answer, answer.changes[0].name)
    stuck = here.explainer.explain(here.row, target=1, constraints=[bf.fixed(*here.points)])
    with pytest.raises(bf.errors.InputError, match="without a point"):
        here.explainer.without(stuck, "a")
    priced = here.explainer.explain(here.row, target=1, cost=bf.Table({"a": lambda x, y: abs(x - y)}) + bf.L1())
    with pytest.raises(bf.errors.InputError, match="as data"):
        here.explainer.without(priced, priced.changes[0].name)
